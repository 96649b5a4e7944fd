/**
 * Runs a plot without React: owns the canvases and the one animation frame. The view store says what to show. Gestures
 * write to it; a change of it makes a viewport; a viewport requests a frame. Painting happens in one place: when a
 * frame arrives, or once per animation frame.
 */
import { startTimer } from '../../base/task.ts';
import type { Crosshair, TimeFolds } from '../../device/model/events.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { ViewState } from '../../state/view-store.ts';
import { plotColors, plotStyle, type ThemeName } from '../theme/palette.ts';
import { axesIn, drawAxes, drawSteps, partOf } from './axes.ts';
import { releasePixels } from './canvas.ts';
import { FrameLayer } from './frame-layer.ts';
import { listenToAxisWheel, listenToGestures } from './gestures.ts';
import { type PinnedEvent, PlotHover, writeReadout } from './plot-hover.ts';
import { PlotNavigation, type PlotOnScreen } from './plot-navigation.ts';
import type { PlotContext, PlotRequest } from './plot-source.ts';
import { plotAxisOf, toPlotX, viewportOf } from './viewport-of.ts';

/** A canvas above or below the plot that shares its x axis, such as the annotations. */
export interface PlotStrip {
  paint(viewport: Viewport, theme: ThemeName): void;
  destroy(): void;
}

export interface StripHost {
  readonly navigation: PlotNavigation;
  /** Where the x axis is cut while it is 'folded'. */
  readonly folds: TimeFolds;
  readonly repaint: () => void;
}

export type MakeStrip = (host: StripHost) => PlotStrip | undefined;

export interface PlotOptions extends PlotContext {
  readonly strip: MakeStrip | undefined;
  /** Holds the surface, which receives the pointer; its canvases; and the axes. */
  readonly root: HTMLElement;
  readonly theme: ThemeName;
  readonly selected: number;
  /** Called after every picture, including the first. */
  readonly onPainted: () => void;
}

