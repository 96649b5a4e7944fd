/**
 * Requests frames from the worker and keeps the last one. Until a new frame arrives, the last one is drawn stretched to
 * its place in the new viewport, so a pan or zoom moves at once and sharpens later.
 */

import { isAbortError } from '../../base/errors.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { putFrame, releasePixels } from './canvas.ts';
import { drawLine } from './line-raster.ts';
import type { PlotContext, PlotFrame, PlotLine, PlotRequest } from './plot-source.ts';

export interface FrameLayerOptions extends Pick<PlotContext, 'session' | 'source' | 'onError'> {
  readonly linesOf: (request: PlotRequest, frame: PlotFrame) => readonly PlotLine[];
  readonly onFrame: () => void;
}

export class FrameLayer {
  readonly #options: FrameLayerOptions;
  readonly #bitmap = document.createElement('canvas');
  readonly #stop = new AbortController();
  #wanted: PlotRequest | undefined;
  #shown: { readonly request: PlotRequest; readonly frame: PlotFrame } | undefined;

  constructor(options: FrameLayerOptions) {
    this.#options = options;
  }

  /** Requests a frame, unless it was the last one requested. The newest wins. */
  want(request: PlotRequest): void {
    if (this.#wanted === request) return;
    this.#wanted = request;
    this.#options.source.frame(request, this.#stop.signal).then(
      (frame) => this.#show(request, frame),
      (error: unknown) => {
        if (!isAbortError(error)) this.#options.onError(error);
      },
    );
  }

  /** The event whose state a column shows; undefined while the picture is of another viewport. */
  stateAt(viewport: Viewport, column: number): EventIndex | undefined {
    if (this.#shown?.request.viewport !== viewport) return undefined;
    const state = this.#shown.frame.states[column];
    return state === undefined || state < 0 ? undefined : state;
  }

  get isCurrent(): boolean {
    return this.#shown !== undefined && this.#shown.request === this.#wanted;
  }

  /** Paints the picture where it belongs in `viewport`, on the whole canvas. */
  paint(context: CanvasRenderingContext2D, viewport: Viewport, background: string): void {
    const { width, height } = viewport;
    const from = this.#shown?.request.viewport;
    const isSame = from === viewport;
    if (!isSame) {
      context.fillStyle = background;
      context.fillRect(0, 0, width, height);
    }
    if (from === undefined || from.axis !== viewport.axis) return;
    context.imageSmoothingEnabled = false;
    const scaleX = width / (viewport.x1 - viewport.x0);
    const scaleY = height / (viewport.y1 - viewport.y0);
    context.drawImage(
      this.#bitmap,
      (from.x0 - viewport.x0) * scaleX,
      (viewport.y1 - from.y1) * scaleY,
      (from.x1 - from.x0) * scaleX,
      (from.y1 - from.y0) * scaleY,
    );
  }

  destroy(): void {
    this.#stop.abort();
    // A pending answer may still paint the plot once.
    this.#shown = undefined;
    releasePixels(this.#bitmap);
  }

  #show(request: PlotRequest, frame: PlotFrame): void {
    if (this.#stop.signal.aborted) return;
    const { linesOf, onFrame, session } = this.#options;
    const { viewport, pixels } = frame;
    for (const { values, style } of linesOf(request, frame)) {
      drawLine(pixels, viewport, values, style);
    }
    putFrame(this.#bitmap, frame);
    void session.recycle({ pixels });
    this.#shown = { request, frame };
    onFrame();
  }
}
