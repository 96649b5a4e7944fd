/**
 * Moving viewports: fit, pan, zoom, clamp, snap. Pure; x in events or microseconds, y in bytes.
 *
 * Snapping keeps the picture steady. Columns lie on a grid anchored at x = 0 whose width has at most 10 significant
 * bits, such as 1,304 = 652 * 2 or 0.375 = 3 * 2^-3. Then every edge, column * width, is exact in floating point, and
 * panning by whole columns gives bit-identical columns.
 */
import type { PlotAxis, Viewport } from './types.ts';

/** The trace's size: x from 0 to x, y from 0 to y. */
export interface Extent {
  readonly x: number;
  readonly y: number;
}

/** The closest zoom, in events or microseconds across and bytes from bottom to top. */
const MIN_SPAN_X = 4;
const MIN_SPAN_Y = 1024;
const GRID_BITS = 10;
/** Room above the highest peak. */
const HEADROOM = 1.05;

/**
 * Where the x axis ends; `durationUs` is folded for a folded axis. By time, the last event's state is held for 1 us so
 * that it is visible.
 */
export function axisExtent(axis: PlotAxis, eventCount: number, durationUs: number): number {
  return axis === 'event' ? Math.max(1, eventCount) : durationUs + 1;
}

/** The whole trace, with a little room above. */
export function fitViewport(
  axis: PlotAxis,
  extent: Extent,
  width: number,
  height: number,
): Viewport {
  const y1 = Math.max(MIN_SPAN_Y, extent.y * HEADROOM);
  return snapToColumns({ axis, x0: 0, x1: extent.x, y0: 0, y1, width, height }, extent);
}

/**
 * Snaps the column width to the grid's nearest value (the next wider one if the whole trace is shown) and x0 to a
 * column edge; the last column may extend beyond the trace. Widths change by at most 0.1 %, so a smaller zoom may
 * change nothing. Snapping a snapped viewport changes nothing.
 */
export function snapToColumns(view: Viewport, extent: Extent): Viewport {
  const span = view.x1 - view.x0;
  const toWhole = span >= extent.x ? ceilLeniently : Math.round;
  const unit = gridUnit(span / view.width);
  const columnWidth = toWhole(span / view.width / unit) * unit;
  const columns = ceilLeniently(extent.x / columnWidth);
  const last = Math.max(0, columns - view.width);
  const wanted = Math.round(view.x0 / columnWidth);
  const first = view.x1 >= extent.x ? last : Math.max(0, Math.min(wanted, last));
  return { ...view, x0: first * columnWidth, x1: (first + view.width) * columnWidth };
}

/** Moves by whole columns and rows, stopping at the ends; positive is towards later events and more bytes. */
export function panBy(view: Viewport, columns: number, rows: number, extent: Extent): Viewport {
  const dx = (Math.round(columns) * (view.x1 - view.x0)) / view.width;
  const dy = (Math.round(rows) * (view.y1 - view.y0)) / view.height;
  const [y0, y1] = clampY(view.y0 + dy, view.y1 + dy, extent);
  return snapToColumns({ ...view, x0: view.x0 + dx, x1: view.x1 + dx, y0, y1 }, extent);
}

/**
 * Zooms x around the pointer, which is 0 at the left and 1 at the right edge; factor 2 shows half as much. The result
 * is snapped: within a column of exact.
 */
export function zoomXAt(view: Viewport, pointer: number, factor: number, extent: Extent): Viewport {
  const at = view.x0 + pointer * (view.x1 - view.x0);
  const span = Math.min(extent.x, Math.max(MIN_SPAN_X, (view.x1 - view.x0) / factor));
  const x0 = at - pointer * span;
  return snapToColumns({ ...view, x0, x1: x0 + span }, extent);
}

/** Zooms y likewise; `pointer` is 0 at the bottom and 1 at the top edge. */
export function zoomYAt(view: Viewport, pointer: number, factor: number, extent: Extent): Viewport {
  const at = view.y0 + pointer * (view.y1 - view.y0);
  const span = Math.max(MIN_SPAN_Y, (view.y1 - view.y0) / factor);
  const from = at - pointer * span;
  const [y0, y1] = clampY(from, from + span, extent);
  return { ...view, y0, y1 };
}

/** Shows x between `from` and `to`, in either order, widened to the minimum span if needed. */
export function zoomToRange(view: Viewport, from: number, to: number, extent: Extent): Viewport {
  const center = (from + to) / 2;
  const span = Math.min(extent.x, Math.max(MIN_SPAN_X, Math.abs(to - from)));
  const x0 = center - span / 2;
  return snapToColumns({ ...view, x0, x1: x0 + span }, extent);
}

/**
 * Moves a viewport into the trace, with spans between the minimum and the whole trace. Non-numeric values, as from a
 * hand-written URL, give the whole axis.
 */
export function clampViewport(view: Viewport, extent: Extent): Viewport {
  const [x0, x1] = clampRange(view.x0, view.x1, extent.x, MIN_SPAN_X);
  const [y0, y1] = clampY(view.y0, view.y1, extent);
  return { ...view, x0, x1, y0, y1 };
}

function clampY(y0: number, y1: number, extent: Extent): [number, number] {
  return clampRange(y0, y1, Math.max(MIN_SPAN_Y, extent.y * HEADROOM), MIN_SPAN_Y);
}

function clampRange(from: number, to: number, max: number, least: number): [number, number] {
  if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) return [0, max];
  const span = Math.min(max, Math.max(Math.min(least, max), to - from));
  const start = Math.max(0, Math.min(from, max - span));
  return [start, start + span];
}

/** Step of the grid of widths around `width`: widths are 512 to 1,024 of these. */
function gridUnit(width: number): number {
  return 2 ** (Math.floor(Math.log2(width)) - GRID_BITS + 1);
}

/** Rounds up, tolerating an error in the last bits: (0.1 + 0.2) * 10 is 3, not 4. */
function ceilLeniently(value: number): number {
  return Math.ceil(value - 1e-6);
}
