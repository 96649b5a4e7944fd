/** What follows the pointer: crosshair, tooltip, counters, markers. Painted on the overlay canvas. */

import { isAbortError } from '../../base/errors.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../base/format.ts';
import { LatestOnly } from '../../base/latest-only.ts';
import type { Crosshair, DeviceInfo } from '../../device/model/types.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { PixelInfo } from '../../worker/handlers/raster.ts';
import type { SessionApi } from '../../worker/protocol.ts';
import { COUNTERS } from '../shared/device-labels.ts';
import type { ThemeName } from '../theme/palette.ts';
import { plotStyle } from '../theme/plot-style.ts';
import type { Band, BandsStore } from './bands.ts';
import { EventPositions } from './event-positions.ts';
import type { DrawnColumns } from './frame-layer.ts';
import type { Point, PointerPlace } from './gestures.ts';
import { type Marker, type Markers, markersInView, markersOf, NO_MARKERS } from './markers.ts';
import {
  type DrawnBand,
  type DrawnCursor,
  type OverlayScene,
  paintOverlay,
} from './paint-overlay.ts';
import type { PlotHit, PlotPixel } from './plot-source.ts';
import type { Tooltip } from './tooltip.ts';

export interface PlotHoverOptions {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'crosshair'>;
  readonly source: {
    hit(pixel: PlotPixel): Promise<PixelInfo<PlotHit>>;
    heightText(bytes: number): string;
    limitBytes?(): number | undefined;
  };
  readonly elements: {
    readonly overlay: { getContext(kind: '2d'): CanvasRenderingContext2D | null };
  };
  readonly tooltip: Pick<Tooltip, 'show' | 'hide'>;
  readonly readout: Pick<Readout, 'show'>;
  readonly theme: ThemeName;
  readonly bands: BandsStore;
  /** Something under the pointer has changed. */
  readonly repaint: () => void;
}

interface Plot {
  readonly viewport: Viewport;
  readonly size: { readonly width: number; readonly height: number };
  readonly frames: DrawnColumns;
}

/** CSS pixels within which a marker's line is meant. */
const MARKER_REACH = 4;

export class PlotHover {
  readonly #options: PlotHoverOptions;
  readonly #requests = new LatestOnly();
  /** The pixel that was asked about last. */
  #asked: PlotPixel | undefined;
  #theme: ThemeName;
  #plot: Plot | undefined;
  #pointer: PointerPlace | undefined;
  #answer: PixelInfo<PlotHit> | undefined;
  #range: OverlayScene['range'];
  #cursor: { readonly event: number; readonly x: number } | undefined;
  #rest: Crosshair | undefined;
  #markers: Markers = NO_MARKERS;
  #snapshotTimesUs: readonly number[] = [];
  #mark: EventIndex | undefined;
  readonly #positions: EventPositions;
  readonly #stopBands: () => void;

  constructor(options: PlotHoverOptions) {
    this.#options = options;
    this.#theme = options.theme;
    const { session, device } = options;
    this.#positions = new EventPositions(session, device, options.repaint);
    this.#stopBands = options.bands.subscribe(options.repaint);
    if (device.hasTime) void this.#findSnapshotTimes();
  }

  setTheme(theme: ThemeName): void {
    this.#theme = theme;
  }

  setPlot(plot: Plot): void {
    if (plot.viewport.axis !== this.#plot?.viewport.axis) {
      this.#markers = markersOf(this.#options.device, plot.viewport.axis, this.#snapshotTimesUs);
    }
    this.#plot = plot;
  }

