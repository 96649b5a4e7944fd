/**
 * What torch.cuda.empty_cache() would give back to the driver, and what would stay and why.
 *
 * It first waits for the streams that pending blocks wait for, so those count as free here. Then it
 * gives back each native segment in which nothing is left, and of expandable ones each whole page
 * that is free. A private pool (CUDA graph, MemPool) keeps its memory until it is destroyed; the
 * trace does not say when that is.
 * Example: a segment of 20 MiB with a live block of 2 MiB gives nothing back; 18 MiB stay, and that
 * block is why. An expandable one of 60 MiB with it at its start gives 40 MiB back, two pages.
 */

import { BlockState, type Pool } from '../../format/snapshot/tables.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import { type AllocationIndex, isPrivatePool } from '../replay/types.ts';
import {
  type AllocatorState,
  type BlockStates,
  SegmentKind,
  type SegmentStateIndex,
} from './types.ts';

export const NOTHING_RELEASED = {
  /** All that would go back to the driver. */
  releasedBytes: 0,
  /** Of it, what goes back only because it waits for pending frees. */
  awaitedBytes: 0,
  /** Whole native segments among it; the rest is pages of expandable ones. */
  releasedSegments: 0,
  releasedPageBytes: 0,
  /** Free bytes in native segments that hold a live block, and how many those are. */
  pinnedBytes: 0,
  pinnedSegments: 0,
  /** Free bytes of expandable segments on pages that hold a live block too. */
  partialPageBytes: 0,
  /** Free bytes of private pools that would go back from the default pool. */
  privateBytes: 0,
};

/** What a call would do, added up. */
export type ReleaseSums = Readonly<typeof NOTHING_RELEASED>;

export interface CacheRelease extends ReleaseSums {
  /** Live blocks that keep free bytes from going back, with their share; in segment order. */
  readonly pins: readonly PinningBlock[];
}

export interface PinningBlock {
  readonly allocation: AllocationIndex;
  readonly segment: SegmentStateIndex;
  /** Bytes that it keeps, shared out evenly with the others that keep them: sums are true. */
  readonly bytes: number;
}

type PagedState = AllocatorState & { readonly largePageBytes: number };

/**
 * What a call in this state would do, in bytes. `pools` are those of the trace: which are private.
 * @param largePageBytes pages of the large pool's expandable segments: large_segment_size_mb, 20 MiB
 */
export function cacheReleaseAt(
  unpaged: AllocatorState,
  pools: readonly Pool[],
  largePageBytes: number,
): CacheRelease {
  const state: PagedState = { ...unpaged, largePageBytes };
  const { segments } = state;
  const sums = { ...NOTHING_RELEASED };
  const pins: PinningBlock[] = [];
  for (let s = 0; s < segments.length; s++) {
    if (segments.kind[s] === SegmentKind.None) continue;
    const isExpandable = segments.kind[s] === SegmentKind.Expandable;
    const bytesOf = isExpandable ? freePages : wholeSegment;
    const releasable = bytesOf(state, s, true);
    const atOnce = bytesOf(state, s, false);
    const kept = segments.sizeBytes[s] - segments.allocatedBytes[s] - releasable;
    if (isPrivatePool(pools[segments.pool[s]])) sums.privateBytes += releasable;
    else {
      sums.releasedBytes += releasable;
      sums.awaitedBytes += releasable - atOnce;
      if (isExpandable) sums.releasedPageBytes += releasable;
      else if (releasable > 0) sums.releasedSegments++;
    }
    if (kept === 0) continue;
    if (isExpandable) sums.partialPageBytes += kept;
    else {
      sums.pinnedBytes += kept;
      sums.pinnedSegments++;
    }
    for (const pin of isExpandable ? pagePins(state, s) : segmentPins(state, s, kept)) {
      pins.push(pin);
    }
  }
  return { ...sums, pins };
}

