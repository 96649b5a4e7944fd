/**
 * The plot: owns the canvases and the one animation frame, and keeps React out of what moves.
 *
 * The view store says what is to be seen. Gestures write to it, a change of it makes a viewport,
 * a viewport asks for a frame; painting happens in one place, when a frame came or once a picture.
 */
import type { AnnotationSpan, Crosshair, DeviceInfo, HitResult } from '../../core/query/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { Viewport } from '../../core/timeline/types.ts';
import { type Extent, panBy, zoomToRange, zoomXAt, zoomYAt } from '../../core/timeline/viewport.ts';
import type { FrameRequest, SessionApi } from '../../engine/protocol.ts';
import type { ViewState, ViewStore } from '../../state/view-store.ts';
import { paletteFor, plotColors, type ThemeName, toAbgr } from '../theme/palette.ts';
import { dashOf, lineColor, plotStyle } from '../theme/plot-style.ts';
import { type AxisElements, drawAxes } from './axes.ts';
import { FrameLayer } from './frame-layer.ts';
import {
  type GestureHandlers,
  listenToAxisWheel,
  listenToGestures,
  type Point,
} from './gestures.ts';
import { LaneStrip } from './lane-strip.ts';
import { PlotHover } from './plot-hover.ts';
import { Readout } from './readout.ts';
import { Tooltip } from './tooltip.ts';
import { extentOf, rangeX, rangeY, viewportOf } from './viewport-of.ts';

export interface TimelineElements {
  /** What takes the pointer; the canvases fill it. */
  readonly surface: HTMLElement;
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly lanes: HTMLCanvasElement;
  readonly axes: AxisElements;
}

export interface TimelineOptions {
  readonly device: DeviceInfo;
  readonly session: SessionApi;
  readonly view: ViewStore;
  readonly elements: TimelineElements;
  readonly tooltip: HTMLElement;
  readonly readout: HTMLElement;
  readonly theme: ThemeName;
  readonly selected: number;
  /** The first picture, and every later one, is on the canvas. */
  readonly onPainted: () => void;
  readonly onError: (error: unknown) => void;
}

/** Where in the stack the pinned allocation was met; neighbours are found from there. */
interface PinnedPlace {
  readonly state: EventIndex;
  readonly bottomBytes: number;
  readonly topBytes: number;
}

