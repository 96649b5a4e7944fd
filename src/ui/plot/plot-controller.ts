/**
 * Runs a plot without React: owns the canvases and the one animation frame. The view store says what to show. Gestures
 * write to it; a change of it makes a viewport; a viewport requests a frame. Painting happens in one place: when a
 * frame arrives, or once per animation frame.
 */
import { startTimer } from '../../base/task.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { IdleCounter } from '../../state/page-timings.ts';
import type { ViewState } from '../../state/view-store.ts';
import { plotColors, plotStyle, type ThemeName } from '../theme/palette.ts';
import { axesIn, drawAxes, drawSteps, partOf } from './axes.ts';
import { releasePixels } from './canvas.ts';
import { Crosshairs } from './event-markers.ts';
import { FrameLayer } from './frame-layer.ts';
import { listenToAxisWheel, listenToGestures } from './gestures.ts';
import { PlotHover, writeReadout } from './plot-hover.ts';
import { PlotNavigation, type PlotOnScreen } from './plot-navigation.ts';
import type { PlotContext, PlotLook, PlotRequest } from './plot-source.ts';
import { viewportOf } from './viewport-of.ts';

/** A canvas above or below the plot that shares its x axis, such as the annotations. */
export interface PlotStrip {
  /** @param cursorX on the viewport's axis; undefined without a cursor, and until its place is known */
  paint(viewport: Viewport, theme: ThemeName, cursorX?: number): void;
  destroy(): void;
}

export interface StripHost extends Pick<PlotContext, 'device' | 'session' | 'onError'> {
  readonly navigation: PlotNavigation;
  readonly repaint: () => void;
}

export type MakeStrip = (host: StripHost) => PlotStrip | undefined;

export interface PlotOptions extends PlotContext {
  readonly strip: MakeStrip | undefined;
  readonly idle: Pick<IdleCounter, 'begin'>;
  /** Holds the surface, which receives the pointer; its canvases; and the axes. */
  readonly root: HTMLElement;
  /** Call `update` when it changes. */
  readonly look: () => Pick<PlotLook, 'theme' | 'selected'>;
  /** Called after every picture, including the first. */
  readonly onPainted: () => void;
}

/**
 * The last picture is stretched while a slow frame is awaited, but not sooner than this: an animation frame would delay
 * an answer that arrives within a few milliseconds, and nobody notices so short a stutter.
 */
const STALE_PAINT_DELAY_MS = 24;

/** Pictures that take longer have every second, third or fourth column while one zooms, and all of them once one stops. */
const SLOW_PICTURE_MS = 8;
const MOST_SKIPPED = 4;
/** A zoom has stopped when it has not moved for this long, a few notches of a wheel. */
const STOPPED_MS = 120;

const FRAME_MEASURE = 'vramscope:frame';

/** Device pixels also change with the page's zoom. Safari does not have them. */
const RESIZE_BOX: ResizeObserverBoxOptions =
  'devicePixelContentBoxSize' in ResizeObserverEntry.prototype
    ? 'device-pixel-content-box'
    : 'content-box';

export class PlotController {
  readonly navigation: PlotNavigation;
  readonly #options: PlotOptions;
  readonly #base: HTMLCanvasElement;
  readonly #overlay: HTMLCanvasElement;
  readonly #axes: ReturnType<typeof axesIn>;
  readonly #frames: FrameLayer;
  readonly #crosshairs: Crosshairs;
  readonly #hover: PlotHover;
  readonly #strip: PlotStrip | undefined;
  readonly #stop = new AbortController();
  #size = { width: 0, height: 0, pixelWidth: 0, pixelHeight: 0 };
  #request: PlotRequest | undefined;
  #animation = 0;
  #isPictureStale = false;
  #hasAxes = false;
  #stopStale: (() => void) | undefined;
  /** When the page got the input that the awaited frame answers. */
  #inputMs: number | undefined;
  /** How long the last whole picture took. */
  #pictureMs = 0;
  /** While one zooms and sees some of the columns. */
  #stopFewer: (() => void) | undefined;
  /** The cursor and the axis for which the cursor was last brought into view. */
  #followed = '';
  #stripCursorX: number | undefined;

