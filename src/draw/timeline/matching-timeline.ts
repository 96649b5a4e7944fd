/**
 * A timeline of only some allocations: only these are stacked, and the top of the stack is the sum of their blocks at
 * every event. Memory: 20 B per allocation for its columns, 4 B for the order of ends, 8 B per 64 events.
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { type StackedAllocations, TimelineIndex } from './timeline-index.ts';

const BLOCK_BITS = 6;
const BLOCK = 1 << BLOCK_BITS;

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
  const bytes = new LiveBytes(matching, eventCount);
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

/** Sum of the live blocks after any event: one value before every 64th event, plus the changes since. */
class LiveBytes {
  readonly #allocations: StackedAllocations;
  readonly #before: Float64Array;
  /** Rows by the block of 64 events in which they end; block b's are at #firstEnd[b] to #firstEnd[b + 1]. */
  readonly #ending: Int32Array;
  readonly #firstEnd: Int32Array;
  readonly #changes = new Float64Array(BLOCK);

  constructor(allocations: StackedAllocations, eventCount: number) {
    const { length, start, end, sizeBytes } = allocations;
    const blocks = (eventCount >> BLOCK_BITS) + 1;
    this.#allocations = allocations;
    this.#before = new Float64Array(blocks + 1);
    this.#firstEnd = new Int32Array(blocks + 1);
    for (let row = 0; row < length; row++) {
      const began = start[row] < 0 ? 0 : (start[row] >> BLOCK_BITS) + 1;
      this.#before[began] += sizeBytes[row];
      if (end[row] === NEVER) continue;
      this.#before[(end[row] >> BLOCK_BITS) + 1] -= sizeBytes[row];
      this.#firstEnd[(end[row] >> BLOCK_BITS) + 1]++;
    }
    for (let block = 1; block <= blocks; block++) {
      this.#before[block] += this.#before[block - 1];
      this.#firstEnd[block] += this.#firstEnd[block - 1];
    }
    this.#ending = new Int32Array(this.#firstEnd[blocks]);
    const next = this.#firstEnd.slice();
    for (let row = 0; row < length; row++) {
      if (end[row] !== NEVER) this.#ending[next[end[row] >> BLOCK_BITS]++] = row;
    }
  }

  /** Sets out[i] to the sum after event from + i. */
  fill(from: EventIndex, out: Float64Array): void {
    const to = from + out.length;
    for (let block = from >> BLOCK_BITS; block << BLOCK_BITS < to; block++) {
      this.#sumChanges(block);
      const first = block << BLOCK_BITS;
      let bytes = this.#before[block];
      for (let i = 0; i < BLOCK && first + i < to; i++) {
        bytes += this.#changes[i];
        if (first + i >= from) out[first + i - from] = bytes;
      }
    }
  }

  #sumChanges(block: number): void {
    const { start, end, sizeBytes, length } = this.#allocations;
    const first = block << BLOCK_BITS;
    const changes = this.#changes.fill(0);
    for (let row = lowerBound(start, first); row < length && start[row] < first + BLOCK; row++) {
      changes[start[row] - first] += sizeBytes[row];
    }
    for (let i = this.#firstEnd[block]; i < this.#firstEnd[block + 1]; i++) {
      const row = this.#ending[i];
      changes[end[row] - first] -= sizeBytes[row];
    }
  }
}
