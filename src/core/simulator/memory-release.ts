/** The three ways in which cached memory goes back to the device. */
import type { Arena, Arenas, MemoryPool } from './arenas.ts';
import { type BlockRow, type BlockTable, NO_BLOCK } from './block-table.ts';
import type { DeviceMemory } from './device-memory.ts';
import type { ExpandableSegments } from './expandable.ts';

export class MemoryRelease {
  readonly #table: BlockTable;
  readonly #arenas: Arenas;
  readonly #expandable: ExpandableSegments;
  readonly #memory: DeviceMemory;

  constructor(
    table: BlockTable,
    arenas: Arenas,
    expandable: ExpandableSegments,
    memory: DeviceMemory,
  ) {
    this.#table = table;
    this.#arenas = arenas;
    this.#expandable = expandable;
    this.#memory = memory;
  }

  /**
   * release_cached_blocks: every native segment without a used block, every whole page of expandable
   * ones, large before small. Private pools keep theirs: a CUDA graph may still be replayed.
   */
  releaseCachedBlocks(): void {
    for (const isSmall of [false, true]) {
      for (const arena of this.#defaultPool(isSmall)?.arenas ?? []) {
        const free = arena.free.all();
        // Before any goes: the row of a block that is gone is soon another block's.
        const expandable = free.filter((row) => this.#table.isExpandable[row] === 1);
        for (const row of free) {
          if (this.#isFreeable(row)) this.#releaseSegment(arena, row);
        }
        for (const row of expandable) this.#expandable.unmapPages(arena, row);
      }
    }
  }

  /**
   * release_available_cached_blocks, with max_split_size_mb only: the smallest oversize block that would
   * do, else oversize blocks of this stream from the largest down until there is enough.
   */
  releaseAvailable(arena: Arena, size: number, maxSplitBytes: number): boolean {
    if (maxSplitBytes === Infinity) return false;
    const target = Math.max(size, maxSplitBytes);
    const table = this.#table;
    const fitting = arena.free.first(target);
    if (fitting !== NO_BLOCK && table.isExpandable[fitting] === 0) {
      this.#releaseSegment(arena, fitting);
      return true;
    }
    let released = 0;
    // From before the one that would do: the C++ looks no further up where that is expandable.
    const smaller = arena.free.all().filter((row) => table.sizeBytes[row] < target);
    for (const row of smaller.reverse()) {
      if (released >= target || table.sizeBytes[row] < maxSplitBytes) break;
      if (table.isExpandable[row] === 1) continue;
      released += table.sizeBytes[row];
      this.#releaseSegment(arena, row);
    }
    return released >= target;
  }

  /**
   * garbage_collect_cached_blocks: above the threshold, frees unused large segments of at least average
   * age, then of what is left again, until the bytes above the threshold are freed.
   */
  collectGarbage(threshold: number): void {
    const aim = this.#memory.reservedBytes - Math.floor(threshold * this.#memory.limitBytes);
    const pool = this.#defaultPool(false);
    if (aim <= 0 || pool === undefined) return;
    const age = (row: BlockRow) => pool.searches - this.#table.freedAt[row];
    let left = pool.arenas.flatMap(({ free }) =>
      free.all().filter((row) => this.#table.isWholeSegment(row)),
    );
    let totalAge = left.reduce((sum, row) => sum + age(row), 0);
    let reclaimed = 0;
    while (reclaimed < aim && left.length > 0) {
      const averageAge = totalAge / left.length;
      const old = left.filter((row) => this.#isFreeable(row) && age(row) >= averageAge);
      if (old.length === 0) return;
      left = left.filter((row) => !old.includes(row));
      for (const row of old) {
        reclaimed += this.#table.sizeBytes[row];
        totalAge -= age(row);
        this.#releaseSegment(this.#arenas.all[this.#table.arena[row]], row);
      }
    }
  }

  #defaultPool(isSmall: boolean): MemoryPool | undefined {
    return this.#arenas.pools.find((pool) => pool.pool === 0 && pool.isSmall === isSmall);
  }

  #isFreeable(row: BlockRow): boolean {
    return this.#table.isExpandable[row] === 0 && this.#table.isWholeSegment(row);
  }

  #releaseSegment(arena: Arena, row: BlockRow): void {
    arena.free.remove(row);
    this.#memory.addresses.release(this.#table.address[row]);
    this.#memory.remove(this.#table.sizeBytes[row], false);
    this.#table.delete(row);
  }
}