  /** What the legend says while the pointer is elsewhere, and the pinned event. */
  setRest(
    crosshair: Crosshair,
    cursor: { readonly event: number; readonly x: number } | undefined,
  ) {
    this.#rest = crosshair;
    this.#cursor = cursor;
    if (this.#pointer === undefined) this.#showRest();
    this.#options.repaint();
  }

  /** The second event that is pinned. */
  setMark(mark: EventIndex | undefined): void {
    if (mark === this.#mark) return;
    this.#mark = mark;
    this.#options.repaint();
  }

  setPointer(pointer: PointerPlace | undefined): void {
    this.#pointer = pointer;
    if (pointer === undefined) {
      this.#requests.cancel();
      this.#asked = undefined;
      this.#answer = undefined;
      this.#options.tooltip.hide();
      this.#showRest();
    }
    this.#options.repaint();
  }

  setRange(range: OverlayScene['range']): void {
    this.#range = range;
    this.#options.repaint();
  }

  /** Asks again: under a pointer at rest the picture has changed. */
  repeat(): void {
    this.#ask();
  }

  /** The pixel at a point; undefined while its picture is awaited. */
  pixelAt(point: Point): PlotPixel | undefined {
    const plot = this.#plot;
    if (plot === undefined) return undefined;
    const { viewport, size, frames } = plot;
    const column = Math.floor((point.x / size.width) * viewport.width);
    const state = frames.stateAt(viewport, column);
    if (state === undefined) return undefined;
    const row = Math.floor((point.y / size.height) * viewport.height);
    const bytesARow = (viewport.y1 - viewport.y0) / viewport.height;
    const bytesFrom = viewport.y1 - (row + 1) * bytesARow;
    return { state, bytesFrom, bytesTo: bytesFrom + bytesARow };
  }

  paint(): void {
    this.#ask();
    const plot = this.#plot;
    const context = this.#options.elements.overlay.getContext('2d');
    if (plot === undefined || context === null) return;
    paintOverlay(context, this.#scene(plot), plotStyle(this.#theme));
    this.#placeTooltip();
  }

  destroy(): void {
    this.#stopBands();
    this.#requests.cancel();
    this.#options.tooltip.hide();
  }

  #showRest(): void {
    const place = this.#cursor === undefined ? 'end' : 'cursor';
    this.#options.readout.show(this.#rest, place);
  }

  #ask(): void {
    const pixel = this.#pointer && this.pixelAt(this.#pointer);
    if (pixel === undefined || isSamePixel(pixel, this.#asked)) return;
    this.#asked = pixel;
    this.#requests
      .run(() => this.#options.source.hit(pixel))
      .then(
        (answer) => this.#receive(answer),
        (error: unknown) => {
          // The worker died or another snapshot came; the frame that fails with it tells the user.
          if (!isAbortError(error)) this.#asked = undefined;
        },
      );
  }

  #receive(answer: PixelInfo<PlotHit>): void {
    this.#answer = answer;
    this.#options.readout.show(answer.crosshair, 'pointer');
    this.#options.repaint();
  }

  #scene({ viewport, size }: Plot): OverlayScene {
    const { width, height } = size;
    const { x0, x1, y0, y1 } = viewport;
    const toX = (x: number) => ((x - x0) / (x1 - x0)) * width;
    const toY = (bytes: number) => ((y1 - bytes) / (y1 - y0)) * height;
    const pointer = this.#pointer;
    const hit = this.#answer?.hit;
    const span = viewport.axis === 'event' ? 1 : 0;
    const columnAt = (x: number | undefined): DrawnCursor | undefined =>
      x === undefined ? undefined : { left: toX(x), right: toX(x + span) };
    const markX =
      this.#mark === undefined ? undefined : this.#positions.xOf(this.#mark, viewport.axis);
    return {
      width,
      height,
      pointer,
      pointerLabel:
        pointer === undefined
          ? ''
          : this.#options.source.heightText(y1 - (pointer.y / height) * (y1 - y0)),
      block: hit && { top: toY(hit.topBytes), bottom: toY(hit.bottomBytes) },
      cursors: { cursor: columnAt(this.#cursor?.x), mark: columnAt(markX) },
      bands: this.#bands(viewport, toX),
      range: this.#range,
      limit: this.#limit(toY),
      markers: markersInView(this.#markers, x0, x1, width).map((marker) => ({
        marker,
        x: toX(marker.x),
      })),
    };
  }

  #limit(toY: (bytes: number) => number): OverlayScene['limit'] {
    const limitBytes = this.#options.source.limitBytes?.();
    if (limitBytes === undefined) return undefined;
    return { y: toY(limitBytes), label: `limit, about ${formatBytes(limitBytes)}` };
  }

  /** Those whose positions are known already, in order. */
  #bands({ axis }: Viewport, toX: (x: number) => number): readonly DrawnBand[] {
    const bands = this.#options.bands.getState().flatMap((band: Band): DrawnBand[] => {
      const from = this.#positions.xOf(band.fromEvent, axis);
      const to = this.#positions.xOf(band.toEvent, axis);
      if (from === undefined || to === undefined) return [];
      const { style, label, isLight } = band;
      return [{ left: toX(from), right: toX(to), style, label, isLight }];
    });
    return bands.sort((a, b) => a.left - b.left);
  }

  /** A marker's text goes before that of the block behind it. */
  #placeTooltip(): void {
    const { tooltip } = this.#options;
    const pointer = this.#pointer;
    if (pointer === undefined) return;
    const content = this.#markerAt(pointer)?.content ?? this.#answer?.hit?.content;
    if (content === undefined) tooltip.hide();
    else tooltip.show(content, pointer.clientX, pointer.clientY);
  }

  #markerAt(pointer: Point): Marker | undefined {
    const plot = this.#plot;
    if (plot === undefined) return undefined;
    const { x0, x1 } = plot.viewport;
    const perPixel = (x1 - x0) / plot.size.width;
    const [from, to] = [pointer.x - MARKER_REACH, pointer.x + MARKER_REACH];
    return markersInView(this.#markers, x0 + from * perPixel, x0 + to * perPixel, to - from)[0];
  }

  async #findSnapshotTimes(): Promise<void> {
    const { device, session } = this.#options;
    try {
      const times: number[] = [];
      for (const event of device.snapshots) {
        times.push((await session.crosshair({ deviceIndex: device.index, event })).timeUs);
      }
      this.#snapshotTimesUs = times;
    } catch {
      return; // The frame that fails with it tells the user.
    }
    const axis = this.#plot?.viewport.axis;
    if (axis !== undefined) this.#markers = markersOf(device, axis, this.#snapshotTimesUs);
    this.#options.repaint();
  }
}

