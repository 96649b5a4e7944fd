/**
 * From a viewport's x axis to the events of each pixel column, and the counters' highest and lowest values there: for
 * lines, drawn states and the minimap.
 *
 * A column edge is x0 + c * columnWidth. On a snapped viewport (see viewport.ts) this is exact in floating point, so a
 * panned frame has exactly the columns of a fresh one. Columns outside the trace have first = last = -1.
 */

import type { CounterName } from '../../allocator/replay/types.ts';
import { foldTime, unfoldTime } from '../../device/model/events.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { SampledTimes, TimelineIndex } from './timeline-index.ts';
import type { PlotAxis, Viewport } from './types.ts';
import { axisExtent } from './viewport.ts';

/** The states first[c] to last[c], inclusive, hold somewhere in column c. */
type ColumnRanges = ReturnType<typeof emptyRanges>;

/** The part of a viewport that decides which events a column covers. */
export type ColumnAxis = Pick<Viewport, 'axis' | 'x0' | 'x1' | 'width'>;

/**
 * Ranges of all columns.
 * @throws RangeError for a time axis if the trace has no times
 */
export function columnRanges(index: TimelineIndex, view: ColumnAxis): ColumnRanges {
  if (view.axis === 'event') return statesByEvent(index.eventCount, view.x0, view.x1, view.width);
  if (index.times === undefined) throw new RangeError('This trace has no times to draw by');
  const { times } = index;
  if (view.axis === 'time') return statesByTime(times, index.eventCount, view, (x) => x);
  const { folds } = times;
  return statesByTime(times, index.eventCount, view, (x) => unfoldTime(folds, x));
}

/** State t spans x from t to t + 1. Example: 4 columns over x 0 to 6 cover events 0-1, 1-2, 3-4, 4-5. */
function statesByEvent(eventCount: number, x0: number, x1: number, width: number): ColumnRanges {
  const ranges = emptyRanges(width);
  const columnWidth = (x1 - x0) / width;
  for (let column = 0; column < width; column++) {
    const left = x0 + column * columnWidth;
    const right = x0 + (column + 1) * columnWidth;
    if (right <= 0 || left >= eventCount) continue;
    ranges.first[column] = Math.max(0, Math.floor(left));
    ranges.last[column] = Math.min(eventCount, Math.ceil(right)) - 1;
  }
  return ranges;
}

/**
 * A column holds the events at left <= time < right and, unless an event happens exactly at `left`, the state left by
 * the last event before it. The trace ends 1 us after its last event.
 */
function statesByTime(
  times: SampledTimes,
  eventCount: number,
  { x0, x1, width }: ColumnAxis,
  timeAt: (x: number) => number,
): ColumnRanges {
  const ranges = emptyRanges(width);
  const columnWidth = (x1 - x0) / width;
  let before: EventIndex = times.countBefore(timeAt(x0));
  for (let column = 0; column < width; column++) {
    const left = timeAt(x0 + column * columnWidth);
    const right = timeAt(x0 + (column + 1) * columnWidth);
    const beforeRight = Math.max(before, times.countBefore(right));
    if (right > 0 && left < times.durationUs + 1 && eventCount > 0) {
      const carriedIn = before === eventCount || times.of(before) > left;
      const first = Math.max(0, carriedIn ? before - 1 : before);
      ranges.first[column] = first;
      ranges.last[column] = Math.max(first, beforeRight - 1);
    }
    before = beforeRight;
  }
  return ranges;
}

function emptyRanges(width: number) {
  return { width, first: new Int32Array(width).fill(-1), last: new Int32Array(width).fill(-1) };
}

/** Calls `read` for the columns inside the trace, with their first and last state. */
function eachColumn(
  { first, last, width }: ColumnRanges,
  read: (column: number, first: EventIndex, last: EventIndex) => void,
): void {
  for (let column = 0; column < width; column++) {
    if (first[column] >= 0) read(column, first[column], last[column]);
  }
}

const unknown = ({ width }: ColumnRanges) => new Float64Array(width).fill(Number.NaN);

/** A counter's highest value in each column; NaN outside the trace. No peak is lost at any zoom. */
function counterColumns(
  index: TimelineIndex,
  name: CounterName,
  ranges: ColumnRanges,
): Float64Array {
  const blocks = index.counter(name);
  const out = unknown(ranges);
  eachColumn(ranges, (column, first, last) => {
    out[column] = blocks.highest(first, last);
  });
  return out;
}

/**
 * The active counter per column: the state that the raster draws (the first event with the most active bytes, -1
 * outside the trace), and the column's maximum and minimum.
 */
export function drawnStates(index: TimelineIndex, ranges: ColumnRanges) {
  const blocks = index.counter('activeBytes');
  const states = new Int32Array(ranges.width).fill(-1);
  const maxBytes = unknown(ranges);
  const minBytes = unknown(ranges);
  eachColumn(ranges, (column, first, last) => {
    const found = blocks.scan(first, last);
    states[column] = found.argmax;
    maxBytes[column] = found.max;
    minBytes[column] = found.min;
  });
  return { states, maxBytes, minBytes };
}

/** Only the states of {@link drawnStates}, which is cheaper. */
export function highestStates(index: TimelineIndex, ranges: ColumnRanges): Int32Array {
  const blocks = index.counter('activeBytes');
  const states = new Int32Array(ranges.width).fill(-1);
  eachColumn(ranges, (column, first, last) => {
    states[column] = blocks.highestAt(first, last);
  });
  return states;
}

/** Lines of counters drawn over the picture; the picture itself already shows active bytes. */
export function counterLines(
  index: TimelineIndex,
  names: readonly CounterName[],
  ranges: ColumnRanges,
  { maxBytes }: { readonly maxBytes: Float64Array },
): { readonly [K in CounterName]?: Float64Array } {
  return Object.fromEntries(
    names.map((name) => [
      name,
      name === 'activeBytes' ? maxBytes : counterColumns(index, name, ranges),
    ]),
  );
}

/** A counter over the whole trace in `width` columns, for the minimap. */
export function counterOverview(
  index: TimelineIndex,
  name: CounterName,
  axis: PlotAxis,
  width: number,
): Float64Array {
  const { times, eventCount } = index;
  const durationUs = times?.durationUs ?? 0;
  const isFolded = axis === 'folded' && times !== undefined;
  const x1 = axisExtent(
    axis,
    eventCount,
    isFolded ? foldTime(times.folds, durationUs) : durationUs,
  );
  return counterColumns(index, name, columnRanges(index, { axis, x0: 0, x1, width }));
}
