/**
 * The plot: owns the canvases and the one animation frame, and keeps React out of what moves.
 *
 * The view store says what is to be seen. Gestures write to it, a change of it makes a viewport,
 * a viewport asks for a frame; painting happens in one place, when a frame came or once a picture.
 */
import type { TimeFolds } from '../../device/model/events.ts';
import type { Crosshair, DeviceInfo } from '../../device/model/types.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { ViewState, ViewStore } from '../../state/view-store.ts';
import type { SessionApi } from '../../worker/protocol.ts';
import { plotColors, type ThemeName } from '../theme/palette.ts';
import { type AxisElements, drawAxes } from './axes.ts';
import type { BandsStore } from './bands.ts';
import { FrameLayer, releasePixels } from './frame-layer.ts';
import { listenToAxisWheel, listenToGestures } from './gestures.ts';
import type { GuidesStore } from './guides.ts';
import { PlotHover, Readout } from './plot-hover.ts';
import { type Plot, PlotNavigation } from './plot-navigation.ts';
import type { PlotFrame, PlotRequest, PlotSource } from './plot-source.ts';
import { drawSteps } from './step-marks.ts';
import { Tooltip } from './tooltip.ts';
import { plotAxisOf, toPlotX, viewportOf } from './viewport-of.ts';

export interface PlotElements {
  /** What takes the pointer; the canvases fill it. */
  readonly surface: HTMLElement;
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly axes: AxisElements;
}

export interface PlotOptions<Q extends PlotRequest, F extends PlotFrame> {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'crosshair'>;
  readonly source: PlotSource<Q, F>;
  /** Makes what goes along with the plot on a canvas of its own. */
  readonly strip?: ((host: StripHost) => PlotStrip<F> | undefined) | undefined;
  readonly view: ViewStore;
  readonly bands: BandsStore;
  readonly guides: GuidesStore;
  readonly elements: PlotElements;
  readonly tooltip: HTMLElement;
  readonly readout: HTMLElement;
  readonly theme: ThemeName;
  readonly selected: number;
  /** The first picture, and every later one, is on the canvas. */
  readonly onPainted: () => void;
  readonly onError: (error: unknown) => void;
}

/** A frame that comes sooner needs no stand-in: nobody sees a stutter that short. */
const STALE_PAINT_DELAY_MS = 24;

const FRAME_MEASURE = 'vramscope:frame';

/** With device pixels also a change of the zoom of the page is noticed; Safari has none. */
const RESIZE_BOX: ResizeObserverBoxOptions =
  'devicePixelContentBoxSize' in ResizeObserverEntry.prototype
    ? 'device-pixel-content-box'
    : 'content-box';

export class PlotController<Q extends PlotRequest = PlotRequest, F extends PlotFrame = PlotFrame> {
  readonly navigation: PlotNavigation;
  readonly #options: PlotOptions<Q, F>;
  readonly #frames: FrameLayer<Q, F>;
  readonly #hover: PlotHover;
  readonly #strip: PlotStrip<F> | undefined;
  readonly #stopListening: () => void;
  readonly #resizes: ResizeObserver;
  #theme: ThemeName;
  #selected: number;
  #size = { width: 0, height: 0, pixelWidth: 0, pixelHeight: 0 };
  #viewport: Viewport | undefined;
  #request: Q | undefined;
  #cursor: { readonly event: EventIndex; readonly x: number } | undefined;
  #animation = 0;
  #isPictureStale = false;
  #staleTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the page got the input that the awaited frame answers. */
  #inputMs: number | undefined;

