/**
 * PyTorch's native caching allocator, as in c10/cuda/CUDACachingAllocator.cpp (2.9 to 2.14), over typed arrays. It
 * knows only sizes and addresses, not tensors: `handle` is the caller's name for an allocation. Its parts have their
 * C++ names where these exist.
 */

import { type BlockRow, NO_BLOCK } from '../replay/block-list.ts';
import { roundSize, SMALL_BYTES, SMALL_SEGMENT_BYTES, shouldSplit } from '../replay/rounding.ts';
import type { AllocSettings } from './alloc-conf.ts';
import type { DeviceMemory } from './device-memory.ts';
import { ExpandableSegments } from './expandable.ts';
import { type Arena, Arenas, BlockTable, BlockUse } from './free-blocks.ts';

/** kMinLargeAlloc: from this size on, a native segment is as large as its first request. */
const MIN_LARGE_BYTES = 10 * 2 ** 20;
/** kRoundLarge */
const ROUND_LARGE_BYTES = 2 * 2 ** 20;

/** What the allocator asks its environment, only when a request needs new memory. */
export interface AllocatorHooks {
  /** Cached memory is about to be released: frees that wait for other streams complete first. */
  beforeRelease(): void;
  /** Where the driver may put a new segment of this size, most likely first. Some may be occupied. */
  likelyAddresses(segmentBytes: number): Iterable<number>;
}

export class CachingAllocator {
  readonly table = new BlockTable();
  readonly arenas: Arenas;
  readonly expandable: ExpandableSegments;
  readonly memory: DeviceMemory;
  readonly #settings: AllocSettings;
  readonly #hooks: AllocatorHooks;
  /** Garbage collection needs a memory fraction in PyTorch; here it needs a limit. */
  readonly #collects: boolean;
  allocatedBytes = 0;
  peakAllocatedBytes = 0;
  retries = 0;

  constructor(
    settings: AllocSettings,
    memory: DeviceMemory,
    streams: number,
    hooks: AllocatorHooks,
  ) {
    this.#settings = settings;
    this.#hooks = hooks;
    this.memory = memory;
    this.arenas = new Arenas(this.table, streams, settings.largeSegmentBytes);
    this.expandable = new ExpandableSegments(this.table, memory, settings.largeSegmentBytes);
    this.#collects = settings.garbageCollectionThreshold > 0 && memory.limitBytes < Infinity;
  }

