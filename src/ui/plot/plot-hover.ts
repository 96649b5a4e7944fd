/** What follows the pointer: crosshair, tooltip, counters, markers. Painted on the overlay canvas. */
import { isAbortError } from '../../base/errors.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest-only.ts';
import type { Crosshair } from '../../device/model/events.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { PixelInfo } from '../../worker/protocol.ts';
import { COUNTERS } from '../shared/device-labels.ts';
import type { PlotStyle } from '../theme/palette.ts';
import {
  EventPositions,
  type Marker,
  type Markers,
  markersInView,
  markersOf,
} from './event-marks.ts';
import type { FrameLayer } from './frame-layer.ts';
import type { Point, PointerPlace } from './gestures.ts';
import { OverlayPainter } from './paint-overlay.ts';
import type { PlotContext, PlotHit, PlotPixel, PlotSource } from './plot-source.ts';
import { hideTooltip, showTooltip } from './tooltip.ts';

export interface PlotHoverOptions extends Pick<PlotContext, 'device' | 'session' | 'overlays'> {
  readonly source: Pick<PlotSource, 'hit' | 'heightText' | 'limitBytes'>;
  readonly context: CanvasRenderingContext2D | null;
  /** Shows the counters at an event. `place` says which event it is: 'pointer', 'cursor' or 'end'. */
  readonly readOut: (crosshair: Crosshair | undefined, place: string) => void;
  readonly repaint: () => void;
}

interface Shown {
  readonly viewport: Viewport;
  readonly size: { readonly width: number; readonly height: number };
  readonly frames: Pick<FrameLayer, 'stateAt'>;
}

export interface PinnedEvent {
  readonly event: EventIndex;
  readonly x: number;
}

/** A marker is hit within this many CSS pixels of its line. */
const MARKER_REACH = 4;

export class PlotHover {
  readonly #options: PlotHoverOptions;
  readonly #requests = new LatestOnly();
  #asked: PlotPixel | undefined;
  #shown: Shown | undefined;
  #pointer: PointerPlace | undefined;
  #answer: PixelInfo<PlotHit> | undefined;
  #range: { readonly from: number; readonly to: number } | undefined;
  #cursor: PinnedEvent | undefined;
  #secondCursor: EventIndex | undefined;
  #rest: Crosshair | undefined;
  /** Made when needed; reset when the axis changes or more places become known. */
  #markers: Markers | undefined;
  readonly #positions: EventPositions;
  readonly #stopOverlays: () => void;

