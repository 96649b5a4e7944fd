/** Conditions on figures of an allocation: one pass over its columns each. */
import { assertUnreachable } from '../base/assert.ts';
import { lowerBound } from '../base/binary-search.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { timeOfEventUs } from '../device/event-times.ts';
import { type AllocationIndex, BEFORE_TRACE } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { Comparison, PoolWord, StateWord } from './types.ts';

/** A byte an allocation, 1 where it is hit: what every condition of a search is answered by. */
export function maskOf(length: number, isHit: (id: AllocationIndex) => boolean): Uint8Array {
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) if (isHit(id)) mask[id] = 1;
  return mask;
}

export function sizeMask(
  { replay }: DeviceContext,
  comparison: Comparison,
  bytes: number,
): Uint8Array {
  const { length, sizeBytes } = replay.allocations;
  return maskOf(length, (id) => compare(sizeBytes[id], comparison, bytes));
}

/**
 * Age at state `at`, or the whole life of what is freed by then. One from before the trace is older
 * than anyone saw: it matches only what is certain, so age>10 at event 20 but never age<100.
 * Without times no age in microseconds is known, and none matches.
 */
export function ageMask(
  { replay, trace }: DeviceContext,
  comparison: Comparison,
  unit: 'events' | 'us',
  value: number,
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

/** In the state after `at`. One that is yet to come is in none of the three. */
export function stateMask({ replay }: DeviceContext, state: StateWord, at: EventIndex): Uint8Array {
  const { length, start, freeRequested, end } = replay.allocations;
  switch (state) {
    case 'live':
      return maskOf(length, (id) => start[id] <= at && at < freeRequested[id] && at < end[id]);
    case 'pending':
      return maskOf(length, (id) => freeRequested[id] <= at && at < end[id]);
    case 'freed':
      return maskOf(length, (id) => end[id] <= at);
    default:
      return assertUnreachable(state);
  }
}

export function poolMask(
  { replay, trace }: DeviceContext,
  wanted: PoolWord | readonly [number, number],
): Uint8Array {
  const { length, pool, isSmall } = replay.allocations;
  if (wanted === 'small' || wanted === 'large') {
    const flag = wanted === 'small' ? 1 : 0;
    return maskOf(length, (id) => isSmall[id] === flag);
  }
  const isHit = trace.pools.map(({ id: [capture, handle] }) => {
    if (typeof wanted !== 'string') return capture === wanted[0] && handle === wanted[1];
    return (capture === 0 && handle === 0) === (wanted === 'default');
  });
  return maskOf(length, (id) => isHit[pool[id]] ?? wanted === 'default');
}

/** Allocations whose alloc event lies inside an annotation of that name. */
export function phaseMask(context: DeviceContext, name: string): Uint8Array {
  const { length, start, preexisting } = context.replay.allocations;
  const mask = new Uint8Array(length);
  // Spans come by start: what an earlier one filled need not be filled again.
  let filled = preexisting;
  for (const span of context.annotations()) {
    if (span.name !== name) continue;
    const from = lowerBound(start, span.startEvent, filled);
    const to = lowerBound(start, span.endEvent, filled);
    mask.fill(1, from, to);
    filled = Math.max(filled, to);
  }
  return mask;
}

/** True when some event of the device has a time. */
export function hasTimes({ trace }: DeviceContext): boolean {
  return !Number.isNaN(timeOfEventUs(trace.events, 0));
}

/** The last state there is; BEFORE_TRACE without events. */
export function lastState({ trace }: DeviceContext): EventIndex {
  return trace.events.length === 0 ? BEFORE_TRACE : trace.events.length - 1;
}

function compare(value: number, comparison: Comparison, bound: number): boolean {
  switch (comparison) {
    case '<':
      return value < bound;
    case '<=':
      return value <= bound;
    case '=':
      return value === bound;
    case '>=':
      return value >= bound;
    case '>':
      return value > bound;
    default:
      return assertUnreachable(comparison);
  }
}
