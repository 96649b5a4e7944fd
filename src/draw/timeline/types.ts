/**
 * Viewports and frames: what the timeline is asked, and the pixels and numbers it answers.
 *
 *        x0                      x1        x: events or microseconds (see TimeAxis)
 *   y1   ┌───────────────────────┐         y: bytes, 0 at the bottom
 *        │  pixels, width x      │         column c covers x0 + c * (x1 - x0) / width to the next
 *   y0   └───────────────────────┘
 */
import type { CounterName } from '../../allocator/replay/types.ts';

/** 'event': x is an event index, "state t" spans t to t + 1. 'time': microseconds since the first event. */
export const TIME_AXES = ['event', 'time'] as const;
export type TimeAxis = (typeof TIME_AXES)[number];

/** Of a picture. 'folded': time with its idle gaps cut short, x as src/device/model/events.ts places it. */
export type PlotAxis = TimeAxis | 'folded';

export interface Viewport {
  readonly axis: PlotAxis;
  readonly x0: number;
  readonly x1: number;
  /** Bytes at the bottom and at the top edge. */
  readonly y0: number;
  readonly y1: number;
  /** Device pixels. */
  readonly width: number;
  readonly height: number;
}

/** What the colors of allocations tell apart, see colorings.ts. */
export const COLORINGS = [
  'class',
  'stack',
  'site',
  'size',
  'stream',
  'pool',
  'phase',
  'category',
  'compile',
] as const;
export type ColorBy = (typeof COLORINGS)[number];

/** Colors as 0xAABBGGRR, the byte order of ImageData on little-endian machines. */
export interface Palette {
  /** One color a class; classes are 0 to classes.length - 1. */
  readonly classes: Uint32Array;
  readonly background: number;
  /** Blocks whose free was requested but not completed. */
  readonly pending: number;
  /** Pixels where every allocation is thinner than a pixel and they differ in class. */
  readonly thin: number;
}

/** Highest value of one counter in each column (NaN where the column lies outside the trace). */
export type CounterLines = { readonly [K in CounterName]?: Float64Array };

export interface TimelineFrame {
  readonly viewport: Viewport;
  /** Row-major RGBA, width * height, row 0 on top. */
  readonly pixels: Uint32Array;
  /** For each column the event whose state is drawn: the one with most active bytes in it; -1 outside. */
  readonly states: Int32Array;
  readonly lines: CounterLines;
  /** Highest top of the stack over the whole trace: what a fitted y reaches to. */
  readonly stackPeakBytes: number;
}