  constructor(options: PlotHoverOptions) {
    this.#options = options;
    const { session, device, overlays, repaint } = options;
    this.#positions = new EventPositions(session, device, () => {
      this.#markers = undefined;
      repaint();
    });
    this.#stopOverlays = overlays.subscribe(repaint);
  }

  setPlot(shown: Shown): void {
    if (shown.viewport.axis !== this.#shown?.viewport.axis) this.#markers = undefined;
    this.#shown = shown;
  }

  /** What the legend shows while the pointer is elsewhere, and the pinned event. */
  setRest(crosshair: Crosshair, cursor: PinnedEvent | undefined): void {
    this.#rest = crosshair;
    this.#cursor = cursor;
    if (this.#pointer === undefined) this.#readOutRest();
    this.#options.repaint();
  }

  setSecondCursor(event: EventIndex | undefined): void {
    if (event === this.#secondCursor) return;
    this.#secondCursor = event;
    this.#options.repaint();
  }

  setPointer(pointer: PointerPlace | undefined): void {
    this.#pointer = pointer;
    if (pointer === undefined) {
      this.#requests.cancel();
      this.#asked = undefined;
      this.#answer = undefined;
      hideTooltip();
      this.#readOutRest();
    }
    this.#options.repaint();
  }

  /** The range while it is being drawn; undefined when it ends. */
  setRange(range: { readonly from: number; readonly to: number } | undefined): void {
    this.#range = range;
    this.#options.repaint();
  }

  /** Asks what lies under the pointer, unless already asked. The picture may change under a resting pointer. */
  ask(): void {
    const pixel = this.#pointer && this.pixelAt(this.#pointer);
    if (pixel === undefined || isSamePixel(pixel, this.#asked)) return;
    this.#asked = pixel;
    this.#requests
      .run(() => this.#options.source.hit(pixel))
      .then(
        (answer) => this.#receive(answer),
        (error: unknown) => {
          // The worker died or another snapshot came; the next frame fails too and tells the user.
          if (!isAbortError(error)) this.#asked = undefined;
        },
      );
  }

  #receive(answer: PixelInfo<PlotHit>): void {
    this.#answer = answer;
    this.#options.readOut(answer.crosshair, 'pointer');
    this.#options.repaint();
  }

  /** The pixel at a point; undefined while its picture is awaited. */
  pixelAt(point: Point): PlotPixel | undefined {
    if (this.#shown === undefined) return undefined;
    const { viewport, size, frames } = this.#shown;
    const column = Math.floor((point.x / size.width) * viewport.width);
    const state = frames.stateAt(viewport, column);
    if (state === undefined) return undefined;
    const row = Math.floor((point.y / size.height) * viewport.height);
    const bytesARow = (viewport.y1 - viewport.y0) / viewport.height;
    const bytesFrom = viewport.y1 - (row + 1) * bytesARow;
    return { state, bytesFrom, bytesTo: bytesFrom + bytesARow };
  }

  paint(style: PlotStyle): void {
    this.ask();
    const { context } = this.#options;
    if (this.#shown === undefined || context === null) return;
    this.#paintOn(context, this.#shown, style);
    this.#placeTooltip(this.#shown);
  }

  destroy(): void {
    this.#stopOverlays();
    this.#requests.cancel();
    hideTooltip();
  }

  #readOutRest(): void {
    this.#options.readOut(this.#rest, this.#cursor === undefined ? 'end' : 'cursor');
  }

  #paintOn(context: CanvasRenderingContext2D, { viewport, size }: Shown, style: PlotStyle): void {
    const { width, height } = size;
    const { axis, x0, x1, y0, y1 } = viewport;
    const { source, overlays } = this.#options;
    const painter = new OverlayPainter(context, style, size);
    const toX = (x: number) => ((x - x0) / (x1 - x0)) * width;
    const toY = (bytes: number) => ((y1 - bytes) / (y1 - y0)) * height;
    const columnAt = (x: number | undefined) =>
      x === undefined ? undefined : { left: toX(x), right: toX(axis === 'event' ? x + 1 : x) };
    const placeOf = (event: EventIndex) => this.#positions.xOf(event, axis);
    const limitBytes = source.limitBytes?.();
    if (limitBytes !== undefined) {
      painter.limit(toY(limitBytes), `limit, about ${formatBytes(limitBytes)}`);
    }
    const markers = this.#markersFrom(x0, x1, width, axis);
    const highlights = overlays.getState().highlights.flatMap((highlight) => {
      const [from, to] = [placeOf(highlight.fromEvent), placeOf(highlight.toEvent)];
      // Drawn once its place is known.
      if (from === undefined || to === undefined) return [];
      return [{ ...highlight, left: toX(from), right: toX(to) }];
    });
    highlights.sort((a, b) => a.left - b.left);
    painter.highlights(highlights, markers.length > 0);
    for (const { kind, x } of markers) painter.marker(kind, toX(x));
    const second = this.#secondCursor;
    painter.cursors(
      columnAt(this.#cursor?.x),
      columnAt(second === undefined ? undefined : placeOf(second)),
    );
    if (this.#range !== undefined) painter.range(this.#range.from, this.#range.to);
    if (this.#pointer === undefined) return;
    const { x, y } = this.#pointer;
    painter.crosshair(x, y, source.heightText(y1 - (y / height) * (y1 - y0)));
    const hit = this.#answer?.hit;
    if (hit !== undefined) painter.block(x, toY(hit.topBytes), toY(hit.bottomBytes));
  }

  #markersFrom(x0: number, x1: number, width: number, axis: Viewport['axis']): readonly Marker[] {
    this.#markers ??= markersOf(this.#options.device, axis, this.#positions);
    return markersInView(this.#markers, x0, x1, width);
  }

  /** A marker's text takes precedence over the block behind it. */
  #placeTooltip({ viewport, size }: Shown): void {
    const pointer = this.#pointer;
    if (pointer === undefined) return;
    const { axis, x0, x1 } = viewport;
    const perPixel = (x1 - x0) / size.width;
    const [from, to] = [pointer.x - MARKER_REACH, pointer.x + MARKER_REACH];
    const near = this.#markersFrom(x0 + from * perPixel, x0 + to * perPixel, to - from, axis);
    const content = near[0]?.content ?? this.#answer?.hit?.content;
    if (content === undefined) hideTooltip();
    else showTooltip(content, pointer.clientX, pointer.clientY);
  }
}

function isSamePixel(a: PlotPixel, b: PlotPixel | undefined): boolean {
  return a.state === b?.state && a.bytesFrom === b.bytesFrom && a.bytesTo === b.bytesTo;
}

/**
 * Writes the counters at the crosshair into the page without React, because they change with every move. Fills the
 * elements below `root` whose data-readout is "event", "time" or a counter's name.
 */
export function writeReadout(
  root: ParentNode | null,
  crosshair: Crosshair | undefined,
  place: string,
): void {
  const write = (key: string, text: (at: Crosshair) => string) => {
    const element = root?.querySelector(`[data-readout="${key}"]`);
    const next = crosshair === undefined ? '' : text(crosshair);
    if (element && element.textContent !== next) element.textContent = next;
  };
  write('event', (at) => `${place}: ${eventText(at)}`);
  write('time', timeText);
  for (const { name } of COUNTERS) write(name, ({ counters }) => formatBytes(counters[name]));
}

/** 'event 6,302 · oom' */
const eventText = ({ event, action }: Crosshair): string =>
  event < 0 ? 'before the trace' : `event ${formatCount(event)} · ${action}`;

/** ' · 1.23 s', shown after the event if there is space. */
const timeText = ({ event, timeUs }: Crosshair): string =>
  event < 0 || Number.isNaN(timeUs) ? '' : ` · ${formatDurationUs(timeUs)}`;
