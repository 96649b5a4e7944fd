/**
 * What torch.cuda.empty_cache() would return to the driver, and what would stay and why.
 *
 * It first waits for the streams that pending blocks wait for, so those count as free here. Then it returns each native
 * segment without live blocks and each whole free page of expandable ones. A private pool (CUDA graph, MemPool) keeps
 * its memory until it is destroyed; the trace does not say when.
 * Example: a segment of 20 MiB with a live block of 2 MiB returns nothing; 18 MiB stay because of that block. An
 * expandable one of 60 MiB with the block at its start returns 40 MiB, two pages.
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
  releasedBytes: 0,
  /** The part of it that goes back only after waiting for pending frees. */
  awaitedBytes: 0,
  /** Whole native segments in it; the rest is pages of expandable ones. */
  releasedSegments: 0,
  releasedPageBytes: 0,
  /** Free bytes in native segments with a live block, and the number of those segments. */
  pinnedBytes: 0,
  pinnedSegments: 0,
  /** Free bytes of expandable segments on pages that also hold a live block. */
  partialPageBytes: 0,
  /** Free bytes of private pools that the default pool would return. */
  privateBytes: 0,
};

export type ReleaseSums = Readonly<typeof NOTHING_RELEASED>;

export interface CacheRelease extends ReleaseSums {
  /** Live blocks that keep free bytes from being returned, with their share; in segment order. */
  readonly pins: readonly PinningBlock[];
}

export interface PinningBlock {
  readonly allocation: AllocationIndex;
  readonly segment: SegmentStateIndex;
  /** Bytes that it keeps, divided evenly among the blocks that keep them, so that sums are correct. */
  readonly bytes: number;
}

type PagedState = AllocatorState & { readonly largePageBytes: number };

/**
 * What a call in this state would do, in bytes. `pools` are the trace's pools: they tell which are private.
 * @param largePageBytes pages of the large pool's expandable segments: large_segment_size_mb, 20 MiB by default
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

/** Returnable bytes of a native segment: all or none. */
function wholeSegment({ segments }: AllocatorState, s: number, isWaitedFor: boolean): number {
  const { allocatedBytes, liveBlocks, sizeBytes } = segments;
  const isEmpty = isWaitedFor ? allocatedBytes[s] === 0 : liveBlocks[s] === 0;
  return isEmpty ? sizeBytes[s] : 0;
}

/** A free range of an expandable segment, and the pages that lie entirely in it. */
interface FreeRun {
  readonly from: number;
  readonly to: number;
  /** Equal if there is no whole page. */
  readonly pagesFrom: number;
  readonly pagesTo: number;
  /** Rows of the adjacent live blocks; -1 at the segment's edge. */
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

/** Counts pages from the segment's start: mapped ranges begin and end with a page. */
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

/** All live blocks of a native segment together keep its free bytes. */
function segmentPins({ segments, blocks }: AllocatorState, s: number, kept: number) {
  const from = segments.firstBlock[s];
  const to = segments.firstBlock[s + 1];
  const isAllocated = (_: number, i: number) => blocks.state[from + i] === BlockState.Allocated;
  const allocations = blocks.allocation.subarray(from, to).filter(isAllocated);
  const bytes = kept / allocations.length;
  return Array.from(allocations, (allocation) => ({ allocation, segment: s, bytes }));
}

/** The live blocks at the ends of a free range keep the free bytes on their pages. */
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
