/**
 * What a view supplies to make a plot: its pictures, what lies under a pixel, how far y reaches. All plots share the
 * rest: axes, gestures, keys, markers, cursor and the window in x. y is in bytes from the bottom: of a stack, or of
 * addresses packed together.
 */
import { createContext, useContext } from 'react';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { HighlightStyle } from '../../analysis/findings/types.ts';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import type { TimelineFrame, Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { ViewState, ViewStore } from '../../state/view-store.ts';
import type { PixelInfo, PixelRequest, SessionApi } from '../../worker/protocol.ts';
import type { ThemeName } from '../theme/palette.ts';
import type { LineStyle } from './line-raster.ts';
import type { TooltipContent } from './tooltip.ts';

/** All that a picture depends on besides the viewport. */
export interface PlotLook {
  readonly view: ViewState;
  readonly theme: ThemeName;
  /** Pinned allocation; -1 for none. */
  readonly selected: number;
  /** The search for the highlighted blocks, see Highlight; '' for none. */
  readonly highlighted: string;
}

/** Requests one picture. Requests with equal fields mean the same picture. */
export interface PlotRequest {
  readonly viewport: Viewport;
}

export type PlotFrame = Pick<TimelineFrame, 'viewport' | 'pixels' | 'states'>;

/** A line drawn into the picture: one value per column, NaN for none. */
export interface PlotLine {
  readonly values: Float64Array;
  readonly style: LineStyle;
}

export interface PlotHit {
  readonly bottomBytes: number;
  readonly topBytes: number;
  readonly content: TooltipContent;
  /** The allocation that a click here pins; undefined for none. */
  readonly selection: string | undefined;
}

export interface PlotHeights {
  /** Highest y that the user can pan to. */
  readonly reachBytes: number;
  /** Highest y shown by 'fit'. */
  readonly fittedBytes: number;
}

export interface PlotSource<Q extends PlotRequest = PlotRequest, F extends PlotFrame = PlotFrame> {
  heights(view: ViewState): PlotHeights;
  /** The view's field for the visible range of y. */
  readonly yField: 'y' | 'addresses';
  request(viewport: Viewport, look: PlotLook): Q;
  frame(request: Q, signal: AbortSignal): Promise<F>;
  lines?(request: Q, frame: F, theme: ThemeName, pixelRatio: number): readonly PlotLine[];
  /** What the process could reserve, if known and y is reserved memory: drawn as a line. */
  limitBytes?(): number | undefined;
  heightText(bytes: number): string;
  hit(pixel: PixelRequest): Promise<PixelInfo<PlotHit>>;
  /** What Enter pins at a state; undefined for nothing. */
  newestAt(state: EventIndex): Promise<PixelRequest | undefined>;
  /** A click or key pinned what is at this pixel; undefined when unpinned. */
  pinned?(pixel: PixelRequest | undefined, hit?: PlotHit): void;
}

export interface PlotContext {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'query' | 'recycle'>;
  readonly source: PlotSource;
  readonly view: ViewStore;
  readonly overlays: OverlayStore;
  readonly onError: (error: unknown) => void;
}

export interface Highlight {
  /** Its first event, and one past its last. */
  readonly fromEvent: EventIndex;
  readonly toEvent: EventIndex;
  readonly style: HighlightStyle;
  /** A word or two; '' for none. Labels that would overlap are left out. */
  readonly label: string;
  /** The search for the finding's blocks, which the timeline highlights. '' for none. */
  readonly search: string;
  /** Drawn faintly because the user did not select it. */
  readonly isLight: boolean;
}

/** What the analysis draws over every plot. The verdict and findings panels fill the store; plots read it. */
export interface Overlays {
  readonly highlights: readonly Highlight[];
  readonly limitBytes: number | undefined;
  readonly steps: StepMarks | undefined;
}

export type OverlayStore = StoreApi<Overlays>;

export const createOverlayStore = (): OverlayStore =>
  createStore<Overlays>(() => ({ highlights: [], limitBytes: undefined, steps: undefined }));

/** One store serves the page; a test can provide its own. */
export const OverlaysContext = createContext(createOverlayStore());

export const useOverlayStore = (): OverlayStore => useContext(OverlaysContext);
