/**
 * Sets up the state before the first event. With the recorded kind of segments, this is the real state: segments,
 * blocks and the free space between them. A process that had used expandable segments (or none) from its start would
 * have had other segments, which the trace does not show. Then the blocks are allocated anew, by address, with nothing
 * cached between them.
 */

import { upperBound } from '../../base/binary-search.ts';
import { groupBy } from '../../base/collections.ts';
import { type BlockRow, NO_BLOCK } from '../replay/block-list.ts';
import { type AllocationTable, BEFORE_TRACE, type SegmentSpanTable } from '../replay/types.ts';
import { type MappedRange, mappedRangesAt } from '../state/allocator-state.ts';
import type { CachingAllocator } from './allocator.ts';
import { BlockUse } from './free-blocks.ts';

/** Gives allocations from before the trace their blocks, and writes these to `blockOf`. */
export function seeder(
  allocator: CachingAllocator,
  allocations: AllocationTable,
  spans: SegmentSpanTable,
  blockOf: Int32Array,
) {
  const byAddress = Array.from({ length: allocations.preexisting }, (_, row) => row);
  byAddress.sort((a, b) => allocations.address[a] - allocations.address[b]);
  const addresses = byAddress.map((row) => allocations.address[row]);

  function restore(): void {
    const { start, isExpandable, stream, pool, isSmall, length } = spans;
    for (let span = 0; span < length; span++) {
      if (start[span] === BEFORE_TRACE && isExpandable[span] === 0) restoreNative(span);
    }
    const mapped = mappedRangesAt(spans, BEFORE_TRACE).filter(
      ({ spans: [first] }) => isExpandable[first] === 1,
    );
    const arenas = groupBy(mapped, ({ spans: [first] }) =>
      [stream[first], pool[first], isSmall[first]].join(),
    );
    for (const ranges of arenas.values()) restoreExpandable(ranges);
  }

  /** Allocates the blocks anew. Returns the bytes of the first that does not fit under the limit, if any. */
  function allocate(): number | undefined {
    const { requestedBytes, sizeBytes, stream, pool } = allocations;
    for (const row of byAddress) {
      const known = Number.isNaN(requestedBytes[row]) ? sizeBytes[row] : requestedBytes[row];
      const block = allocator.malloc(known, stream[row], pool[row]);
      if (block === NO_BLOCK) return known;
      use(row, block);
    }
    return undefined;
  }

  function restoreNative(span: number): void {
    const { address, sizeBytes, stream, pool, isSmall } = spans;
    const { table, arenas, memory } = allocator;
    const arena = arenas.get(pool[span], isSmall[span] === 1, stream[span]);
    const bytes = sizeBytes[span];
    const place = memory.addresses.take(bytes, [address[span]]);
    const row = table.add(place, bytes, arena.index);
    memory.seed(bytes);
    restoreBlocks(row, address[span]);
  }

  /** Restores the mapped ranges of one pool and stream: one segment, from the lowest piece on. */
  function restoreExpandable(pieces: readonly MappedRange[]): void {
    const { stream, pool, isSmall } = spans;
    const { table, arenas, expandable, memory } = allocator;
    const [
      {
        address,
        spans: [first],
      },
    ] = pieces;
    const last = pieces[pieces.length - 1];
    const arena = arenas.get(pool[first], isSmall[first] === 1, stream[first]);
    let row = expandable.reserve(arena, last.address + last.sizeBytes - address);
    const offset = table.address[row] - address;
    for (const piece of pieces) {
      const gap = piece.address + offset - table.address[row];
      // Overlaps the piece before it: only in traces that contradict themselves.
      if (gap < 0) continue;
      const space = row;
      if (gap > 0) row = table.cut(space, gap, BlockUse.Unmapped);
      const rest = table.cut(row, piece.sizeBytes, BlockUse.Unmapped);
      table.use[row] = BlockUse.Free;
      if (gap > 0) expandable.addUnmapped(arena, space);
      memory.seed(piece.sizeBytes);
      restoreBlocks(row, piece.address);
      row = rest;
    }
    expandable.addUnmapped(arena, row);
  }

  /** Cuts a free block, not in any list, into the recorded blocks. `address` is its recorded address. */
  function restoreBlocks(free: BlockRow, address: number): void {
    const { table, arenas } = allocator;
    const { sizeBytes } = allocations;
    const arena = arenas.all[table.owner[free]];
    const end = address + table.sizeBytes[free];
    let row = free;
    let at = address;
    let next = upperBound(addresses, address - 1);
    for (; next < addresses.length && addresses[next] < end; next++) {
      const from = addresses[next];
      const to = Math.min(end, from + sizeBytes[byAddress[next]]);
      if (from < at || to <= from) continue;
      if (from > at) {
        const gap = row;
        row = table.cut(gap, from - at);
        arena.free.add(gap);
      }
      const block = row;
      if (to < end) row = table.cut(block, to - from);
      table.use[block] = BlockUse.Used;
      allocator.seedAllocated(block);
      use(byAddress[next], block);
      at = to;
    }
    if (at < end) arena.free.add(row);
  }

  function use(allocation: number, block: BlockRow): void {
    blockOf[allocation] = block;
    if (allocations.freeRequested[allocation] === BEFORE_TRACE) {
      allocator.requestFree(block);
    }
  }

  return { restore, allocate };
}