  constructor(options: PlotOptions<Q, F>) {
    this.#options = options;
    this.#theme = options.theme;
    this.#selected = options.selected;
    const { source, elements, view } = options;
    this.#frames = new FrameLayer({
      source,
      linesOf: (request, frame) => source.lines(request, frame, this.#theme, this.#pixelRatio),
      onFrame: () => {
        this.#paintPicture();
        // Only the picture may tell how high it reaches: then a fitted y is another.
        this.#update(this.#view, this.#view);
      },
      onError: options.onError,
    });
    const tooltip = new Tooltip(options.tooltip);
    this.#hover = new PlotHover({
      ...options,
      tooltip,
      readout: new Readout(options.readout),
      repaint: () => this.#schedule(),
    });
    this.navigation = new PlotNavigation({
      ...options,
      plot: () => this.#plot(),
      pixelAt: (at) => this.#hover.pixelAt(at),
    });
    this.#strip = options.strip?.({
      navigation: this.navigation,
      tooltip,
      folds: options.device.folds,
      repaint: () => this.#repaintAll(),
    });
    const unsubscribe = view.subscribe((now, before) => {
      if (now.view !== before.view) this.#update(now.view, before.view);
    });
    const stopBands = options.bands.subscribe(() => this.#update(this.#view, this.#view));
    const stopGuides = options.guides.subscribe(() => {
      this.#update(this.#view, this.#view);
      this.#repaintAll();
    });
    const stopGestures = listenToGestures(elements.surface, {
      ...this.navigation.gestures,
      hover: (at) => this.#hover.setPointer(at),
      range: (range) => this.#hover.setRange(range),
    });
    const stopAxis = listenToAxisWheel(elements.axes.y, (at, factor) =>
      this.navigation.zoomY(factor, at),
    );
    this.#stopListening = () => {
      unsubscribe();
      stopBands();
      stopGuides();
      stopGestures();
      stopAxis();
    };
    this.#resizes = new ResizeObserver(([entry]) => entry !== undefined && this.#resize(entry));
    this.#resizes.observe(elements.base, { box: RESIZE_BOX });
    void this.#moveCursor(this.#view);
    this.#hover.setMark(this.#view.mark);
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

  /** The device has more to show than before. */
  refresh(): void {
    this.#update(this.#view, this.#view);
    if (this.#view.cursor === undefined) void this.#moveCursor(this.#view);
  }

  destroy(): void {
    cancelAnimationFrame(this.#animation);
    clearTimeout(this.#staleTimer);
    this.#stopListening();
    this.#resizes.disconnect();
    this.#frames.destroy();
    this.#hover.destroy();
    this.#strip?.destroy();
    const { base, overlay } = this.#options.elements;
    for (const canvas of [base, overlay]) releasePixels(canvas);
  }

  get #view(): ViewState {
    return this.#options.view.getState().view;
  }

  get #pixelRatio(): number {
    return this.#size.width === 0 ? 1 : this.#size.pixelWidth / this.#size.width;
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
    // At once: an observer runs before the page is painted, and the canvas is blank now.
    this.#paintPicture();
  }

  /** Something that shows has changed: asks for the frame of it. */
  #update(view: ViewState, before: ViewState): void {
    const { device, source } = this.#options;
    const { pixelWidth: width, pixelHeight: height } = this.#size;
    if (view.cursor !== before.cursor || plotAxisOf(view) !== plotAxisOf(before)) {
      void this.#moveCursor(view);
    }
    this.#hover.setMark(view.mark);
    if (width === 0 || view.deviceIndex !== device.index) return;
    const { axis, foldsGaps, x } = view;
    const window = { axis, foldsGaps, x, y: source.rangeY(view) };
    const wanted = viewportOf(window, device, source.heights(view), { width, height });
    const viewport = hasSameFields(wanted, this.#viewport) ? this.#viewport : wanted;
    const marked = this.#options.bands.getState().find(({ search }) => search !== '')?.search ?? '';
    const look = { view, theme: this.#theme, selected: this.#selected, marked };
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
   * The last picture, stretched, stands in for a frame that takes its time. Painting it each time
   * would keep this thread from taking the frame that is there in a few milliseconds.
   */
  #paintStaleLater(): void {
    if (this.#staleTimer !== undefined) return;
    this.#staleTimer = setTimeout(() => {
      this.#staleTimer = undefined;
      if (this.#isPictureStale) this.#schedule();
    }, STALE_PAINT_DELAY_MS);
  }

  /** Brings the pinned event into view where it is not, and its figures into the legend. */
  async #moveCursor(view: ViewState): Promise<void> {
    const { device, session } = this.#options;
    const event = view.cursor ?? device.events - 1;
    let crosshair: Crosshair;
    try {
      crosshair = await session.crosshair({ deviceIndex: device.index, event });
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

  #plot(): Plot | undefined {
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
    this.#hover.paint();
  }

  /** Input to pixels, for whoever observes the browser's performance timeline: the bench does. */
  #measureFrame(): void {
    if (this.#inputMs === undefined) return;
    performance.measure(FRAME_MEASURE, { start: this.#inputMs });
    // Observers have it; kept, it would fill the timeline's buffer.
    performance.clearMeasures(FRAME_MEASURE);
    this.#inputMs = undefined;
  }

  #paintPicture(): void {
    const viewport = this.#viewport;
    const context = this.#options.elements.base.getContext('2d', { alpha: false });
    if (viewport === undefined || context === null) return;
    const wasStale = this.#isPictureStale;
    this.#isPictureStale = false;
    this.#frames.paint(context, viewport, plotColors(this.#theme).background);
    if (wasStale) {
      // The strip first: it asks for its size, which costs a layout once the axes have changed.
      this.#strip?.paint(viewport, this.#theme, this.#frames.frame);
      const { elements, device, guides } = this.#options;
      drawAxes(elements.axes, viewport, this.#size, device.folds);
      drawSteps(elements.axes.x, guides.getState().steps, device, viewport, this.#size.width);
    }
    if (this.#frames.isCurrent) {
      this.#measureFrame();
      this.#options.onPainted();
      this.#hover.repeat();
      this.#schedule();
    }
  }
}

/** Compares field by field, so that what did not change keeps its identity. */
function hasSameFields<T extends object>(a: T, b: T | undefined): b is T {
  if (b === undefined) return false;
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** A canvas above or below the plot that shares its x axis, such as the annotations. */
export interface PlotStrip<F> {
  /** @param frame the newest picture of the plot, which may be of another viewport */
  paint(viewport: Viewport, theme: ThemeName, frame: F | undefined): void;
  destroy(): void;
}

/** What a strip gets of the plot that it belongs to. */
export interface StripHost {
  readonly navigation: PlotNavigation;
  readonly tooltip: Tooltip;
  /** Where the x axis is cut while it is 'folded'. */
  readonly folds: TimeFolds;
  /** The strip has changed. */
  readonly repaint: () => void;
}