  constructor(options: PlotOptions) {
    this.#options = options;
    const { root, source, view, overlays } = options;
    this.#base = partOf(root, '.plot-picture');
    this.#overlay = partOf(root, '.plot-overlay');
    this.#axes = axesIn(root);
    this.#frames = new FrameLayer({
      ...options,
      linesOf: (request, frame) =>
        source.lines?.(request, frame, options.look().theme, this.#pixelRatio) ?? [],
      onFrame: () => {
        this.#paintPicture();
        // Only the picture knows the height of the matches, so a fitted y may change now.
        this.update();
      },
    });
    this.#crosshairs = new Crosshairs(options, () => this.#schedule());
    const readouts = root.closest('.view');
    this.#hover = new PlotHover({
      ...options,
      context: this.#overlay.getContext('2d'),
      crosshairs: this.#crosshairs,
      plot: () => this.#plot(),
      stateAt: (viewport, column) => this.#frames.stateAt(viewport, column),
      readOut: (crosshair, place) => writeReadout(readouts, crosshair, place),
      repaint: () => this.#schedule(),
    });
    this.navigation = new PlotNavigation({
      ...options,
      plot: () => this.#plot(),
      pixelAt: (at) => this.#hover.pixelAt(at),
    });
    const { navigation } = this;
    this.#strip = options.strip?.({ ...options, navigation, repaint: () => this.#repaintAll() });
    const { signal } = this.#stop;
    listenToGestures(partOf(root, '.plot-surface'), this.navigation, this.#hover, signal);
    listenToAxisWheel(this.#axes.y, this.navigation, signal);
    const stopView = view.subscribe((now, before) => {
      if (now.view !== before.view) this.update();
    });
    const stopOverlays = overlays.subscribe((now, before) => {
      this.update();
      if (now.steps !== before.steps || now.limitBytes !== before.limitBytes) this.#repaintAll();
    });
    const resizes = new ResizeObserver(([entry]) => entry !== undefined && this.#resize(entry));
    resizes.observe(this.#base, { box: RESIZE_BOX });
    signal.addEventListener('abort', () => {
      stopView();
      stopOverlays();
      resizes.disconnect();
    });
  }

  destroy(): void {
    cancelAnimationFrame(this.#animation);
    this.#stopStale?.();
    this.#stopFewer?.();
    this.#stop.abort();
    this.#frames.destroy();
    this.#hover.destroy();
    this.#strip?.destroy();
    for (const canvas of [this.#base, this.#overlay]) releasePixels(canvas);
  }

  get #view(): ViewState {
    return this.#options.view.getState().view;
  }

  get #pixelRatio(): number {
    return this.#size.width === 0 ? 1 : this.#size.pixelWidth / this.#size.width;
  }

  #resize(entry: ResizeObserverEntry): void {
    const { width, height } = entry.contentRect;
    // Safari lacks this box: use the ratio, rounded.
    const box = entry.devicePixelContentBoxSize?.[0];
    const pixelWidth = box?.inlineSize ?? Math.round(width * devicePixelRatio);
    const pixelHeight = box?.blockSize ?? Math.round(height * devicePixelRatio);
    if (pixelWidth === 0 || pixelHeight === 0) return;
    this.#size = { width, height, pixelWidth, pixelHeight };
    for (const canvas of [this.#base, this.#overlay]) {
      canvas.width = pixelWidth;
      canvas.height = pixelHeight;
    }
    this.#overlay.getContext('2d')?.scale(pixelWidth / width, pixelHeight / height);
    this.update();
    // An observer runs before the page is painted, and resizing has blanked the canvas.
    this.#paintPicture();
  }

  /** Requests a frame if anything visible has changed. */
  update(): void {
    const { device, source, overlays, look } = this.#options;
    const view = this.#view;
    const { pixelWidth: width, pixelHeight: height } = this.#size;
    if (width === 0 || view.deviceIndex !== device.index) return;
    const { axis, foldsGaps, x } = view;
    const window = { axis, foldsGaps, x, y: view[source.yField] };
    const wanted = viewportOf(window, device, source.heights(view), { width, height });
    const before = this.#request?.viewport;
    const viewport = hasSameFields(wanted, before) ? before : wanted;
    const highlighted =
      overlays.getState().highlights.find(({ search }) => search !== '')?.search ?? '';
    const request = source.request(viewport, { view, ...look(), highlighted });
    if (hasSameFields(request, this.#request)) {
      // The cursors may have moved.
      this.#schedule();
      return;
    }
    this.#request = request;
    this.#inputMs = performance.now();
    this.#stopFewer?.();
    if (before !== undefined && isZoom(before, viewport) && this.#pictureMs > SLOW_PICTURE_MS)
      this.#wantFewer(request);
    else this.#frames.want(request);
    this.#isPictureStale = true;
    this.#stopStale ??= startTimer(STALE_PAINT_DELAY_MS, () => {
      this.#stopStale = undefined;
      if (this.#isPictureStale) this.#schedule();
    });
  }

  /** Wants some of the columns of a picture, and all of them if no other picture is wanted soon. */
  #wantFewer(request: PlotRequest): void {
    const { viewport } = request;
    const every = Math.min(MOST_SKIPPED, Math.ceil(this.#pictureMs / SLOW_PICTURE_MS));
    this.#frames.want({
      ...request,
      viewport: { ...viewport, width: Math.ceil(viewport.width / every) },
    });
    const endWaiting = this.#options.idle.begin();
    const stopTimer = startTimer(STOPPED_MS, () => {
      this.#stopFewer?.();
      this.#inputMs = performance.now();
      this.#frames.want(request);
    });
    this.#stopFewer = () => {
      this.#stopFewer = undefined;
      stopTimer();
      endWaiting();
    };
  }

  /** Brings the cursor into view after it has moved, once its place is known. */
  #followCursor(): void {
    const plot = this.#plot();
    const { cursor } = this.#view;
    if (plot === undefined || (cursor !== undefined && plot.cursorX === undefined)) return;
    const followed = `${cursor} ${plot.viewport.axis}`;
    if (followed === this.#followed) return;
    this.#followed = followed;
    if (plot.cursorX !== undefined) this.navigation.bringIntoView(plot.cursorX);
  }

  #plot(): PlotOnScreen | undefined {
    const viewport = this.#request?.viewport;
    if (viewport === undefined) return undefined;
    const { width, height } = this.#size;
    const { cursor } = this.#view;
    const cursorX = cursor === undefined ? undefined : this.#crosshairs.xOf(cursor, viewport.axis);
    return { viewport, width, height, pixelRatio: this.#pixelRatio, cursorX };
  }

  #repaintAll(): void {
    this.#isPictureStale = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#animation === 0) this.#animation = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    this.#animation = 0;
    this.#followCursor();
    if (this.#isPictureStale) this.#paintPicture(true);
    this.#moveStripCursor();
    this.#hover.paint(plotStyle(this.#options.look().theme));
  }

  #paintStrip(viewport: Viewport, theme: ThemeName): void {
    this.#stripCursorX = this.#plot()?.cursorX;
    this.#strip?.paint(viewport, theme, this.#stripCursorX);
  }

  /** The cursor moves without a new picture. */
  #moveStripCursor(): void {
    const plot = this.#plot();
    if (plot !== undefined && plot.cursorX !== this.#stripCursorX)
      this.#paintStrip(plot.viewport, this.#options.look().theme);
  }

  /** Reports the time from input to pixels on the browser's performance timeline, for the bench. */
  #measureFrame(): void {
    if (this.#inputMs === undefined) return;
    if (this.#stopFewer === undefined) this.#pictureMs = performance.now() - this.#inputMs;
    performance.measure(FRAME_MEASURE, { start: this.#inputMs });
    // Observers already have it; keeping it would fill the timeline's buffer.
    performance.clearMeasures(FRAME_MEASURE);
    this.#inputMs = undefined;
  }

  /** @param isOwnTask if false, the first axes wait for the next animation frame: the page is busy showing all panels */
  #paintPicture(isOwnTask = false): void {
    const viewport = this.#request?.viewport;
    const context = this.#base.getContext('2d', { alpha: false });
    if (viewport === undefined || context === null) return;
    const { theme } = this.#options.look();
    this.#frames.paint(context, viewport, plotColors(theme).background);
    if (this.#isPictureStale && (isOwnTask || this.#hasAxes)) {
      this.#isPictureStale = false;
      this.#hasAxes = true;
      // Paint the strip before the axes: it reads its size, which would force a layout after them.
      this.#paintStrip(viewport, theme);
      const { device, overlays } = this.#options;
      drawAxes(this.#axes, viewport, this.#size, device);
      drawSteps(this.#axes.x, overlays.getState().steps, device, viewport, this.#size.width);
    }
    if (this.#frames.isCurrent) {
      this.#measureFrame();
      this.#options.onPainted();
      this.#hover.ask();
      this.#schedule();
    }
  }
}

/** A pan keeps the span but for its rounding. */
const isZoom = (from: Viewport, to: Viewport): boolean =>
  from.axis === to.axis && Math.abs((to.x1 - to.x0) / (from.x1 - from.x0) - 1) > 1e-6;

function hasSameFields<T extends object>(a: T, b: T | undefined): b is T {
  if (b === undefined) return false;
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
