/** The three ways in which cached memory goes back to the device. */

import { type BlockRow, NO_BLOCK } from '../replay/block-chain.ts';
import { type BlockTable } from './block-table.ts';
import type { DeviceMemory } from './device-memory.ts';
import type { ExpandableSegments } from './expandable.ts';
import type { Arena, Arenas } from './free-blocks.ts';

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
      const rows = this.#arenas.releasable(this.#arenas.pool(0, isSmall));
      // Before any goes: the row of a block that is gone is soon another block's.
      const expandable = rows.filter((row) => this.#table.isExpandable[row] === 1);
      for (const row of rows) {
        if (this.#isFreeable(row)) this.#releaseSegment(row);
      }
      for (const row of expandable) this.#expandable.unmapPages(this.#arenaOf(row), row);
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
      this.#releaseSegment(fitting);
      return true;
    }
    let released = 0;
    // From before the one that would do: the C++ looks no further up where that is expandable.
    const smaller = arena.free.all().filter((row) => table.sizeBytes[row] < target);
    for (const row of smaller.reverse()) {
      if (released >= target || table.sizeBytes[row] < maxSplitBytes) break;
      if (table.isExpandable[row] === 1) continue;
      released += table.sizeBytes[row];
      this.#releaseSegment(row);
    }
    return released >= target;
  }

  /**
   * garbage_collect_cached_blocks: above the threshold, frees unused large segments of at least average
   * age, then of what is left again, until the bytes above the threshold are freed.
   */
  collectGarbage(threshold: number): void {
    const aim = this.#memory.reservedBytes - Math.floor(threshold * this.#memory.limitBytes);
    if (aim <= 0) return;
    const pool = this.#arenas.pool(0, false);
    const age = (row: BlockRow) => pool.searches - this.#table.freedAt[row];
    let left = this.#arenas.releasable(pool).filter((row) => this.#table.isWholeSegment(row));
    let totalAge = left.reduce((sum, row) => sum + age(row), 0);
    let reclaimed = 0;
    while (reclaimed < aim && left.length > 0) {
      const averageAge = totalAge / left.length;
      const isOld = (row: BlockRow) => this.#isFreeable(row) && age(row) >= averageAge;
      const old = left.filter(isOld);
      if (old.length === 0) return;
      left = left.filter((row) => !isOld(row));
      for (const row of old) {
        reclaimed += this.#table.sizeBytes[row];
        totalAge -= age(row);
        this.#releaseSegment(row);
      }
    }
  }

  #arenaOf(row: BlockRow): Arena {
    return this.#arenas.all[this.#table.owner[row]];
  }

  #isFreeable(row: BlockRow): boolean {
    return this.#table.isExpandable[row] === 0 && this.#table.isWholeSegment(row);
  }

  #releaseSegment(row: BlockRow): void {
    this.#arenaOf(row).free.remove(row);
    this.#memory.addresses.release(this.#table.address[row]);
    this.#memory.remove(this.#table.sizeBytes[row], false);
    this.#table.delete(row);
  }
}
