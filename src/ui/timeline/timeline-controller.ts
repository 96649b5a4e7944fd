/**
 * The plot: owns the canvases and the one animation frame, and keeps React out of what moves.
 *
 * The view store says what is to be seen. Gestures write to it, a change of it makes a viewport,
 * a viewport asks for a frame; painting happens in one place, when a frame came or once a picture.
 */
import type { AnnotationSpan, Crosshair, DeviceInfo } from '../../core/query/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { Viewport } from '../../core/timeline/types.ts';
import type { FrameRequest, SessionApi } from '../../engine/protocol.ts';
import type { ViewState, ViewStore } from '../../state/view-store.ts';
import { paletteFor, plotColors, type ThemeName, toAbgr } from '../theme/palette.ts';
import { dashOf, lineColor, plotStyle } from '../theme/plot-style.ts';
import { type AxisElements, drawAxes } from './axes.ts';
import { FrameLayer } from './frame-layer.ts';
import { listenToAxisWheel, listenToGestures } from './gestures.ts';
import { LaneStrip } from './lane-strip.ts';
import { PlotHover } from './plot-hover.ts';
import { type Plot, PlotNavigation } from './plot-navigation.ts';
import { Readout } from './readout.ts';
import { Tooltip } from './tooltip.ts';
import { viewportOf } from './viewport-of.ts';

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

/** A frame that is there sooner needs no stand-in; a person sees no stutter up to here. */
const PATIENCE_MS = 24;

const FRAME_MEASURE = 'vramscope:frame';

/** With device pixels also a change of the zoom of the page is noticed; Safari has none. */
const RESIZE_BOX: ResizeObserverBoxOptions =
  'devicePixelContentBoxSize' in ResizeObserverEntry.prototype
    ? 'device-pixel-content-box'
    : 'content-box';

export class TimelineController {
  readonly navigation: PlotNavigation;
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
  #cursor: { readonly event: EventIndex; readonly x: number } | undefined;
  #animation = 0;
  #isPictureStale = false;
  #staleTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the page got the input that the awaited frame answers. */
  #inputMs: number | undefined;

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
      onZoomTo: (span) => this.navigation.zoomToSpan(span),
      repaint: () => this.#repaintAll(),
    });
    this.navigation = new PlotNavigation({
      ...options,
      plot: () => this.#plot(),
      hitRequestAt: (at) => this.#hover.hitRequestAt(at),
    });
    const unsubscribe = view.subscribe((now, before) => {
      if (now.view !== before.view) this.#update(now.view, before.view);
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
      stopGestures();
      stopAxis();
    };
    this.#resizes = new ResizeObserver(([entry]) => entry !== undefined && this.#resize(entry));
    this.#resizes.observe(elements.base, { box: RESIZE_BOX });
    void this.#moveCursor(view.getState().view);
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
    this.#repaintAll();
  }

  destroy(): void {
    cancelAnimationFrame(this.#animation);
    clearTimeout(this.#staleTimer);
    this.#stopListening();
    this.#resizes.disconnect();
    this.#frames.destroy();
    this.#hover.destroy();
    this.#lanes.destroy();
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
    const { device } = this.#options;
    const { pixelWidth: width, pixelHeight: height } = this.#size;
    if (view.cursor !== before.cursor || view.axis !== before.axis) {
      void this.#moveCursor(view);
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
    }, PATIENCE_MS);
  }

  /** Brings the pinned event into view where it is not, and its figures into the legend. */
  async #moveCursor(view: ViewState): Promise<void> {
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
    // Observers were told; kept, they would fill the timeline's buffer.
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
      // Lanes first: they ask for their size, which costs a layout once the axes have changed.
      this.#lanes.paint(viewport, this.#theme);
      drawAxes(this.#options.elements.axes, viewport, this.#size);
    }
    if (this.#frames.isCurrent) {
      this.#measureFrame();
      this.#options.onPainted();
      this.#hover.repeat();
      this.#schedule();
    }
  }
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
