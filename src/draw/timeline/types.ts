/**
 * Viewports and frames: the timeline's input, and the resulting pixels and numbers.
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

/** The axis of a plot. 'folded': time with idle gaps shortened, x as computed in src/device/model/events.ts. */
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

/** What the colors of allocations stand for, see colorings.ts. */
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
  /** One color per class; classes are 0 to classes.length - 1. */
  readonly classes: Uint32Array;
  readonly background: number;
  /** Blocks whose free was requested but not completed. */
  readonly pending: number;
  /** Pixels where every allocation is thinner than a pixel and their classes differ. */
  readonly thin: number;
}

/** A counter's highest value in each column (NaN outside the trace). */
export type CounterLines = { readonly [K in CounterName]?: Float64Array };

export interface TimelineFrame {
  readonly viewport: Viewport;
  /** Row-major RGBA, width * height, row 0 at the top. */
  readonly pixels: Uint32Array;
  /** The event whose state each column shows: the one with the most active bytes; -1 outside the trace. */
  readonly states: Int32Array;
  readonly lines: CounterLines;
  /** Highest top of the stack over the whole trace, which a fitted y axis reaches. */
  readonly stackPeakBytes: number;
}
