import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { allocationLabel } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';

/** The match that next or previous leads to, and when it lived. */
export type MatchStep = NonNullable<ReturnType<typeof stepMatch>>;

/**
 * The next match after an allocation (before it if `isBackwards`), in order of alloc events, wrapping around. `from`
 * may lie between two allocations: 2.5 leads to 3. Undefined if nothing matches. Without a mask, all allocations match.
 */
export function stepMatch(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  from: number,
  isBackwards: boolean,
) {
  const { allocations } = context.replay;
  const isMatch = (id: AllocationIndex) => mask === undefined || mask[id] === 1;
  let found = -1;
  let first = -1;
  let last = -1;
  for (let id = 0; id < allocations.length; id++) {
    if (!isMatch(id)) continue;
    if (first < 0) first = id;
    last = id;
    if (isBackwards ? id < from : id > from && found < 0) found = id;
  }
  if (first < 0) return undefined;
  if (found < 0) found = isBackwards ? last : first;
  let position = 0;
  for (let id = 0; id <= found; id++) if (isMatch(id)) position++;
  const { start, end } = allocations;
  return {
    allocation: found,
    label: allocationLabel(allocations, context.snapshot.addresses, found),
    /** Its position among the matches, from 1. */
    position,
    startEvent: start[found],
    endEvent: end[found],
    /** Microseconds since the first event; NaN if unknown. */
    startUs: timeOfEventUs(context.trace.events, start[found]),
    endUs: timeOfEventUs(context.trace.events, end[found]),
  };
}

/** Where to start stepping through a window's matches: before the first one that starts in it. */
export function positionBefore({ replay }: DeviceModel, event: EventIndex): number {
  return lowerBound(replay.allocations.start, event) - 0.5;
}
