import type { EventIndex } from '../../../format/snapshot/tables.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { maskOf, noteOfTimes } from '../masks.ts';
import { type AllocationQualifier, type Comparison, compare } from '../qualifier.ts';

/** From the alloc to the free, or to the cursor (else the end) where that comes first. */
export interface AgeCondition {
  readonly kind: 'age';
  readonly comparison: Comparison;
  readonly unit: 'events' | 'us';
  readonly value: number;
}

const DURATION = /^(\d{1,15}(?:\.\d{1,15})?)(us|µs|μs|ms|s|min|h)?$/i;
const UNIT_US: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1e3,
  s: 1e6,
  min: 60e6,
  h: 3600e6,
};

export const AGE: AllocationQualifier<AgeCondition> = {
  name: 'age',
  help: 'events or a time',
  examples: ['age>1000', 'age>2s'],
  isComparable: true,
  dependsOnCursor: true,
  parse(value, comparison) {
    const match = DURATION.exec(value);
    if (match === null) return undefined;
    const factor = match[2] === undefined ? undefined : UNIT_US[match[2].toLowerCase()];
    const unit = factor === undefined ? 'events' : 'us';
    return { kind: 'age', comparison, unit, value: Number(match[1]) * (factor ?? 1) };
  },
  match(context, condition, at) {
    const note = condition.unit === 'us' ? noteOfTimes(context) : undefined;
    return { mask: ageMask(context, condition, at), note };
  },
};

/**
 * Age at state `at`, or the whole life of what is freed by then. One from before the trace is older
 * than anyone saw: it matches only what is certain, so age>10 at event 20 but never age<100.
 * Without times no age in microseconds is known, and none matches.
 */
function ageMask(
  { replay, trace }: DeviceModel,
  { comparison, unit, value }: AgeCondition,
  at: EventIndex,
): Uint8Array {
  const { length, preexisting, start, end } = replay.allocations;
  const clock = unit === 'events' ? undefined : (trace.events.timeUs ?? new Float64Array(0));
  const momentOf = (event: EventIndex) => (clock === undefined ? event : clock[Math.max(0, event)]);
  return maskOf(length, (id) => {
    if (start[id] > at) return false;
    const age = momentOf(Math.min(at, end[id])) - momentOf(start[id]);
    if (id >= preexisting) return compare(age, comparison, value);
    return comparison.startsWith('>') && compare(age, comparison, value);
  });
}
