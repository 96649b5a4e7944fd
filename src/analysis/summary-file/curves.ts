/** Allocated and reserved bytes over a whole recording in a few hundred points, each the maximum of its interval. */

import type { CounterName } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { RankSummary } from './types.ts';

/** Number of events whose counters are filled at a time. */
const CHUNK = 1 << 14;

export type CurveSource = Pick<DeviceModel, 'replay' | 'trace'>;

/**
 * `points` equal intervals of time, or of events if the file has no times. An interval without events has the value
 * with which the one before it ended. Empty without events.
 */
export function curveOf(source: CurveSource, points: number): RankSummary['curve'] {
  const { timeUs, length } = source.trace.events;
  const spanUs = timeUs === undefined || length === 0 ? 0 : timeUs[length - 1] - timeUs[0];
  const unit = timeUs !== undefined && spanUs > 0 ? 'time' : 'event';
  const count = Math.min(points, length);
  const lasts = Int32Array.from({ length: count }, (_, i) => {
    const share = (i + 1) / count;
    if (i === count - 1) return length - 1;
    if (unit === 'event' || timeUs === undefined) return Math.floor(length * share) - 1;
    return upperBound(timeUs, timeUs[0] + spanUs * share) - 1;
  });
  return { unit, ...highestUpTo(source, -1, lasts) };
}

/** `bounds` as in StepSequence. Returns at most `points` points, each of equally many steps. */
export function stepCurve(source: CurveSource, bounds: Int32Array, points: number) {
  const steps = bounds.length - 1;
  const stepsPerPoint = Math.max(1, Math.ceil(steps / points));
  const count = Math.ceil(steps / stepsPerPoint);
  const lasts = Int32Array.from(
    { length: count },
    (_, i) => bounds[Math.min(steps, (i + 1) * stepsPerPoint)],
  );
  return {
    stepsPerPoint,
    ...highestUpTo(source, bounds[0], lasts),
    lastEvents: Array.from(lasts),
  };
}

/** Point i is the maximum over the events (lasts[i - 1], lasts[i]], including the state before them. */
function highestUpTo(
  { replay }: CurveSource,
  before: number,
  lasts: Int32Array,
): { allocatedBytes: number[]; reservedBytes: number[] } {
  const highest = (name: CounterName): number[] => {
    const values = new Float64Array(CHUNK);
    let standing = replay.countersAt(before)[name];
    let from = before + 1;
    return Array.from(lasts, (last) => {
      let most = standing;
      while (from <= last) {
        const part = values.subarray(0, Math.min(CHUNK, last + 1 - from));
        replay.fillCounter(name, from, part);
        for (const value of part) if (value > most) most = value;
        standing = part[part.length - 1];
        from += part.length;
      }
      return most;
    });
  };
  return { allocatedBytes: highest('allocatedBytes'), reservedBytes: highest('reservedBytes') };
}
