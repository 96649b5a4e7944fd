/** Turns gestures and keys into changes of the view: what it shows, and what is pinned. */

import { failedOoms } from '../../device/model/device-info.ts';
import type { AnnotationSpan } from '../../device/model/types.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import { type Extent, panBy, zoomToRange, zoomXAt, zoomYAt } from '../../draw/timeline/viewport.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { Range, ViewState } from '../../state/view-store.ts';
import type { PixelRequest } from '../../worker/protocol.ts';
import type { Point } from './gestures.ts';
import { toNextAxis } from './plot-controls.tsx';
import type { PlotContext, PlotHit, PlotSource } from './plot-source.ts';
import { extentOf, plotAxisOf, rangeX, toPlotX } from './viewport-of.ts';

export interface PlotOnScreen {
  readonly viewport: Viewport;
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly pixelRatio: number;
  /** The pinned event's place on the x axis; undefined without one. */
  readonly cursorX: number | undefined;
}

export interface PlotNavigationOptions extends Pick<PlotContext, 'device' | 'view' | 'onError'> {
  readonly source: Pick<PlotSource, 'heights' | 'yField' | 'hit' | 'newestAt' | 'pinned'>;
  /** Undefined before the first picture. */
  readonly plot: () => PlotOnScreen | undefined;
  /** What a point shows; undefined while its picture is awaited. */
  readonly pixelAt: (at: Point) => PixelRequest | undefined;
}

type Movement = (viewport: Viewport, extent: Extent, plot: PlotOnScreen) => Viewport;

export class PlotNavigation {
  readonly #options: PlotNavigationOptions;
  #panStart: Viewport | undefined;
  /** What is pinned, and the state to look for its neighbors in. */
  #pinned: { readonly state: EventIndex; readonly hit: PlotHit } | undefined;
  #beforeClick: Pick<ViewState, 'selection' | 'cursor'> | undefined;
  /** Grows with each pin: an answer for an older pin is dropped. */
  #pins = 0;

  constructor(options: PlotNavigationOptions) {
    this.#options = options;
  }

