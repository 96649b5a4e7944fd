/** From the curves of two runs to what is drawn of them in a window of the timeline. */
import { lowerBound, type SortedNumbers, upperBound } from '../../../base/binary-search.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import type { RecordedSide } from '../../../worker/analysis/what-if-handler.ts';

/** A corner of a line of steps: `y` from `x` to the next corner. */
export type Corner = readonly [x: number, y: number];

/** Where the parts of the curves begin on an axis, and where the last one ends. */
export function partEdges({ events, timesUs }: RecordedSide, axis: TimeAxis): SortedNumbers {
  return axis === 'time' && timesUs !== undefined ? timesUs : events;
}

/**
 * The part of a curve that lies in [x0, x1], cut at both ends. Parts that were not run are left out:
 * the line ends where the run ended.
 * Example: edges 0, 10, 20 with 5 and 8 in [4, 20] give [4, 5], [10, 8], [20, 8].
 */
export function cornersIn(
  edges: SortedNumbers,
  values: Float64Array,
  x0: number,
  x1: number,
): readonly Corner[] {
  const corners: Corner[] = [];
  let end = x0;
  // Parts that have no width (several at one time) count too: their peak is as high as any.
  const from = Math.max(0, Math.min(lowerBound(edges, x0), upperBound(edges, x0) - 1));
  for (let part = from; part < values.length; part++) {
    const y = values[part] ?? Number.NaN;
    const start = edges[part] ?? x1;
    if (start > x1 || Number.isNaN(y)) break;
    corners.push([Math.max(x0, start), y]);
    end = Math.min(x1, edges[part + 1] ?? x1);
  }
  const last = corners.at(-1);
  return last === undefined ? [] : [...corners, [end, last[1]]];
}

/** The part under an x, for what is said of it; undefined outside. */
export function partAt(edges: SortedNumbers, x: number): number | undefined {
  const part = upperBound(edges, x) - 1;
  return part < 0 || part >= edges.length - 1 ? undefined : part;
}

/** Where an event lies: exact by events, by time the start of its part (under a pixel of the whole). */
export function xOfEvent(recorded: RecordedSide, axis: TimeAxis, event: number): number {
  if (axis === 'event' || recorded.timesUs === undefined) return event + 0.5;
  const part = upperBound(recorded.events, event) - 1;
  return recorded.timesUs[Math.max(0, part)] ?? 0;
}
