/** What follows the pointer: crosshair, tooltip, counters, markers. Painted on the overlay canvas. */
import type { Crosshair, DeviceInfo } from '../../core/device/types.ts';
import type { Viewport } from '../../core/raster/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import type { ThemeName } from '../theme/palette.ts';
import { plotStyle } from '../theme/plot-style.ts';
import type { Band, BandsStore } from './bands.ts';
import { EventPlaces } from './event-places.ts';
import type { DrawnColumns } from './frame-layer.ts';
import type { Point, PointerPlace } from './gestures.ts';
import { type HoverAnswer, HoverQuery } from './hover-query.ts';
import { type Marker, type Markers, markersInView, markersOf, NO_MARKERS } from './markers.ts';
import type { DrawnBand } from './paint-bands.ts';
import type { DrawnCursor } from './paint-cursors.ts';
import { type OverlayScene, paintOverlay } from './paint-overlay.ts';
import type { PlotHit, PlotPlace } from './plot-source.ts';
import type { Readout } from './readout.ts';
import type { Tooltip } from './tooltip.ts';

export interface PlotHoverOptions {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'crosshair'>;
  readonly source: {
    hit(place: PlotPlace): Promise<PlotHit | undefined>;
    heightText(bytes: number): string;
  };
  readonly elements: { readonly overlay: HTMLCanvasElement };
  readonly tooltip: Tooltip;
  readonly readout: Readout;
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
  readonly #query: HoverQuery;
  #theme: ThemeName;
  #plot: Plot | undefined;
  #pointer: PointerPlace | undefined;
  #answer: HoverAnswer | undefined;
  #range: OverlayScene['range'];
  #cursor: { readonly event: number; readonly x: number } | undefined;
  #rest: Crosshair | undefined;
  #markers: Markers = NO_MARKERS;
  #snapshotTimesUs: readonly number[] = [];
  #mark: EventIndex | undefined;
  readonly #places: EventPlaces;
  readonly #stopBands: () => void;

  constructor(options: PlotHoverOptions) {
    this.#options = options;
    this.#theme = options.theme;
    const { source, session, device } = options;
    this.#query = new HoverQuery(
      {
        hit: (place) => source.hit(place),
        crosshair: (event) => session.crosshair({ deviceIndex: device.index, event }),
      },
      (answer) => this.#receive(answer),
    );
    this.#places = new EventPlaces(session, device, options.repaint);
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
    if (this.#pointer === undefined) this.#options.readout.show(crosshair);
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
      this.#query.cancel();
      this.#answer = undefined;
      this.#options.tooltip.hide();
      this.#options.readout.show(this.#rest);
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

  /** The question for a point; undefined while its picture is awaited. */
  placeAt(point: Point): PlotPlace | undefined {
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
    this.#query.cancel();
    this.#options.tooltip.hide();
  }

  #ask(): void {
    const place = this.#pointer && this.placeAt(this.#pointer);
    if (place !== undefined) this.#query.ask(place);
  }

  #receive(answer: HoverAnswer): void {
    this.#answer = answer;
    this.#options.readout.show(answer.crosshair);
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
      this.#mark === undefined ? undefined : this.#places.xOf(this.#mark, viewport.axis);
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
      markers: markersInView(this.#markers, x0, x1, width).map((marker) => ({
        marker,
        x: toX(marker.x),
      })),
    };
  }

  /** Those whose places are known already, in order. */
  #bands({ axis }: Viewport, toX: (x: number) => number): readonly DrawnBand[] {
    const bands = this.#options.bands.getState().flatMap((band: Band): DrawnBand[] => {
      const from = this.#places.xOf(band.fromEvent, axis);
      const to = this.#places.xOf(band.toEvent, axis);
      if (from === undefined || to === undefined) return [];
      return [{ left: toX(from), right: toX(to), style: band.style, label: band.label }];
    });
    return bands.sort((a, b) => a.left - b.left);
  }

  /** A marker's words go before those of the block behind it. */
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
      return; // As in HoverQuery: the frame that fails tells the user.
    }
    const axis = this.#plot?.viewport.axis;
    if (axis !== undefined) this.#markers = markersOf(device, axis, this.#snapshotTimesUs);
    this.#options.repaint();
  }
}