/** Bytes of a native segment that can go: all or none. */
function wholeSegment({ segments }: AllocatorState, s: number, isWaitedFor: boolean): number {
  const { allocatedBytes, liveBlocks, sizeBytes } = segments;
  const isEmpty = isWaitedFor ? allocatedBytes[s] === 0 : liveBlocks[s] === 0;
  return isEmpty ? sizeBytes[s] : 0;
}

/** A free stretch of an expandable segment, and the pages in it that nothing else is on. */
interface FreeRun {
  readonly from: number;
  readonly to: number;
  /** Equal where it holds no whole page. */
  readonly pagesFrom: number;
  readonly pagesTo: number;
  /** Rows of the live blocks beside it; -1 at the segment's edge. */
  readonly before: number;
  readonly after: number;
}

function freePages(state: PagedState, s: number, isWaitedFor: boolean): number {
  let bytes = 0;
  for (const { pagesFrom, pagesTo } of freeRuns(state, s, isWaitedFor))
    bytes += pagesTo - pagesFrom;
  return bytes;
}

function* freeRuns(state: PagedState, s: number, isWaitedFor: boolean): Generator<FreeRun> {
  const { segments, blocks } = state;
  const last = segments.firstBlock[s + 1];
  let before = -1;
  let row = segments.firstBlock[s];
  while (row < last) {
    if (!isFree(blocks, row, isWaitedFor)) {
      before = row++;
      continue;
    }
    const from = blocks.address[row];
    while (row < last && isFree(blocks, row, isWaitedFor)) row++;
    const to = row < last ? blocks.address[row] : segments.address[s] + segments.sizeBytes[s];
    yield { from, to, ...pagesWithin(state, s, from, to), before, after: row < last ? row : -1 };
  }
}

function isFree({ state }: BlockStates, row: number, isWaitedFor: boolean): boolean {
  return (
    state[row] === BlockState.Inactive || (isWaitedFor && state[row] === BlockState.PendingFree)
  );
}

/** Pages are counted from the segment's start: what is mapped begins and ends with a page. */
function pagesWithin(
  { segments, largePageBytes }: PagedState,
  s: number,
  from: number,
  to: number,
) {
  const page = segments.isSmall[s] === 1 ? SMALL_SEGMENT_BYTES : largePageBytes;
  const base = segments.address[s];
  const pagesFrom = base + Math.ceil((from - base) / page) * page;
  const pagesTo = base + Math.floor((to - base) / page) * page;
  return pagesFrom < pagesTo ? { pagesFrom, pagesTo } : { pagesFrom: from, pagesTo: from };
}

/** All live blocks of a native segment keep its free bytes together. */
function segmentPins({ segments, blocks }: AllocatorState, s: number, kept: number) {
  const from = segments.firstBlock[s];
  const to = segments.firstBlock[s + 1];
  const isAllocated = (_: number, i: number) => blocks.state[from + i] === BlockState.Allocated;
  const allocations = blocks.allocation.subarray(from, to).filter(isAllocated);
  const bytes = kept / allocations.length;
  return Array.from(allocations, (allocation) => ({ allocation, segment: s, bytes }));
}

/** A page's free bytes are kept by the live blocks at the ends of the free stretch. */
function* pagePins(state: PagedState, s: number): Generator<PinningBlock> {
  const { allocation } = state.blocks;
  for (const { from, to, pagesFrom, pagesTo, before, after } of freeRuns(state, s, true)) {
    const hasPages = pagesTo > pagesFrom;
    const isShared = before >= 0 && after >= 0;
    const left = hasPages ? pagesFrom - from : (to - from) / (isShared ? 2 : 1);
    const right = hasPages ? to - pagesTo : left;
    if (before >= 0 && left > 0) yield { allocation: allocation[before], segment: s, bytes: left };
    if (after >= 0 && right > 0) yield { allocation: allocation[after], segment: s, bytes: right };
  }
}
