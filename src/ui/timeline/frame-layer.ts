/**
 * The picture of the stack: asks the worker for frames and keeps the last one.
 *
 * While a frame is awaited, the last one is drawn stretched to where it belongs in the viewport that
 * is wanted, so that a pan or zoom moves at once and sharpens when its own frame comes.
 */
import type { CounterName } from '../../core/replay/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { TimelineFrame, Viewport } from '../../core/timeline/types.ts';
import type { FrameRequest, SessionApi } from '../../engine/protocol.ts';
import { drawLine, type LineStyle } from './line-raster.ts';

export interface FrameLayerOptions {
  readonly session: Pick<SessionApi, 'frame' | 'recycle'>;
  readonly lineStyle: (counter: CounterName) => LineStyle;
  /** A frame came and can be painted. */
  readonly onFrame: () => void;
  readonly onError: (error: unknown) => void;
}

export class FrameLayer {
  readonly #options: FrameLayerOptions;
  readonly #bitmap = document.createElement('canvas');
  readonly #stop = new AbortController();
  #wanted: FrameRequest | undefined;
  #shown: { readonly request: FrameRequest; readonly states: Int32Array } | undefined;

  constructor(options: FrameLayerOptions) {
    this.#options = options;
  }

  /** Requests a frame, unless it is the one that was asked for last. The newest wins. */
  want(request: FrameRequest): void {
    if (this.#wanted === request) return;
    this.#wanted = request;
    this.#options.session.frame(request, { signal: this.#stop.signal }).then(
      (frame) => this.#show(request, frame),
      (error: unknown) => {
        if (!isAbort(error)) this.#options.onError(error);
      },
    );
  }

  /** The event whose state a column shows; undefined while the picture is not that viewport's. */
  stateAt(viewport: Viewport, column: number): EventIndex | undefined {
    if (this.#shown?.request.viewport !== viewport) return undefined;
    const state = this.#shown.states[column];
    return state === undefined || state < 0 ? undefined : state;
  }

  /** True when the picture is the one that was asked for last. */
  get isCurrent(): boolean {
    return this.#shown !== undefined && this.#shown.request === this.#wanted;
  }

  /** Paints the picture where it belongs in `viewport`, all of the canvas. */
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
  }

  #show(request: FrameRequest, frame: TimelineFrame): void {
    if (this.#stop.signal.aborted) return;
    const { viewport, pixels } = frame;
    for (const counter of request.lines) {
      const values = frame.lines[counter];
      if (values !== undefined) {
        drawLine(pixels, viewport, values, this.#options.lineStyle(counter));
      }
    }
    this.#put(viewport, pixels);
    void this.#options.session.recycle({ pixels });
    this.#shown = { request, states: frame.states };
    this.#options.onFrame();
  }

  #put({ width, height }: Viewport, pixels: Uint32Array): void {
    const { buffer, byteOffset, byteLength } = pixels;
    if (!(buffer instanceof ArrayBuffer)) return;
    if (this.#bitmap.width !== width) this.#bitmap.width = width;
    if (this.#bitmap.height !== height) this.#bitmap.height = height;
    const bytes = new Uint8ClampedArray(buffer, byteOffset, byteLength);
    this.#bitmap.getContext('2d')?.putImageData(new ImageData(bytes, width, height), 0, 0);
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
