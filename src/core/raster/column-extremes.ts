/** Highest and lowest values of the counters in each pixel column: lines, drawn states, minimap. */
import type { CounterName } from '../replay/types.ts';
import { type ColumnRanges, columnRanges } from './columns.ts';
import type { TimelineIndex } from './timeline-index.ts';
import type { TimeAxis } from './types.ts';
import { axisExtent } from './viewport.ts';

/** Highest value of a counter in each column; NaN outside the trace. No peak is lost at any zoom. */
export function counterColumns(
  index: TimelineIndex,
  name: CounterName,
  ranges: ColumnRanges,
): Float64Array {
  const blocks = index.counter(name);
  const out = new Float64Array(ranges.width).fill(NaN);
  for (let column = 0; column < ranges.width; column++) {
    const first = ranges.first[column];
    if (first >= 0) out[column] = blocks.highest(first, ranges.last[column]);
  }
  return out;
}

/** The active counter in each column: what the raster draws, and how low it falls beside that. */
export interface DrawnStates {
  /** First event with most active bytes; -1 outside the trace. */
  readonly states: Int32Array;
  readonly maxBytes: Float64Array;
  readonly minBytes: Float64Array;
}

export function drawnStates(index: TimelineIndex, ranges: ColumnRanges): DrawnStates {
  const blocks = index.counter('activeBytes');
  const states = new Int32Array(ranges.width).fill(-1);
  const maxBytes = new Float64Array(ranges.width).fill(NaN);
  const minBytes = new Float64Array(ranges.width).fill(NaN);
  for (let column = 0; column < ranges.width; column++) {
    const first = ranges.first[column];
    if (first < 0) continue;
    const found = blocks.scan(first, ranges.last[column]);
    states[column] = found.argmax;
    maxBytes[column] = found.max;
    minBytes[column] = found.min;
  }
  return { states, maxBytes, minBytes };
}

/** The states of {@link drawnStates} alone, which is cheaper. */
export function highestStates(
  index: TimelineIndex,
  { width, first, last }: ColumnRanges,
): Int32Array {
  const blocks = index.counter('activeBytes');
  const states = new Int32Array(width).fill(-1);
  for (let column = 0; column < width; column++) {
    if (first[column] >= 0) states[column] = blocks.highestAt(first[column], last[column]);
  }
  return states;
}

/** A counter over the whole trace in `width` columns, for the minimap. */
export function counterOverview(
  index: TimelineIndex,
  name: CounterName,
  axis: TimeAxis,
  width: number,
): Float64Array {
  const x1 = axisExtent(axis, index.eventCount, index.times?.durationUs ?? 0);
  return counterColumns(index, name, columnRanges(index, { axis, x0: 0, x1, width }));
}
