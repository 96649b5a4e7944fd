import { csvField, csvLine, csvNumber } from '../base/csv.ts';
import { crosshairAt } from '../device/crosshair.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { COUNTER_NAMES, type CounterName } from '../replay/types.ts';

/** Rows in one piece: a few milliseconds of work. */
const PIECE = 5000;

/**
 * The five counters after each event, as CSV in pieces; the first line names the columns. Row -1 is
 * the state before the trace.
 */
export function* countersCsv(context: DeviceContext): Generator<string> {
  const { replay, trace } = context;
  yield csvLine(['event', 'time_us', 'action', ...COUNTER_NAMES.map(columnName)]);
  yield csvLine(['-1', '', '', ...COUNTER_NAMES.map((name) => csvNumber(replay.start[name]))]);
  const columns = COUNTER_NAMES.map(() => new Float64Array(PIECE));
  for (let from = 0; from < trace.events.length; from += PIECE) {
    const count = Math.min(PIECE, trace.events.length - from);
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
