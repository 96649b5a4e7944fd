import { highest } from '../base/extremes.ts';
import type { CounterName, Replay } from '../replay/types.ts';

/** Events read at once: bounds the memory, whatever the length of the trace. */
const CHUNK = 1 << 15;

/**
 * Highest value of a counter in each of `columns` equal parts of the trace's states.
 * With fewer events than columns, neighbours show the same state. `events` must be over 0.
 * Example: counters 1, 5, 2, 3 in 2 columns are 5 and 3.
 */
export function memoryCurve(
  replay: Pick<Replay, 'fillCounter'>,
  name: CounterName,
  events: number,
  columns: number,
): Float64Array {
  const curve = new Float64Array(columns);
  const chunk = new Float64Array(Math.min(CHUNK, events));
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * events) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * events) / columns));
    for (let at = from; at < to; at += chunk.length) {
      const values = chunk.subarray(0, Math.min(chunk.length, to - at));
      replay.fillCounter(name, at, values);
      curve[column] = Math.max(curve[column], highest(values));
    }
  }
  return curve;
}