/** A frame that arrives sooner needs no stand-in: nobody notices so short a stutter. */
const STALE_PAINT_DELAY_MS = 24;

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
  readonly #hover: PlotHover;
  readonly #strip: PlotStrip | undefined;
  readonly #stopListening: readonly (() => void)[];
  readonly #resizes: ResizeObserver;
  #theme: ThemeName;
  #selected: number;
  #size = { width: 0, height: 0, pixelWidth: 0, pixelHeight: 0 };
  #viewport: Viewport | undefined;
  #request: PlotRequest | undefined;
  #cursor: PinnedEvent | undefined;
  #animation = 0;
  #isPictureStale = false;
  #stopStale: (() => void) | undefined;
  /** When the page got the input that the awaited frame answers. */
  #inputMs: number | undefined;

  constructor(options: PlotOptions) {
    this.#options = options;
    this.#theme = options.theme;
    this.#selected = options.selected;
    const { root, source, session, view, overlays } = options;
    const { index: deviceIndex } = options.device;
    const surface = partOf<HTMLElement>(root, '.plot-surface');
    this.#base = partOf(root, '.plot-picture');
    this.#overlay = partOf(root, '.plot-overlay');
    this.#axes = axesIn(root);
    this.#frames = new FrameLayer({
      source,
      recycle: (pixels) => void session.recycle({ deviceIndex, pixels }),
      linesOf: (request, frame) =>
        source.lines?.(request, frame, this.#theme, this.#pixelRatio) ?? [],
      onFrame: () => {
        this.#paintPicture();
        // Only the picture knows the height of the matches, so a fitted y may change now.
        this.#update();
      },
      onError: options.onError,
    });
    const readouts = root.closest('.view');
    this.#hover = new PlotHover({
      ...options,
      context: this.#overlay.getContext('2d'),
      readOut: (crosshair, place) => writeReadout(readouts, crosshair, place),
      repaint: () => this.#schedule(),
    });
    this.navigation = new PlotNavigation({
      ...options,
      plot: () => this.#plot(),
      pixelAt: (at) => this.#hover.pixelAt(at),
    });
    this.#strip = options.strip?.({
      navigation: this.navigation,
      folds: options.device.folds,
      repaint: () => this.#repaintAll(),
    });
    this.#stopListening = [
      view.subscribe((now, before) => {
        if (now.view !== before.view) this.#update(before.view);
      }),
      overlays.subscribe((now, before) => {
        this.#update();
        if (now.steps !== before.steps || now.limitBytes !== before.limitBytes) this.#repaintAll();
      }),
      listenToGestures(surface, this.navigation, this.#hover),
      listenToAxisWheel(this.#axes.y, this.navigation),
    ];
    this.#resizes = new ResizeObserver(([entry]) => entry !== undefined && this.#resize(entry));
    this.#resizes.observe(this.#base, { box: RESIZE_BOX });
    void this.#moveCursor();
    this.#hover.setSecondCursor(this.#view.secondCursor);
  }

  setTheme(theme: ThemeName): void {
    this.#theme = theme;
    this.#update();
  }

  setSelected(selected: number): void {
    if (this.#selected === selected) return;
    this.#selected = selected;
    this.#update();
  }

  destroy(): void {
    cancelAnimationFrame(this.#animation);
    this.#stopStale?.();
    for (const stop of this.#stopListening) stop();
    this.#resizes.disconnect();
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
    this.#update();
    // Paint at once: an observer runs before the page is painted, and resizing has blanked the canvas.
    this.#paintPicture();
  }

  /** Requests a frame if anything visible has changed. */
  #update(before: ViewState = this.#view): void {
    const { device, source, overlays } = this.#options;
    const view = this.#view;
    const { pixelWidth: width, pixelHeight: height } = this.#size;
    if (view.cursor !== before.cursor || plotAxisOf(view) !== plotAxisOf(before)) {
      void this.#moveCursor();
    }
    this.#hover.setSecondCursor(view.secondCursor);
    if (width === 0 || view.deviceIndex !== device.index) return;
    const { axis, foldsGaps, x } = view;
    const window = { axis, foldsGaps, x, y: view[source.yField] };
    const wanted = viewportOf(window, device, source.heights(view), { width, height });
    const viewport = hasSameFields(wanted, this.#viewport) ? this.#viewport : wanted;
    const highlighted =
      overlays.getState().highlights.find(({ search }) => search !== '')?.search ?? '';
    const look = { view, theme: this.#theme, selected: this.#selected, highlighted };
    const request = source.request(viewport, look);
    if (hasSameFields(request, this.#request)) return;
    this.#viewport = request.viewport;
    this.#request = request;
    this.#inputMs = performance.now();
    this.#hover.setPlot({ viewport: request.viewport, size: this.#size, frames: this.#frames });
    this.#frames.want(request);
    this.#isPictureStale = true;
    this.#paintStaleLater();
  }

  /**
   * Stretches the last picture while a slow frame is awaited. Not at once: painting it would delay a frame that arrives
   * within a few milliseconds.
   */
  #paintStaleLater(): void {
    this.#stopStale ??= startTimer(STALE_PAINT_DELAY_MS, () => {
      this.#stopStale = undefined;
      if (this.#isPictureStale) this.#schedule();
    });
  }

  /** Shows the figures of the pinned event, and brings it into view. */
  async #moveCursor(): Promise<void> {
    const { device, session } = this.#options;
    const view = this.#view;
    const event = view.cursor ?? device.events - 1;
    let crosshair: Crosshair;
    try {
      crosshair = await session.query('crosshair', { deviceIndex: device.index, event });
    } catch (error) {
      this.#options.onError(error);
      return;
    }
    if (this.#view.cursor !== view.cursor || plotAxisOf(this.#view) !== plotAxisOf(view)) return;
    const axis = plotAxisOf(view);
    const x = axis === 'event' ? event : toPlotX(device, axis, crosshair.timeUs);
    this.#cursor = view.cursor === undefined ? undefined : { event, x };
    this.#hover.setRest(crosshair, this.#cursor);
    if (this.#cursor !== undefined) this.navigation.bringIntoView(x);
  }

  #plot(): PlotOnScreen | undefined {
    const viewport = this.#viewport;
    if (viewport === undefined) return undefined;
    const { width, height } = this.#size;
    return { viewport, width, height, pixelRatio: this.#pixelRatio, cursorX: this.#cursor?.x };
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
    if (this.#isPictureStale) this.#paintPicture();
    this.#hover.paint(plotStyle(this.#theme));
  }

  /** Reports the time from input to pixels on the browser's performance timeline, for the bench. */
  #measureFrame(): void {
    if (this.#inputMs === undefined) return;
    performance.measure(FRAME_MEASURE, { start: this.#inputMs });
    // Observers already have it; keeping it would fill the timeline's buffer.
    performance.clearMeasures(FRAME_MEASURE);
    this.#inputMs = undefined;
  }

  #paintPicture(): void {
    const viewport = this.#viewport;
    const context = this.#base.getContext('2d', { alpha: false });
    if (viewport === undefined || context === null) return;
    const wasStale = this.#isPictureStale;
    this.#isPictureStale = false;
    this.#frames.paint(context, viewport, plotColors(this.#theme).background);
    if (wasStale) {
      // Paint the strip before the axes: it reads its size, which would force a layout after them.
      this.#strip?.paint(viewport, this.#theme);
      const { device, overlays } = this.#options;
      drawAxes(this.#axes, viewport, this.#size, device.folds);
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

function hasSameFields<T extends object>(a: T, b: T | undefined): b is T {
  if (b === undefined) return false;
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
