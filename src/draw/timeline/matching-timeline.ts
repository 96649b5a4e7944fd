/**
 * A timeline of only some allocations: only these are stacked, and the top of the stack is the sum of their blocks at
 * every event. Memory: 20 B per allocation for its columns, 4 B for the order of ends, 8 B per 64 events.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { LiveBytes } from './live-bytes.ts';
import { type StackedAllocations, TimelineIndex } from './timeline-index.ts';

export interface MatchingTimeline {
  readonly index: TimelineIndex;
  /** Row of the index → allocation, ascending. */
  readonly ids: Int32Array;
}

/** @param mask by AllocationIndex, 1 = included */
export function matchingTimeline(
  allocations: StackedAllocations,
  mask: Uint8Array,
  eventCount: number,
  timeUs: NarrowColumn | undefined,
): MatchingTimeline {
  const ids = idsOf(mask);
  const matching: StackedAllocations = {
    length: ids.length,
    preexisting: lowerBound(ids, allocations.preexisting),
    start: ids.map((id) => allocations.start[id]),
    freeRequested: ids.map((id) => allocations.freeRequested[id]),
    end: ids.map((id) => allocations.end[id]),
    sizeBytes: new Float64Array(ids).map((id) => allocations.sizeBytes[id]),
  };
  const bytes = new LiveBytes(matching, new Uint8Array(ids.length), 1, eventCount);
  const index = new TimelineIndex(
    {
      allocations: matching,
      fillCounter(name, from, out) {
        if (name !== 'activeBytes') throw new RangeError(`No ${name} of some allocations`);
        bytes.fill(from, out);
      },
    },
    eventCount,
    timeUs,
  );
  return { index, ids };
}

/** Row of an allocation in `ids`; -1 if it does not match. */
export function matchingRow({ ids }: MatchingTimeline, id: AllocationIndex): number {
  const row = lowerBound(ids, id);
  return ids[row] === id ? row : -1;
}

function idsOf(mask: Uint8Array): Int32Array {
  const ids = new Int32Array(mask.reduce((count, matches) => count + matches, 0));
  let row = 0;
  for (let id = 0; id < mask.length; id++) if (mask[id] === 1) ids[row++] = id;
  return ids;
}