  /** Arguments are shares of the plot's width and height. */
  panShare(x: number, y: number): void {
    this.#move((viewport, extent) =>
      panBy(viewport, x * viewport.width, y * viewport.height, extent),
    );
  }

  /** Zooms around `at`, else around the pinned event if it is in view. A factor above 1 shows less. */
  zoomX(factor: number, at?: Point): void {
    this.#move((viewport, extent, plot) => {
      const share = at === undefined ? (cursorShare(plot) ?? 0.5) : at.x / plot.width;
      return zoomXAt(viewport, share, factor, extent);
    });
  }

  /** Zooms around `at`, else around the bottom. */
  zoomY(factor: number, at?: Pick<Point, 'y'>): void {
    this.#move((viewport, extent, { height }) => {
      const share = at === undefined ? 0 : 1 - at.y / height;
      return zoomYAt(viewport, share, factor, extent);
    }, true);
  }

  fit(): void {
    this.#options.view.commit({ x: 'all', ...this.#withY('fit') });
  }

  /** Moves the cursor by `step` events. Without a cursor, starts in the middle of the plot. */
  stepEvent(step: number): void {
    const { view, device } = this.#options;
    const from = this.#view.cursor ?? this.#stateInTheMiddle();
    if (from === undefined) return;
    const to = Math.max(0, Math.min(device.events - 1, from + step));
    view.move({ cursor: to });
  }

  /** To the nearest OOM before (-1) or after (1) the pinned event. */
  stepOom(direction: -1 | 1): void {
    const { view, device } = this.#options;
    const from = this.#view.cursor ?? (direction > 0 ? -1 : device.events);
    const ooms = failedOoms(device);
    const found =
      direction > 0
        ? ooms.find(({ event }) => event > from)
        : ooms.findLast(({ event }) => event < from);
    if (found !== undefined) view.commit({ cursor: found.event });
  }

  async pinNewest(): Promise<void> {
    const { source, onError } = this.#options;
    const state = this.#view.cursor ?? this.#stateInTheMiddle();
    if (state === undefined) return;
    try {
      const pixel = await source.newestAt(state);
      if (pixel !== undefined) await this.#pinAt(pixel);
    } catch (error) {
      onError(error);
    }
  }

  async pinNeighbor(direction: -1 | 1): Promise<void> {
    const pinned = this.#pinned;
    if (pinned === undefined) return this.pinNewest();
    const { state, hit } = pinned;
    const bytesFrom = direction > 0 ? hit.topBytes : hit.bottomBytes - 1;
    if (bytesFrom >= 0) await this.#pinAt({ state, bytesFrom, bytesTo: bytesFrom + 1 });
  }

  /**
   * Esc: undoes the last clicks; without any, unpins and returns the cursor to where the page opened. Returns false if
   * nothing is left to undo, and while a finding is shown: its panel closes that first.
   */
  clear(): boolean {
    const { view } = this.#options;
    if (!view.undoClick()) {
      const { opening } = view.getState();
      const { finding, selection, cursor } = this.#view;
      if (finding !== undefined || (selection === undefined && cursor === opening)) return false;
      view.commit({ selection: undefined, cursor: opening });
    }
    if (this.#view.selection === undefined) this.#unpin();
    return true;
  }

  /** Sets the second cursor, or takes it away from the event where it is. */
  altClick(at: Point): void {
    const event = this.#options.pixelAt(at)?.state;
    if (event === undefined) return;
    const isSet = this.#view.secondCursor === event;
    this.#options.view.commit({ secondCursor: isSet ? undefined : event });
  }

  /** A drag begins or ends: all moves in between are one gesture. */
  drag(isGoingOn: boolean): void {
    const { view } = this.#options;
    if (isGoingOn) view.beginDrag();
    else view.endDrag();
  }

  nextAxis(): void {
    const { device, view } = this.#options;
    const change = toNextAxis(this.#view, device);
    if (change !== undefined) view.commit(change);
  }

  zoomToSpan(span: AnnotationSpan): void {
    const axis = plotAxisOf(this.#view);
    const toX = (timeUs: number) => toPlotX(this.#options.device, axis, timeUs);
    if (axis === 'event') this.#commitRange(span.startEvent, span.endEvent);
    else this.#commitRange(toX(span.startUs), toX(span.endUs));
  }

  /** Moves `x` to the middle if it is out of view. No history entry: whatever moved the cursor has one. */
  bringIntoView(x: number): void {
    const change = this.#changeBy((viewport, extent) => {
      const { x0, x1, width } = viewport;
      if (x >= x0 && x < x1) return viewport;
      return panBy(viewport, ((x - (x0 + x1) / 2) / (x1 - x0)) * width, 0, extent);
    });
    if (change !== undefined) this.#options.view.adjust(change);
  }

  get #view(): ViewState {
    return this.#options.view.getState().view;
  }

  #extent({ axis }: Viewport): Extent {
    const { device, source } = this.#options;
    return extentOf(device, axis, source.heights(this.#view));
  }

  #move(movement: Movement, withY = false): void {
    const change = this.#changeBy(movement, withY);
    if (change !== undefined) this.#options.view.move(change);
  }

  #changeBy(movement: Movement, withY = false): Partial<ViewState> | undefined {
    const plot = this.#options.plot();
    if (plot === undefined) return undefined;
    const { viewport } = plot;
    const extent = this.#extent(viewport);
    const moved = movement(viewport, extent, plot);
    if (moved === viewport) return undefined;
    const isYMoved = withY || moved.y0 !== viewport.y0 || moved.y1 !== viewport.y1;
    return {
      x: rangeX(moved, extent, this.#options.device),
      ...(isYMoved && this.#withY({ from: moved.y0, to: moved.y1 })),
    };
  }

  #withY(y: Range | 'fit'): Partial<ViewState> {
    return { [this.#options.source.yField]: y };
  }

  #unpin(): void {
    this.#pinned = undefined;
    this.#options.source.pinned?.(undefined);
  }

  /** `move` is how far the content moves, in CSS pixels; `isFirst` marks the start of a drag. */
  pan(move: Point, isFirst: boolean): void {
    const plot = this.#options.plot();
    if (isFirst) this.#panStart = plot?.viewport;
    const start = this.#panStart;
    if (plot === undefined || start === undefined) return;
    const columns = -move.x * plot.pixelRatio;
    const y = this.#view[this.#options.source.yField];
    const rows = y === 'fit' ? 0 : move.y * plot.pixelRatio;
    this.#move((_, extent) => panBy(start, columns, rows, extent));
  }

  zoomToPixels(from: number, to: number): void {
    const plot = this.#options.plot();
    if (plot === undefined || from === to) return;
    const { x0, x1 } = plot.viewport;
    const perPixel = (x1 - x0) / plot.width;
    this.#commitRange(x0 + from * perPixel, x0 + to * perPixel);
  }

  #commitRange(from: number, to: number): void {
    const viewport = this.#options.plot()?.viewport;
    if (viewport === undefined) return;
    const extent = this.#extent(viewport);
    const x = rangeX(zoomToRange(viewport, from, to, extent), extent, this.#options.device);
    this.#options.view.commit({ x });
  }

  async click(at: Point): Promise<void> {
    const pixel = this.#options.pixelAt(at);
    const { selection, cursor } = this.#view;
    this.#beforeClick = { selection, cursor };
    if (pixel !== undefined) await this.#pinAt(pixel);
  }

  /** Shows all. The first click of a double click has pinned something, or is about to: undoes that. */
  doubleClick(): void {
    const { view } = this.#options;
    const before = this.#beforeClick;
    this.#pins++;
    this.#beforeClick = undefined;
    this.#unpin();
    const all = { ...before, x: 'all' as const, ...this.#withY('fit') };
    const { selection, cursor } = this.#view;
    const hasPinned =
      before !== undefined && (selection !== before.selection || cursor !== before.cursor);
    // Reuse the pin's history entry for the whole trace.
    if (hasPinned) view.adjust(all);
    else view.commit(all);
  }

  async #pinAt(pixel: PixelRequest): Promise<void> {
    const { source, view, onError } = this.#options;
    const { state } = pixel;
    const pin = ++this.#pins;
    // Set the cursor at once: a key that follows means this event, whatever lies under the pointer.
    view.click('allocation', { cursor: state });
    try {
      const { hit } = await source.hit(pixel);
      if (pin !== this.#pins) return;
      this.#pinned = hit && { hit, state };
      source.pinned?.(pixel, hit);
      view.amendClick('allocation', { selection: hit?.selection });
    } catch (error) {
      onError(error);
    }
  }

  #stateInTheMiddle(): EventIndex | undefined {
    const { plot, pixelAt } = this.#options;
    return pixelAt({ x: (plot()?.width ?? 1) / 2, y: 0 })?.state;
  }
}

/** The pinned event's place across the plot, 0 to 1; undefined if it is out of view. */
function cursorShare({ cursorX, viewport: { x0, x1 } }: PlotOnScreen): number | undefined {
  if (cursorX === undefined) return undefined;
  const share = (cursorX - x0) / (x1 - x0);
  return share >= 0 && share <= 1 ? share : undefined;
}

const PAN_SHARE = 0.1;
const ZOOM_STEP = 1.5;

export type PlotKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

type Action = (plot: PlotNavigation, event: PlotKey) => unknown;

const panX =
  (share: number): Action =>
  (plot) =>
    plot.panShare(share, 0);
const panOrPin =
  (direction: -1 | 1): Action =>
  (plot, { shiftKey }) =>
    shiftKey ? void plot.pinNeighbor(direction) : plot.panShare(0, direction * PAN_SHARE);
const zoomBy =
  (factor: number): Action =>
  (plot, { altKey }) =>
    altKey ? plot.zoomY(factor) : plot.zoomX(factor);

/** By their keys, with spaces between. */
const ACTIONS = Object.entries<Action>({
  'a ArrowLeft': panX(-PAN_SHARE),
  'd ArrowRight': panX(PAN_SHARE),
  ArrowUp: panOrPin(1),
  ArrowDown: panOrPin(-1),
  'w + =': zoomBy(ZOOM_STEP),
  's - _': zoomBy(1 / ZOOM_STEP),
  '0 f': (plot) => plot.fit(),
  x: (plot) => plot.nextAxis(),
  '[': (plot) => plot.stepEvent(-1),
  ']': (plot) => plot.stepEvent(1),
  '{': (plot) => plot.stepOom(-1),
  '}': (plot) => plot.stepOom(1),
  Enter: (plot) => void plot.pinNewest(),
  Escape: (plot) => plot.clear(),
});

/** Runs a key's action while the plot has the focus; false if it has none. */
export function onPlotKey(event: PlotKey, plot: PlotNavigation): boolean {
  // The browser uses Ctrl and Meta.
  if (event.ctrlKey || event.metaKey) return false;
  const [, action] = ACTIONS.find(([keys]) => keys.split(' ').includes(event.key)) ?? [];
  return action !== undefined && action(plot, event) !== false;
}
