/**
 * The state before the first event. Under the recorded kind of segments it is as it was: segments,
 * blocks, and what was free between them. A process that had used expandable segments (or none) from
 * its start would have had others, which the trace does not show: there the blocks are allocated anew,
 * by address, without anything cached between them.
 */

import { upperBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/grouping.ts';
import { type BlockRow, NO_BLOCK } from '../replay/block-chain.ts';
import { type AllocationTable, BEFORE_TRACE, type SegmentSpanTable } from '../replay/types.ts';
import type { CachingAllocator } from './allocator.ts';
import { BlockUse } from './block-table.ts';

/** Block of each allocation that was there before the trace; writes them to `blockOf`. */
export class Seeder {
  readonly #allocator: CachingAllocator;
  readonly #allocations: AllocationTable;
  readonly #spans: SegmentSpanTable;
  readonly #blockOf: Int32Array;
  /** Allocations from before the trace, by address. */
  readonly #byAddress: readonly number[];
  readonly #addresses: readonly number[];

  constructor(
    allocator: CachingAllocator,
    allocations: AllocationTable,
    spans: SegmentSpanTable,
    blockOf: Int32Array,
  ) {
    this.#allocator = allocator;
    this.#allocations = allocations;
    this.#spans = spans;
    this.#blockOf = blockOf;
    const rows = Array.from({ length: allocations.preexisting }, (_, row) => row);
    this.#byAddress = rows.sort((a, b) => allocations.address[a] - allocations.address[b]);
    this.#addresses = this.#byAddress.map((row) => allocations.address[row]);
  }

  /** Segments, blocks and gaps as they were. */
  restore(): void {
    const { start, isExpandable, length } = this.#spans;
    const expandable = new Map<string, number[]>();
    for (let span = 0; span < length; span++) {
      if (start[span] !== BEFORE_TRACE) continue;
      if (isExpandable[span] === 0) {
        this.#restoreNative(span);
      } else {
        const key = [this.#spans.stream, this.#spans.pool, this.#spans.isSmall]
          .map((column) => column[span])
          .join();
        addTo(expandable, key, span);
      }
    }
    for (const spans of expandable.values()) this.#restoreExpandable(spans);
  }

  /** The blocks allocated anew. Bytes of the first that does not fit under the limit, if one does not. */
  allocate(): number | undefined {
    const { requestedBytes, sizeBytes, stream, pool } = this.#allocations;
    for (const row of this.#byAddress) {
      const known = Number.isNaN(requestedBytes[row]) ? sizeBytes[row] : requestedBytes[row];
      const block = this.#allocator.malloc(known, stream[row], pool[row]);
      if (block === NO_BLOCK) return known;
      this.#use(row, block);
    }
    return undefined;
  }

  #restoreNative(span: number): void {
    const { address, sizeBytes, stream, pool, isSmall } = this.#spans;
    const { table, arenas, memory } = this.#allocator;
    const arena = arenas.get(pool[span], isSmall[span] === 1, stream[span]);
    const bytes = sizeBytes[span];
    const place = memory.addresses.take(bytes, [address[span]]);
    const row = table.add(place, bytes, arena.index);
    memory.seed(bytes);
    this.#restoreBlocks(row, address[span]);
  }

  /** What was mapped for one pool and stream: one segment, from the lowest piece on. */
  #restoreExpandable(spans: readonly number[]): void {
    const { stream, pool, isSmall } = this.#spans;
    const { table, arenas, expandable, memory } = this.#allocator;
    const pieces = this.#joined(spans);
    const [first] = spans;
    const arena = arenas.get(pool[first], isSmall[first] === 1, stream[first]);
    const { address } = pieces[0];
    let row = expandable.reserve(arena, pieces[pieces.length - 1].end - address);
    const offset = table.address[row] - address;
    for (const piece of pieces) {
      const gap = piece.address + offset - table.address[row];
      const space = row;
      if (gap > 0) row = table.cut(space, gap, BlockUse.Unmapped);
      const rest = table.cut(row, piece.end - piece.address, BlockUse.Unmapped);
      table.use[row] = BlockUse.Free;
      if (gap > 0) expandable.addUnmapped(arena, space);
      memory.seed(piece.end - piece.address);
      this.#restoreBlocks(row, piece.address);
      row = rest;
    }
    expandable.addUnmapped(arena, row);
  }

  /** Mapped ranges by address; pieces that touch are one, as blocks may lie across. */
  #joined(spans: readonly number[]): { readonly address: number; end: number }[] {
    const { address, sizeBytes } = this.#spans;
    const joined: { readonly address: number; end: number }[] = [];
    for (const span of [...spans].sort((a, b) => address[a] - address[b])) {
      const last = joined.at(-1);
      const end = address[span] + sizeBytes[span];
      if (last !== undefined && address[span] <= last.end) last.end = Math.max(last.end, end);
      else joined.push({ address: address[span], end });
    }
    return joined;
  }

  /** Cuts a free block, in no list, as it was in use; `address` is its place in the recording. */
  #restoreBlocks(free: BlockRow, address: number): void {
    const { table, arenas } = this.#allocator;
    const { sizeBytes } = this.#allocations;
    const arena = arenas.all[table.owner[free]];
    const end = address + table.sizeBytes[free];
    let row = free;
    let at = address;
    let next = upperBound(this.#addresses, address - 1);
    for (; next < this.#addresses.length && this.#addresses[next] < end; next++) {
      const from = this.#addresses[next];
      const to = Math.min(end, from + sizeBytes[this.#byAddress[next]]);
      if (from < at || to <= from) continue;
      if (from > at) {
        const gap = row;
        row = table.cut(gap, from - at);
        arena.free.add(gap);
      }
      const block = row;
      if (to < end) row = table.cut(block, to - from);
      table.use[block] = BlockUse.Used;
      this.#allocator.seedAllocated(block);
      this.#use(this.#byAddress[next], block);
      at = to;
    }
    if (at < end) arena.free.add(row);
  }

  #use(allocation: number, block: BlockRow): void {
    this.#blockOf[allocation] = block;
    if (this.#allocations.freeRequested[allocation] === BEFORE_TRACE) {
      this.#allocator.requestFree(block);
    }
  }
}
