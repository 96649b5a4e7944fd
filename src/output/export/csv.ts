/** Allocations and counters as CSV files. */

import { COUNTER_NAMES, type CounterName } from '../../allocator/replay/types.ts';
import { csvField, csvLine, csvNumber } from '../../base/csv.ts';
import { allocationRows } from '../../device/lists/allocation-rows.ts';
import { ALLOCATION_COLUMNS, type Cell } from '../../device/lists/rows-text.ts';
import { earlierUses } from '../../device/model/allocation-details.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { crosshairAt } from '../../device/model/events.ts';

/** Rows in one piece: a few milliseconds of work. */
const ALLOCATIONS_A_PIECE = 2000;
const EVENTS_A_PIECE = 5000;

/** All allocations in order of their start, as CSV in pieces; states are those at the end. */
export function* allocationsCsv(context: DeviceModel): Generator<string> {
  const columns = Object.entries(ALLOCATION_COLUMNS);
  yield csvLine(columns.map(([name]) => name));
  const { allocations } = context.replay;
  const earlier = earlierUses(allocations);
  for (let from = 0; from < allocations.length; from += ALLOCATIONS_A_PIECE) {
    const ids = Int32Array.from(
      { length: Math.min(ALLOCATIONS_A_PIECE, allocations.length - from) },
      (_, i) => from + i,
    );
    const rows = allocationRows(context, earlier, ids, undefined);
    yield rows.map((row) => csvLine(columns.map(([, of]) => text(of(row))))).join('');
  }
}

function text(cell: Cell): string {
  if (cell === undefined) return '';
  return typeof cell === 'number' ? csvNumber(cell) : csvField(cell);
}

/**
 * The five counters after each event, as CSV in pieces; the first line names the columns. Row -1 is
 * the state before the trace.
 */
export function* countersCsv(context: DeviceModel): Generator<string> {
  const { replay, trace } = context;
  yield csvLine(['event', 'time_us', 'action', ...COUNTER_NAMES.map(columnName)]);
  yield csvLine(['-1', '', '', ...COUNTER_NAMES.map((name) => csvNumber(replay.start[name]))]);
  const columns = COUNTER_NAMES.map(() => new Float64Array(EVENTS_A_PIECE));
  for (let from = 0; from < trace.events.length; from += EVENTS_A_PIECE) {
    const count = Math.min(EVENTS_A_PIECE, trace.events.length - from);
    COUNTER_NAMES.forEach((name, i) => {
      replay.fillCounter(name, from, columns[i].subarray(0, count));
    });
    let text = '';
    for (let i = 0; i < count; i++) {
      const { action, timeUs } = crosshairAt(context, from + i);
      const values = columns.map((column) => csvNumber(column[i]));
      text += csvLine([String(from + i), csvNumber(timeUs), csvField(action), ...values]);
    }
    yield text;
  }
}

/** inactiveSplitBytes is the column inactive_split_bytes. */
function columnName(name: CounterName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
