/** Lays out the memory and the blocks from before the trace; what lies between the blocks is free. */
import type { AllocationBuilder } from './allocation-builder.ts';
import type { BlockList, BlockRow } from './block-list.ts';
import type { Preexisting } from './preexisting.ts';
import type { SegmentTracker } from './segment-tracker.ts';
import { type AllocationIndex, BEFORE_TRACE } from './types.ts';

/**
 * @param hasMemory false when the segments are none of an allocator's: all blocks lie apart.
 * @param setPlace called for each allocation that lies in a segment, with the segment's group.
 */
export function placePreexisting(
  before: Preexisting,
  hasMemory: boolean,
  book: SegmentTracker,
  blocks: BlockList,
  allocations: AllocationBuilder,
  setPlace: (row: AllocationIndex, group: number) => void,
): void {
  const segments = [...before.segments].sort((a, b) => a.address - b.address);
  for (const segment of segments) {
    const group = book.open(BEFORE_TRACE, segment);
    if (hasMemory) blocks.addMemory(segment.address, segment.sizeBytes, group);
  }
  before.blocks.forEach((block, row) => {
    allocations.setPreexisting(row, block);
  });
  const { address, sizeBytes } = allocations.table;
  const rows = Array.from(before.blocks.keys()).sort((a, b) => address[a] - address[b]);
  let next = 0;
  // Each stretch of memory is one free block yet: the blocks are taken out of it from below.
  for (const segment of segments) {
    let free = blocks.at(segment.address);
    if (free < 0 || blocks.allocation(free) >= 0) continue;
    const end = blocks.address(free) + blocks.bytes(free);
    for (; next < rows.length && address[rows[next]] < end; next++) {
      const row = rows[next];
      if (free < 0 || address[row] < blocks.address(free)) {
        blocks.addApart(address[row], sizeBytes[row], row);
        continue;
      }
      free = startingAt(blocks, free, address[row]);
      sizeBytes[row] = Math.min(sizeBytes[row], blocks.bytes(free));
      setPlace(row, blocks.group(free));
      free = blocks.take(free, sizeBytes[row], row);
    }
  }
  for (const row of rows.slice(next)) blocks.addApart(address[row], sizeBytes[row], row);
}

function startingAt(blocks: BlockList, free: BlockRow, address: number): BlockRow {
  return address > blocks.address(free) ? blocks.splitAt(free, address) : free;
}
