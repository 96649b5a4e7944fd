/**
 * Expandable segments: address space into which memory is mapped page by page (2 MiB in the small pool;
 * large_segment_size_mb, by default 20 MiB, in the large one) and unmapped again. Chains hold free, used and unmapped
 * blocks.
 */

import { type BlockRow, NO_BLOCK } from '../replay/block-list.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import type { DeviceMemory } from './device-memory.ts';
import type { Arena } from './free-blocks.ts';
import { type BlockTable, BlockUse } from './free-blocks.ts';

/**
 * Address space of one segment. PyTorch takes 1.125 times the card's memory. The trace does not name the card, so this
 * assumes 228 GiB. A smaller card starts a second segment sooner, which changes nothing unless more than its memory is
 * mapped.
 */
const RESERVED_ADDRESS_BYTES = 256 * 2 ** 30;
/** Expandable segments start at this page, below all addresses from cudaMalloc. */
const FIRST_PAGE = 4096;

export class ExpandableSegments {
  readonly #table: BlockTable;
  readonly #memory: DeviceMemory;
  /** Segments, and the pages of both pools, begin at multiples of it. */
  readonly #unitBytes: number;
  #nextAddress: number;

  constructor(table: BlockTable, memory: DeviceMemory, largePageBytes: number) {
    this.#table = table;
    this.#memory = memory;
    this.#unitBytes =
      largePageBytes % SMALL_SEGMENT_BYTES === 0 ? largePageBytes : 2 * largePageBytes;
    this.#nextAddress = FIRST_PAGE * this.#unitBytes;
  }

  /** Maps the memory missing for `bytes` at the lowest address. Returns the free block, removed from its list. */
  allocate(arena: Arena, bytes: number): BlockRow {
    const table = this.#table;
    let row = this.#findSpace(arena, bytes);
    if (table.use[row] === BlockUse.Unmapped) {
      row = this.#map(arena, row, Math.min(bytes, table.sizeBytes[row]));
    } else {
      arena.free.remove(row);
    }
    while (table.sizeBytes[row] < bytes) {
      const space = table.next[row];
      const missing = bytes - table.sizeBytes[row];
      // The next piece is unmapped: adjacent free pieces would have been one block.
      this.#map(arena, space, Math.min(missing, table.sizeBytes[space]), row);
    }
    return row;
  }

  /** Unmaps the whole pages inside a free block. Its ends on shared pages remain. */
  unmapPages(arena: Arena, free: BlockRow): void {
    const table = this.#table;
    const page = arena.pool.pageBytes;
    const start = table.address[free];
    const from = Math.ceil(start / page) * page;
    const to = Math.floor((start + table.sizeBytes[free]) / page) * page;
    if (from >= to) return;
    arena.free.remove(free);
    let row = free;
    if (from > start) {
      row = table.cut(free, from - start, BlockUse.Unmapped);
      this.#addFree(arena, free);
    }
    if (to < table.address[row] + table.sizeBytes[row]) {
      this.#addFree(arena, table.cut(row, to - from));
    }
    table.use[row] = BlockUse.Unmapped;
    this.#memory.remove(to - from, true);
    this.addUnmapped(arena, row);
  }

  /** Adds unmapped space and merges it with adjacent unmapped space. Removes a segment that has nothing else. */
  addUnmapped(arena: Arena, row: BlockRow): void {
    const table = this.#table;
    const first = table.joinAlike(row, (neighbor) => removeFrom(arena.unmapped, neighbor));
    if (table.isWholeSegment(first)) table.delete(first);
    else this.#insertUnmapped(arena, first);
  }

  /** Reserves address space: one unmapped block, not in any list. */
  reserve(arena: Arena, atLeastBytes: number): BlockRow {
    // Reserve one more page than requested, so that there is always unmapped space at the end.
    const most = Math.max(RESERVED_ADDRESS_BYTES, atLeastBytes + this.#unitBytes);
    const bytes = Math.ceil(most / this.#unitBytes) * this.#unitBytes;
    const row = this.#table.add(this.#nextAddress, bytes, arena.index, BlockUse.Unmapped);
    this.#table.isExpandable[row] = 1;
    this.#nextAddress += bytes;
    return row;
  }

  #addFree(arena: Arena, row: BlockRow): void {
    this.#table.freedAt[row] = arena.pool.searches;
    arena.free.add(row);
  }

  /** The lowest unmapped block, or the free one before it, that starts a large enough unused range. */
  #findSpace(arena: Arena, bytes: number): BlockRow {
    const table = this.#table;
    for (const space of arena.unmapped) {
      const before = table.prev[space];
      const isFree = before !== NO_BLOCK && table.use[before] === BlockUse.Free;
      const first = isFree ? before : space;
      let found = 0;
      for (let row = first; row !== NO_BLOCK && table.use[row] !== BlockUse.Used; ) {
        found += table.sizeBytes[row];
        if (found >= bytes) return first;
        row = table.next[row];
      }
    }
    const row = this.reserve(arena, bytes);
    this.#insertUnmapped(arena, row);
    return row;
  }

  /**
   * Maps the front of unmapped space, rounded up to pages, and merges it with adjacent free space. Returns the merged
   * block, removed from its list. `before` is a free block in front that is already removed.
   */
  #map(arena: Arena, space: BlockRow, bytes: number, before: BlockRow = NO_BLOCK): BlockRow {
    const table = this.#table;
    const page = arena.pool.pageBytes;
    const mapped = Math.min(Math.ceil(bytes / page) * page, table.sizeBytes[space]);
    removeFrom(arena.unmapped, space);
    if (mapped < table.sizeBytes[space]) {
      this.#insertUnmapped(arena, table.cut(space, mapped, BlockUse.Unmapped));
    }
    table.use[space] = BlockUse.Free;
    const after = table.next[space];
    if (after !== NO_BLOCK && table.use[after] === BlockUse.Free) {
      arena.free.remove(after);
      table.joinNext(space);
    }
    this.#memory.add(mapped, true);
    if (before === NO_BLOCK) return space;
    table.joinNext(before);
    return before;
  }

  #insertUnmapped(arena: Arena, row: BlockRow): void {
    const { address } = this.#table;
    const at = arena.unmapped.findIndex((other) => address[other] > address[row]);
    arena.unmapped.splice(at < 0 ? arena.unmapped.length : at, 0, row);
  }
}

function removeFrom(rows: BlockRow[], row: BlockRow): void {
  rows.splice(rows.indexOf(row), 1);
}
