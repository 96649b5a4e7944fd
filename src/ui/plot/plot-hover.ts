/** What follows the pointer: crosshair, tooltip, counters, markers. Painted on the overlay canvas. */
import { isAbortError } from '../../base/errors.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest-only.ts';
import type { Crosshair } from '../../device/model/events.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { ViewState } from '../../state/view-store.ts';
import type { PixelInfo, PixelRequest } from '../../worker/protocol.ts';
import { COUNTERS } from '../shared/device-labels.ts';
import type { PlotStyle } from '../theme/palette.ts';
import {
  type Crosshairs,
  type Marker,
  type Markers,
  markersInView,
  markersOf,
} from './event-markers.ts';
import type { FrameLayer } from './frame-layer.ts';
import type { Point, PointerPlace } from './gestures.ts';
import { overlayPainter } from './paint-overlay.ts';
import type { PlotOnScreen } from './plot-navigation.ts';
import type { PlotContext, PlotHit, PlotSource } from './plot-source.ts';
import { hideTooltip, showTooltip } from './tooltip.ts';

export interface PlotHoverOptions extends Pick<PlotContext, 'device' | 'view' | 'overlays'> {
  readonly source: Pick<PlotSource, 'hit' | 'heightText' | 'limitBytes'>;
  readonly context: CanvasRenderingContext2D | null;
  readonly crosshairs: Crosshairs;
  /** Undefined before the first picture. */
  readonly plot: () => PlotOnScreen | undefined;
  readonly stateAt: FrameLayer['stateAt'];
  /** Shows the counters at an event. `place` says which event it is: 'pointer', 'cursor' or 'end'. */
  readonly readOut: (crosshair: Crosshair, place: string) => void;
  readonly repaint: () => void;
}

/** A marker is hit within this many CSS pixels of its line. */
const MARKER_REACH = 4;

export class PlotHover {
  readonly #options: PlotHoverOptions;
  readonly #requests = new LatestOnly();
  #asked: PixelRequest | undefined;
  #pointer: PointerPlace | undefined;
  #answer: PixelInfo<PlotHit> | undefined;
  #range: { readonly from: number; readonly to: number } | undefined;
  /** Made when needed, for one axis. */
  #markers: Markers | undefined;

  constructor(options: PlotHoverOptions) {
    this.#options = options;
  }