function isSamePixel(a: PlotPixel, b: PlotPixel | undefined): boolean {
  return a.state === b?.state && a.bytesFrom === b.bytesFrom && a.bytesTo === b.bytesTo;
}

/**
 * The counters at the crosshair, written straight into the legend: it changes with every move.
 * Looks for elements with data-readout="event", "time" and data-readout=<counter> below `root`.
 */
export class Readout {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** @param place what the figures are of: 'cursor' */
  show(crosshair: Crosshair | undefined, place: string): void {
    this.#set('event', crosshair === undefined ? '' : `${place}: ${eventText(crosshair)}`);
    this.#set('time', crosshair === undefined ? '' : timeText(crosshair));
    for (const { name } of COUNTERS) {
      this.#set(name, crosshair === undefined ? '' : formatBytes(crosshair.counters[name]));
    }
  }

  #set(key: string, text: string): void {
    const element = this.#root.querySelector(`[data-readout="${key}"]`);
    if (element !== null && element.textContent !== text) element.textContent = text;
  }
}

/** 'event 6,302 · oom' */
const eventText = ({ event, action }: Crosshair): string =>
  event < 0 ? 'before the trace' : `event ${formatCount(event)} · ${action}`;

/** ' · 1.23 s', to follow the event where there is room for it. */
const timeText = ({ event, timeUs }: Crosshair): string =>
  event < 0 || Number.isNaN(timeUs) ? '' : ` · ${formatDurationUs(timeUs)}`;