export class TimelineController {
  readonly #options: TimelineOptions;
  readonly #frames: FrameLayer;
  readonly #hover: PlotHover;
  readonly #lanes: LaneStrip;
  readonly #stopListening: () => void;
  readonly #resizes: ResizeObserver;
  #theme: ThemeName;
  #selected: number;
  #size = { width: 0, height: 0, pixelWidth: 0, pixelHeight: 0 };
  #viewport: Viewport | undefined;
  #request: FrameRequest | undefined;
  #panStart: Viewport | undefined;
  #pinned: PinnedPlace | undefined;
  #cursor: { readonly event: EventIndex; readonly x: number } | undefined;
  #animation = 0;
  #isPictureStale = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#theme = options.theme;
    this.#selected = options.selected;
    const { session, elements, view } = options;
    this.#frames = new FrameLayer({
      session,
      lineStyle: (counter) => ({
        color: lineColor(this.#theme, counter),
        halo: toAbgr(plotStyle(this.#theme).halo),
        thickness: Math.max(1, Math.round(1.5 * this.#pixelRatio)),
        dash: dashOf(counter, this.#pixelRatio),
      }),
      onFrame: () => this.#paintPicture(),
      onError: options.onError,
    });
    const tooltip = new Tooltip(options.tooltip);
    this.#hover = new PlotHover({
      ...options,
      tooltip,
      readout: new Readout(options.readout),
      repaint: () => this.#schedule(),
    });
    this.#lanes = new LaneStrip({
      canvas: elements.lanes,
      tooltip,
      onZoomTo: (span) => this.#zoomToSpan(span),
    });
    const unsubscribe = view.subscribe((now, before) => {
      if (now.view !== before.view) this.#update(now.view, before.view);
    });
    const stopGestures = listenToGestures(elements.surface, this.#gestures());
    const stopAxis = listenToAxisWheel(elements.axes.y, (at, factor) => this.zoomY(factor, at));
    this.#stopListening = () => {
      unsubscribe();
      stopGestures();
      stopAxis();
    };
    this.#resizes = new ResizeObserver(([entry]) => entry !== undefined && this.#resize(entry));
    this.#resizes.observe(elements.base);
    void this.#moveCursor(view.getState().view, undefined);
  }

  setTheme(theme: ThemeName): void {
    this.#theme = theme;
    this.#hover.setTheme(theme);
    this.#update(this.#view, this.#view);
  }

  setSelected(selected: number): void {
    if (this.#selected === selected) return;
    this.#selected = selected;
    this.#update(this.#view, this.#view);
  }

  /** Also after the lanes have got another height. */
  setAnnotations(spans: readonly AnnotationSpan[]): void {
    this.#lanes.setSpans(spans);
    this.#isPictureStale = true;
    this.#schedule();
  }

  destroy(): void {
    cancelAnimationFrame(this.#animation);
    this.#stopListening();
    this.#resizes.disconnect();
    this.#frames.destroy();
    this.#hover.destroy();
    this.#lanes.destroy();
  }

  // Moves, for keys and buttons. Shares are of the plot's width and height.

  panShare(x: number, y: number): void {
    this.#move((viewport, extent) =>
      panBy(viewport, x * viewport.width, y * viewport.height, extent),
    );
  }

  /** Around the pinned event, where that is in view, unless a place is given. */
  zoomX(factor: number, at?: number): void {
    this.#move((viewport, extent) =>
      zoomXAt(viewport, at ?? this.#cursorShare(viewport) ?? 0.5, factor, extent),
    );
  }

  zoomY(factor: number, at = 0): void {
    this.#move((viewport, extent) => zoomYAt(viewport, at, factor, extent), true);
  }

  fit(): void {
    this.#options.view.commit({ x: 'all', y: 'fit' });
  }

  /** The pinned event moves on by `step`; the first step begins in the middle of the plot. */
  stepEvent(step: number): void {
    const { view, device } = this.#options;
    const from = this.#view.cursor ?? this.#stateAtShare(0.5);
    if (from === undefined) return;
    const to = Math.max(0, Math.min(device.events - 1, from + step));
    view.move({ cursor: to });
  }

  /** To the nearest OOM before (-1) or after (1) the pinned event. */
  stepOom(direction: -1 | 1): void {
    const { view, device } = this.#options;
    const from = this.#view.cursor ?? (direction > 0 ? -1 : device.events);
    const found =
      direction > 0
        ? device.ooms.find(({ event }) => event > from)
        : device.ooms.findLast(({ event }) => event < from);
    if (found !== undefined) view.commit({ cursor: found.event });
  }

  /** Pins the newest allocation, on top of the stack, at the pinned event. */
  async pinNewest(): Promise<void> {
    const { session, device } = this.#options;
    const state = this.#view.cursor ?? this.#stateAtShare(0.5);
    if (state === undefined) return;
    const { counters } = await session.crosshair({ device: device.index, event: state });
    await this.#pinAt(state, counters.activeBytes - 1, counters.activeBytes);
  }

  /** Pins the neighbour above (1) or below (-1) in the stack. */
  async pinNeighbour(direction: -1 | 1): Promise<void> {
    const pinned = this.#pinned;
    if (pinned === undefined) return this.pinNewest();
    const from = direction > 0 ? pinned.topBytes : pinned.bottomBytes - 1;
    if (from >= 0) await this.#pinAt(pinned.state, from, from + 1);
  }

  clear(): void {
    this.#pinned = undefined;
    this.#options.view.commit({ selection: undefined, cursor: undefined });
  }

  get #view(): ViewState {
    return this.#options.view.getState().view;
  }

  get #pixelRatio(): number {
    return this.#size.width === 0 ? 1 : this.#size.pixelWidth / this.#size.width;
  }

  #gestures(): GestureHandlers {
    const share = (at: Point) => ({
      x: at.x / this.#size.width,
      y: 1 - at.y / this.#size.height,
    });
    return {
      zoomX: (at, factor) => this.zoomX(factor, share(at).x),
      zoomY: (at, factor) => this.zoomY(factor, share(at).y),
      pan: (move, isFirst) => this.#pan(move, isFirst),
      range: (range) => this.#hover.setRange(range),
      zoomToRange: (from, to) => this.#zoomToRange(from, to),
      hover: (at) => this.#hover.setPointer(at),
      click: (at) => void this.#click(at),
      fit: () => this.fit(),
    };
  }

  #move(change: (viewport: Viewport, extent: Extent) => Viewport, withY = false): void {
    const viewport = this.#viewport;
    if (viewport === undefined) return;
    const { device, view } = this.#options;
    const extent = extentOf(device, viewport.axis);
    const moved = change(viewport, extent);
    const isYMoved = withY || moved.y0 !== viewport.y0 || moved.y1 !== viewport.y1;
    view.move({ x: rangeX(moved, extent), ...(isYMoved && { y: rangeY(moved) }) });
  }

  #pan(move: Point, isFirst: boolean): void {
    if (isFirst) this.#panStart = this.#viewport;
    const start = this.#panStart;
    if (start === undefined) return;
    const columns = -move.x * this.#pixelRatio;
    const rows = this.#view.y === 'fit' ? 0 : move.y * this.#pixelRatio;
    this.#move((_, extent) => panBy(start, columns, rows, extent));
  }

  /** @param from and `to` are CSS pixels */
  #zoomToRange(from: number, to: number): void {
    const viewport = this.#viewport;
    if (viewport === undefined || from === to) return;
    const perPixel = (viewport.x1 - viewport.x0) / this.#size.width;
    this.#commitRange(viewport, viewport.x0 + from * perPixel, viewport.x0 + to * perPixel);
  }

  #zoomToSpan(span: AnnotationSpan): void {
    const viewport = this.#viewport;
    if (viewport === undefined) return;
    if (viewport.axis === 'time') this.#commitRange(viewport, span.startUs, span.endUs);
    else this.#commitRange(viewport, span.startEvent, span.endEvent);
  }

  #commitRange(viewport: Viewport, from: number, to: number): void {
    const extent = extentOf(this.#options.device, viewport.axis);
    const x = rangeX(zoomToRange(viewport, from, to, extent), extent);
    this.#options.view.commit({ x });
  }

  async #click(at: Point): Promise<void> {
    const request = this.#hover.hitRequestAt(at);
    if (request === undefined) return;
    const { state, bytesFrom, bytesTo } = request;
    await this.#pinAt(state, bytesFrom, bytesTo);
  }

  async #pinAt(state: EventIndex, bytesFrom: number, bytesTo: number): Promise<void> {
    const { session, device, view } = this.#options;
    const hit = await session.hit({ device: device.index, state, bytesFrom, bytesTo });
    this.#pinned = hit === undefined ? undefined : placeOf(hit, state);
    view.commit({ selection: hit?.label, cursor: state });
  }

  /** Where the pinned event is across the plot; undefined out of view. */
  #cursorShare({ x0, x1 }: Viewport): number | undefined {
    if (this.#cursor === undefined) return undefined;
    const share = (this.#cursor.x - x0) / (x1 - x0);
    return share >= 0 && share <= 1 ? share : undefined;
  }

  #stateAtShare(share: number): EventIndex | undefined {
    const viewport = this.#viewport;
    if (viewport === undefined) return undefined;
    return this.#frames.stateAt(viewport, Math.floor(share * (viewport.width - 1)));
  }

  #resize(entry: ResizeObserverEntry): void {
    const { width, height } = entry.contentRect;
    // Not known to Safari: there the ratio is taken and rounded.
    const box = entry.devicePixelContentBoxSize?.[0];
    const pixelWidth = box?.inlineSize ?? Math.round(width * devicePixelRatio);
    const pixelHeight = box?.blockSize ?? Math.round(height * devicePixelRatio);
    if (pixelWidth === 0 || pixelHeight === 0) return;
    this.#size = { width, height, pixelWidth, pixelHeight };
    const { base, overlay } = this.#options.elements;
    for (const canvas of [base, overlay]) {
      canvas.width = pixelWidth;
      canvas.height = pixelHeight;
    }
    overlay.getContext('2d')?.scale(pixelWidth / width, pixelHeight / height);
    this.#update(this.#view, this.#view);
  }

  /** Something that shows has changed: asks for the frame of it. */
  #update(view: ViewState, before: ViewState): void {
    const { device } = this.#options;
    const { pixelWidth: width, pixelHeight: height } = this.#size;
    if (view.cursor !== before.cursor || view.axis !== before.axis) {
      void this.#moveCursor(view, this.#viewport);
    }
    if (width === 0 || view.device !== device.index) return;
    const viewport = viewportOf(view, device, { width, height });
    const request: FrameRequest = {
      device: device.index,
      viewport: isSameViewport(viewport, this.#viewport) ? this.#viewport : viewport,
      colorBy: view.colorBy,
      palette: paletteFor(this.#theme, view.colorBy),
      lines: view.lines,
      selected: this.#selected,
    };
    if (this.#request !== undefined && isSameRequest(request, this.#request)) return;
    this.#viewport = request.viewport;
    this.#request = request;
    this.#hover.setPlot({ viewport: request.viewport, size: this.#size, frames: this.#frames });
    this.#frames.want(request);
    this.#isPictureStale = true;
    this.#schedule();
  }

  /** Brings the pinned event into view where it is not, and its figures into the legend. */
  async #moveCursor(view: ViewState, viewport: Viewport | undefined): Promise<void> {
    const { device, session } = this.#options;
    const event = view.cursor ?? device.events - 1;
    let crosshair: Crosshair;
    try {
      crosshair = await session.crosshair({ device: device.index, event });
    } catch (error) {
      this.#options.onError(error);
      return;
    }
    if (this.#view.cursor !== view.cursor || this.#view.axis !== view.axis) return;
    const x = view.axis === 'event' ? event : crosshair.timeUs;
    this.#cursor = view.cursor === undefined ? undefined : { event, x };
    this.#hover.setRest(crosshair, this.#cursor);
    const current = viewport ?? this.#viewport;
    const isOutside = current !== undefined && (x < current.x0 || x >= current.x1);
    if (this.#cursor !== undefined && isOutside) {
      const columns =
        ((x - (current.x0 + current.x1) / 2) / (current.x1 - current.x0)) * current.width;
      this.#move((shown, extent) => panBy(shown, columns, 0, extent));
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#animation === 0) this.#animation = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    this.#animation = 0;
    if (this.#isPictureStale) this.#paintPicture();
    this.#hover.paint();
  }

  #paintPicture(): void {
    const viewport = this.#viewport;
    const context = this.#options.elements.base.getContext('2d', { alpha: false });
    if (viewport === undefined || context === null) return;
    const wasStale = this.#isPictureStale;
    this.#isPictureStale = false;
    this.#frames.paint(context, viewport, plotColors(this.#theme).background);
    if (wasStale) {
      drawAxes(this.#options.elements.axes, viewport, this.#size);
      this.#lanes.paint(viewport, this.#theme);
    }
    if (this.#frames.isCurrent) {
      this.#options.onPainted();
      this.#hover.repeat();
      this.#schedule();
    }
  }
}

function placeOf(hit: HitResult, state: EventIndex): PinnedPlace {
  return { state, bottomBytes: hit.bottomBytes, topBytes: hit.bottomBytes + hit.blockBytes };
}

function isSameViewport(a: Viewport, b: Viewport | undefined): b is Viewport {
  return (
    b !== undefined &&
    a.axis === b.axis &&
    a.x0 === b.x0 &&
    a.x1 === b.x1 &&
    a.y0 === b.y0 &&
    a.y1 === b.y1 &&
    a.width === b.width &&
    a.height === b.height
  );
}

function isSameRequest(a: FrameRequest, b: FrameRequest): boolean {
  return (
    a.viewport === b.viewport &&
    a.colorBy === b.colorBy &&
    a.palette === b.palette &&
    a.lines === b.lines &&
    a.selected === b.selected
  );
}
