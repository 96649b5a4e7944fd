/**
 * How much reserved memory is free, and the largest unbroken free range, state by state.
 *
 * Exact: live blocks are kept in order of address from state to state, and the gaps between them are measured. A block
 * with a pending free is not free. A range ends at its segment's end (see reservedRanges), so it is the most that one
 * request could get without a new segment, if the range is in its pool and stream.
 */

import { isContinued } from '../../allocator/replay/segment-tracker.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { stepwise, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { type ColumnAxis, columnRanges, highestStates } from '../timeline/columns.ts';
import type { AddressIndex } from './address-index.ts';
import type { SegmentLife } from './segment-lives.ts';

export type FreeMemory = ReturnType<FreeSweep['at']>;

/** One value per column, NaN outside of the trace, at the same states as the map. */
export type FreeColumns = Readonly<Record<'freeBytes' | 'largestBytes', Float64Array>> & {
  readonly states: Int32Array;
};

/** Moves forward through states, never back. */
export class FreeSweep {
  readonly #index: AddressIndex;
  #segments: number[] = [];
  #ranges: readonly ByteRange[] = [];
  #nextSegment = 0;
  #nextBlock = 0;
  /** Live blocks by offset. */
  #live: Int32Array = new Int32Array(0);

  constructor(index: AddressIndex) {
    this.#index = index;
  }

  at(state: EventIndex) {
    this.#moveSegments(state);
    this.#moveBlocks(state);
    let freeBytes = 0;
    let largestBytes = 0;
    let ranges = 0;
    eachGap(this.#index, this.#ranges, this.#live, (low, high) => {
      freeBytes += high - low;
      largestBytes = Math.max(largestBytes, high - low);
      ranges++;
    });
    return { freeBytes, largestBytes, ranges };
  }

  #moveSegments(state: EventIndex): void {
    const { start, end, length } = this.#index.segments;
    const stillReserved = this.#segments.filter((row) => end[row] > state);
    const next = lowerBound(start, state + 1, this.#nextSegment, length);
    const came: number[] = [];
    for (let row = this.#nextSegment; row < next; row++) if (end[row] > state) came.push(row);
    this.#nextSegment = next;
    if (came.length === 0 && stillReserved.length === this.#segments.length) return;
    this.#segments = [...stillReserved, ...came];
    this.#ranges = reservedRanges(this.#index, this.#segments);
  }

  /** Merges the remaining live blocks with the new ones, both in order of offset. */
  #moveBlocks(state: EventIndex): void {
    const { timeline, layout } = this.#index;
    const { end } = timeline.allocations;
    const { allocationOffset } = layout;
    const came = this.#came(state);
    const merged = new Int32Array(this.#live.length + came.length);
    let count = 0;
    let next = 0;
    for (const id of this.#live) {
      if (end[id] <= state) continue;
      const from = allocationOffset[id];
      while (next < came.length && allocationOffset[came[next]] < from)
        merged[count++] = came[next++];
      merged[count++] = id;
    }
    while (next < came.length) merged[count++] = came[next++];
    this.#live = merged.subarray(0, count);
  }

  #came(state: EventIndex): Int32Array {
    const { timeline, layout } = this.#index;
    const next = timeline.nextId(state);
    const rows = new Int32Array(next - this.#nextBlock);
    const count = timeline.maxEnd.collect(state, this.#nextBlock, next, rows);
    this.#nextBlock = next;
    const { allocationOffset } = layout;
    return rows.subarray(0, count).sort((a, b) => allocationOffset[a] - allocationOffset[b]);
  }
}

/** Both figures for every column, as a task. */
export function* freeColumns(index: AddressIndex, axis: ColumnAxis): Task<FreeColumns> {
  const { timeline } = index;
  const states = highestStates(timeline, columnRanges(timeline, axis));
  const sweep = new FreeSweep(index);
  const empty = () => new Float64Array(states.length).fill(Number.NaN);
  const [freeBytes, largestBytes] = [empty(), empty()];
  let found: FreeMemory | undefined;
  // A column visits all live blocks, so we check the clock after each one.
  yield* stepwise(states.length, 1, (column) => {
    if (states[column] < 0) return;
    if (found === undefined || states[column] !== states[column - 1]) {
      found = sweep.at(states[column]);
    }
    freeBytes[column] = found.freeBytes;
    largestBytes[column] = found.largestBytes;
  });
  return { states, freeBytes, largestBytes };
}

/** Bytes of the packed order, from `from` to before `to`. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Segments as the allocator can use them, by address: a native segment is one range, and so are consecutive pieces of
 * an expandable segment. Free memory on both sides of a border between two native segments never serves one request,
 * even if their addresses touch.
 */
export function reservedRanges(
  { segments, layout }: AddressIndex,
  rows: readonly SegmentLife[],
): ByteRange[] {
  const { segmentOffset } = layout;
  const sorted = [...rows].sort((a, b) => segmentOffset[a] - segmentOffset[b]);
  const ranges: { from: number; to: number }[] = [];
  let before = -1;
  for (const row of sorted) {
    const from = segmentOffset[row];
    const to = from + segments.sizeBytes[row];
    const last = ranges.at(-1);
    // Slots are packed without gaps, so offsets can touch where addresses do not.
    if (last !== undefined && last.to === from && isContinued(segments, before, row)) last.to = to;
    else ranges.push({ from, to });
    before = row;
  }
  return ranges;
}

/** Calls `found` for each part of the ranges that no block covers. Blocks and ranges must be ordered by offset. */
export function eachGap(
  { timeline, layout: { allocationOffset } }: AddressIndex,
  ranges: readonly ByteRange[],
  blocks: ArrayLike<AllocationIndex>,
  found: (from: number, to: number) => void,
): void {
  const { sizeBytes } = timeline.allocations;
  const endOf = (id: AllocationIndex) => allocationOffset[id] + sizeBytes[id];
  let at = 0;
  for (const range of ranges) {
    let { from } = range;
    while (at < blocks.length && endOf(blocks[at]) <= from) at++;
    for (; at < blocks.length && allocationOffset[blocks[at]] < range.to; at++) {
      if (allocationOffset[blocks[at]] > from) found(from, allocationOffset[blocks[at]]);
      from = Math.max(from, endOf(blocks[at]));
    }
    if (from < range.to) found(from, range.to);
  }
}
