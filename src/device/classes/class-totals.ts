/** What memory is made of at one event, by class. */
import { liveAt } from '../../allocator/replay/live-at.ts';
import type { AllocationTable } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { classify } from './classify.ts';
import {
  type Classification,
  type ClassSource,
  type ClassTotal,
  MEMORY_CLASS_ORDER,
} from './types.ts';

/** Block bytes by class in the state after `event`: see {@link sumByClass}. */
export function classTotalsAt(
  source: ClassSource,
  event: EventIndex,
  allocatedOnly = false,
): ClassTotal[] {
  return sumByClass(source.replay.allocations, classify(source), event, allocatedOnly);
}

/**
 * Block bytes by class in the state after `event`, the largest first; classes without any are left out.
 * They add up to the active bytes or, with `allocatedOnly`, to the allocated ones, which leave out blocks
 * whose free was requested.
 */
export function sumByClass(
  allocations: AllocationTable,
  { classOf }: Classification,
  event: EventIndex,
  allocatedOnly: boolean,
): ClassTotal[] {
  const bytes = new Float64Array(MEMORY_CLASS_ORDER.length);
  const counts = new Int32Array(MEMORY_CLASS_ORDER.length);
  for (const id of liveAt(allocations, event)) {
    if (allocatedOnly && allocations.freeRequested[id] <= event) continue;
    bytes[classOf[id]] += allocations.sizeBytes[id];
    counts[classOf[id]]++;
  }
  return MEMORY_CLASS_ORDER.filter((of) => counts[of] > 0)
    .map((of) => ({ class: of, bytes: bytes[of], count: counts[of] }))
    .sort((a, b) => b.bytes - a.bytes);
}