  setPointer(pointer: PointerPlace | undefined): void {
    this.#pointer = pointer;
    if (pointer === undefined) {
      this.#requests.cancel();
      this.#asked = undefined;
      this.#answer = undefined;
      hideTooltip();
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
  pixelAt(point: Point): PixelRequest | undefined {
    const plot = this.#options.plot();
    if (plot === undefined) return undefined;
    const { viewport, width, height } = plot;
    const column = Math.floor((point.x / width) * viewport.width);
    const state = this.#options.stateAt(viewport, column);
    if (state === undefined) return undefined;
    const row = Math.floor((point.y / height) * viewport.height);
    const bytesARow = (viewport.y1 - viewport.y0) / viewport.height;
    const bytesFrom = viewport.y1 - (row + 1) * bytesARow;
    return { state, bytesFrom, bytesTo: bytesFrom + bytesARow };
  }

  paint(style: PlotStyle): void {
    this.ask();
    if (this.#pointer === undefined) this.#readOutRest();
    const { context, plot } = this.#options;
    const shown = plot();
    if (shown === undefined || context === null) return;
    this.#paintOn(context, shown, style);
    this.#placeTooltip(shown);
  }

  destroy(): void {
    this.#requests.cancel();
    hideTooltip();
  }

  /** While the pointer is elsewhere: the figures at the cursor, else at the end. */
  #readOutRest(): void {
    const { crosshairs, device, readOut } = this.#options;
    const { cursor } = this.#view;
    const crosshair = crosshairs.at(cursor ?? device.events - 1);
    if (crosshair !== undefined) readOut(crosshair, cursor === undefined ? 'end' : 'cursor');
  }

  get #view(): ViewState {
    return this.#options.view.getState().view;
  }

  #paintOn(context: CanvasRenderingContext2D, plot: PlotOnScreen, style: PlotStyle): void {
    const { viewport, width, height, cursorX } = plot;
    const { axis, x0, x1, y0, y1 } = viewport;
    const { source, overlays, crosshairs } = this.#options;
    const painter = overlayPainter(context, style, plot);
    const toX = (x: number) => ((x - x0) / (x1 - x0)) * width;
    const toY = (bytes: number) => ((y1 - bytes) / (y1 - y0)) * height;
    const columnAt = (x: number | undefined) =>
      x === undefined ? undefined : { left: toX(x), right: toX(axis === 'event' ? x + 1 : x) };
    const placeOf = (event: EventIndex) => crosshairs.xOf(event, axis);
    const limitBytes = source.limitBytes?.();
    if (limitBytes !== undefined) {
      painter.limit(toY(limitBytes), `limit, at least ${formatBytes(limitBytes)}`);
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
    const ooms = markers.filter(({ kind }) => kind === 'oom');
    const others = markers.filter(({ kind }) => kind !== 'oom');
    for (const { kind, x } of [...others, ...ooms]) painter.marker(kind, toX(x));
    const { secondCursor } = this.#view;
    const secondX = secondCursor === undefined ? undefined : placeOf(secondCursor);
    painter.cursors(columnAt(cursorX), columnAt(secondX));
    for (const { kind, x } of [...ooms, ...others]) painter.markerLabel(kind, toX(x));
    if (this.#range !== undefined) painter.range(this.#range.from, this.#range.to);
    if (this.#pointer === undefined) return;
    const { x, y } = this.#pointer;
    painter.crosshair(x, y, source.heightText(y1 - (y / height) * (y1 - y0)));
    const hit = this.#answer?.hit;
    if (hit !== undefined) painter.block(x, toY(hit.topBytes), toY(hit.bottomBytes));
  }

  #markersFrom(x0: number, x1: number, width: number, axis: Viewport['axis']): readonly Marker[] {
    if (this.#markers?.axis !== axis) this.#markers = markersOf(this.#options.device, axis);
    return markersInView(this.#markers, x0, x1, width);
  }

  /** A marker's text takes precedence over the block behind it. */
  #placeTooltip({ viewport, width }: PlotOnScreen): void {
    const pointer = this.#pointer;
    if (pointer === undefined) return;
    const { axis, x0, x1 } = viewport;
    const perPixel = (x1 - x0) / width;
    const [from, to] = [pointer.x - MARKER_REACH, pointer.x + MARKER_REACH];
    const near = this.#markersFrom(x0 + from * perPixel, x0 + to * perPixel, to - from, axis);
    const content = near[0]?.content ?? this.#answer?.hit?.content;
    if (content === undefined) hideTooltip();
    else showTooltip(content, pointer.clientX, pointer.clientY, this.#options.context?.canvas);
  }
}

function isSamePixel(a: PixelRequest, b: PixelRequest | undefined): boolean {
  return a.state === b?.state && a.bytesFrom === b.bytesFrom && a.bytesTo === b.bytesTo;
}

/**
 * Writes the counters at the crosshair into the page without React, because they change with every move. Fills the
 * elements below `root` whose data-readout is "event", "time" or a counter's name.
 */
export function writeReadout(root: ParentNode | null, crosshair: Crosshair, place: string): void {
  const write = (key: string, text: string) => {
    const element = root?.querySelector(`[data-readout="${key}"]`);
    if (element && element.textContent !== text) element.textContent = text;
  };
  write('event', `${place}: ${eventText(crosshair)}`);
  write('time', timeText(crosshair));
  for (const { name } of COUNTERS) write(name, formatBytes(crosshair.counters[name]));
}

/** 'event 6,302 · oom' */
const eventText = ({ event, action }: Crosshair): string =>
  event < 0 ? 'before the trace' : `event ${formatCount(event)} · ${action}`;

/** ' · 1.23 s', shown after the event if there is space. */
const timeText = ({ event, timeUs }: Crosshair): string =>
  event < 0 || Number.isNaN(timeUs) ? '' : ` · ${formatDurationUs(timeUs)}`;