  /** Allocates `bytes` (before rounding). Returns NO_BLOCK if even releasing all cached memory is not enough. */
  malloc(bytes: number, stream: number, pool: number): BlockRow {
    const size = roundSize(bytes, this.#settings);
    const arena = this.arenas.get(pool, size <= SMALL_BYTES, stream);
    let row = this.#getFreeBlock(arena, size);
    if (row === NO_BLOCK) {
      row = this.#newBlock(arena, size);
      if (row === NO_BLOCK) return NO_BLOCK;
    }
    this.#take(arena, row, size);
    return row;
  }

  /** Counts a block that was in use before the trace. */
  seedAllocated(row: BlockRow): void {
    this.allocatedBytes += this.table.sizeBytes[row];
  }

  /** Ends the setup of the state before the first event. */
  startCounting(): void {
    this.peakAllocatedBytes = this.allocatedBytes;
    this.retries = 0;
  }

  /** Reduces allocated_bytes; the block stays in use. */
  requestFree(row: BlockRow): void {
    this.allocatedBytes -= this.table.sizeBytes[row];
  }

  /** free_block: makes the memory available again and merges it with free neighbors. */
  completeFree(row: BlockRow): void {
    const { table } = this;
    const arena = this.arenas.all[table.owner[row]];
    table.use[row] = BlockUse.Free;
    const block = table.joinAlike(row, (neighbor) => arena.free.remove(neighbor));
    table.freedAt[block] = arena.pool.searches;
    arena.free.add(block);
  }

  /** torch.cuda.empty_cache() */
  emptyCache(): void {
    this.#hooks.beforeRelease();
    this.#releaseCachedBlocks();
  }

  /** How much higher the limit would have to be for a request that failed. */
  missingBytes(bytes: number): number {
    const segmentBytes = allocationSize(roundSize(bytes, this.#settings), this.#settings);
    return this.memory.reservedBytes + segmentBytes - this.memory.limitBytes;
  }

  #getFreeBlock(arena: Arena, size: number): BlockRow {
    const { table } = this;
    const { expandableSegments, maxSplitBytes, maxNonSplitRoundingBytes } = this.#settings;
    if (this.#collects) arena.pool.searches++;
    const first = arena.free.first(size);
    if (first === NO_BLOCK) return NO_BLOCK;
    let row = first;
    if (table.isExpandable[row] === 1) {
      row = expandableSegments ? this.#leastExpandable(arena, row) : this.#nextNative(arena, row);
      if (row === NO_BLOCK) return NO_BLOCK;
    }
    const found = table.sizeBytes[row];
    if (size < maxSplitBytes ? found >= maxSplitBytes : found >= size + maxNonSplitRoundingBytes) {
      return NO_BLOCK;
    }
    if (row === first && !expandableSegments) arena.free.removeFound();
    else arena.free.remove(row);
    return row;
  }

  /** The smallest suitable block, counting one at the end of the mapped range with the size it can grow to. */
  #leastExpandable(arena: Arena, first: BlockRow): BlockRow {
    let row = first;
    while (this.table.isExpandable[row] === 1) {
      const next = arena.free.after();
      if (next === NO_BLOCK || this.#expandableSize(next) >= this.#expandableSize(row)) break;
      row = next;
    }
    return row;
  }

  #expandableSize(row: BlockRow): number {
    const { table } = this;
    const next = table.next[row];
    const canGrow = next !== NO_BLOCK && table.use[next] === BlockUse.Unmapped;
    return table.sizeBytes[row] + (canGrow ? table.sizeBytes[next] : 0);
  }

  #nextNative(arena: Arena, first: BlockRow): BlockRow {
    let row = first;
    while (row !== NO_BLOCK && this.table.isExpandable[row] === 1) row = arena.free.after();
    return row;
  }

  /** Gets memory from the device. If that fails, releases more and more cached memory. */
  #newBlock(arena: Arena, size: number): BlockRow {
    if (this.#collects) this.#collectGarbage();
    let row = this.#allocBlock(arena, size);
    if (row !== NO_BLOCK || this.#settings.throwsBeforeMalloc) return row;
    if (this.#releaseAvailable(arena, size)) {
      row = this.#allocBlock(arena, size);
      if (row !== NO_BLOCK) return row;
    }
    this.emptyCache();
    this.retries++;
    return this.#allocBlock(arena, size);
  }

  #allocBlock(arena: Arena, size: number): BlockRow {
    const { memory, table } = this;
    const bytes = allocationSize(size, this.#settings);
    if (!memory.fits(bytes)) return NO_BLOCK;
    if (this.#settings.expandableSegments) return this.expandable.allocate(arena, size);
    const address = memory.addresses.take(bytes, this.#hooks.likelyAddresses(bytes));
    const row = table.add(address, bytes, arena.index);
    memory.add(bytes, false);
    return row;
  }

  /** alloc_found_block: uses the front of a block; the rest stays free if it may be split off. */
  #take(arena: Arena, row: BlockRow, size: number): void {
    const { table } = this;
    const isDivisible = arena.pool.isSmall || this.#settings.expandableSegments;
    if (shouldSplit(table.sizeBytes[row], size, isDivisible, this.#settings)) {
      const rest = table.cut(row, size);
      table.freedAt[rest] = arena.pool.searches;
      arena.free.add(rest);
    }
    table.use[row] = BlockUse.Used;
    this.allocatedBytes += table.sizeBytes[row];
    if (this.allocatedBytes > this.peakAllocatedBytes) {
      this.peakAllocatedBytes = this.allocatedBytes;
    }
  }

  /**
   * release_cached_blocks: every native segment without a used block and every whole page of expandable ones, large
   * before small. Private pools keep theirs, because a CUDA graph may still be replayed.
   */
  #releaseCachedBlocks(): void {
    for (const isSmall of [false, true]) {
      const rows = this.arenas.releasable(this.arenas.pool(0, isSmall));
      // Collect the rows before releasing any: the row of a removed block is soon reused.
      const expandable = rows.filter((row) => this.table.isExpandable[row] === 1);
      for (const row of rows) {
        if (this.#isFreeable(row)) this.#releaseSegment(row);
      }
      for (const row of expandable) this.expandable.unmapPages(this.#arenaOf(row), row);
    }
  }

  /**
   * release_available_cached_blocks, with max_split_size_mb only: the smallest sufficient oversize block, or oversize
   * blocks of this stream from the largest down until they suffice. Under that setting such blocks are whole segments;
   * but the state before a recording may hold parts of segments, split under another setting, which can't be released.
   */
  #releaseAvailable(arena: Arena, size: number): boolean {
    const { maxSplitBytes } = this.#settings;
    if (maxSplitBytes === Infinity) return false;
    const target = Math.max(size, maxSplitBytes);
    const table = this.table;
    const isPart = (row: BlockRow) => table.isExpandable[row] === 0 && !table.isWholeSegment(row);
    let fitting = arena.free.first(target);
    while (fitting !== NO_BLOCK && isPart(fitting)) fitting = arena.free.after();
    if (fitting !== NO_BLOCK && table.isExpandable[fitting] === 0) {
      this.#releaseSegment(fitting);
      return true;
    }
    let released = 0;
    // Start below the smallest sufficient block: the C++ searches no further up if that one is expandable.
    const smaller = arena.free.all().filter((row) => table.sizeBytes[row] < target);
    for (const row of smaller.reverse()) {
      if (released >= target || table.sizeBytes[row] < maxSplitBytes) break;
      if (table.isExpandable[row] === 1 || isPart(row)) continue;
      released += table.sizeBytes[row];
      this.#releaseSegment(row);
    }
    return released >= target;
  }

  /**
   * garbage_collect_cached_blocks: above the threshold, frees unused large segments of at least average age, and
   * repeats with the rest until the bytes above the threshold are freed.
   */
  #collectGarbage(): void {
    const { memory } = this;
    const threshold = this.#settings.garbageCollectionThreshold * memory.limitBytes;
    const aim = memory.reservedBytes - Math.floor(threshold);
    if (aim <= 0) return;
    const pool = this.arenas.pool(0, false);
    const age = (row: BlockRow) => pool.searches - this.table.freedAt[row];
    let left = this.arenas.releasable(pool).filter((row) => this.table.isWholeSegment(row));
    let totalAge = left.reduce((sum, row) => sum + age(row), 0);
    let reclaimed = 0;
    while (reclaimed < aim && left.length > 0) {
      const averageAge = totalAge / left.length;
      const isOld = (row: BlockRow) => this.#isFreeable(row) && age(row) >= averageAge;
      const old = left.filter(isOld);
      if (old.length === 0) return;
      left = left.filter((row) => !isOld(row));
      for (const row of old) {
        reclaimed += this.table.sizeBytes[row];
        totalAge -= age(row);
        this.#releaseSegment(row);
      }
    }
  }

  #arenaOf(row: BlockRow): Arena {
    return this.arenas.all[this.table.owner[row]];
  }

  #isFreeable(row: BlockRow): boolean {
    return this.table.isExpandable[row] === 0 && this.table.isWholeSegment(row);
  }

  #releaseSegment(row: BlockRow): void {
    this.#arenaOf(row).free.remove(row);
    this.memory.addresses.release(this.table.address[row]);
    this.memory.remove(this.table.sizeBytes[row], false);
    this.table.delete(row);
  }
}

/** get_allocation_size: bytes of the segment for a rounded request. 1 MiB → 2 MiB, 1.5 → 20, 11 → 12. */
export function allocationSize(
  size: number,
  { largeSegmentBytes }: Pick<AllocSettings, 'largeSegmentBytes'>,
): number {
  if (size <= SMALL_BYTES) return SMALL_SEGMENT_BYTES;
  if (size < MIN_LARGE_BYTES) return largeSegmentBytes;
  return Math.ceil(size / ROUND_LARGE_BYTES) * ROUND_LARGE_BYTES;
}
