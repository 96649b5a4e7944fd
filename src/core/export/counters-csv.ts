import { csvField, csvLine, csvNumber } from '../base/csv.ts';
import { crosshairAt } from '../query/crosshair.ts';
import type { DeviceContext } from '../query/device-context.ts';

/** Rows in one piece: a few milliseconds of work. */
const PIECE = 5000;

/**
 * The five counters after each event, as CSV in pieces; the first line names the columns. Row -1 is
 * the state before the trace.
 */
export function* countersCsv(context: DeviceContext): Generator<string> {
  const { replay, trace } = context;
  const names = [
    'requestedBytes',
    'allocatedBytes',
    'activeBytes',
    'reservedBytes',
    'inactiveSplitBytes',
  ] as const;
  yield csvLine([
    'event',
    'time_us',
    'action',
    'requested_bytes',
    'allocated_bytes',
    'active_bytes',
    'reserved_bytes',
    'inactive_split_bytes',
  ]);
  yield csvLine(['-1', '', '', ...names.map((name) => csvNumber(replay.start[name]))]);
  const columns = names.map(() => new Float64Array(PIECE));
  for (let from = 0; from < trace.events.length; from += PIECE) {
    const count = Math.min(PIECE, trace.events.length - from);
    names.forEach((name, i) => {
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
