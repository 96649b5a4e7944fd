/**
 * The allocation table while the trace is replayed: sized once, from the number of alloc events; and
 * the layout of what was there before the first of them.
 */
import type { EventIndex, EventTable } from '../snapshot/tables.ts';
import type { BlockList, BlockRow } from './block-list.ts';
import type { Preexisting, PreexistingBlock } from './preexisting.ts';
import type { SegmentTracker } from './segment-tracker.ts';
import { type AllocationIndex, type AllocationTable, BEFORE_TRACE, NEVER } from './types.ts';

export class AllocationBuilder {
  /** Its columns are written here and by the replay; whoever gets it from there reads only. */
  readonly table: AllocationTable;
  #next: number;

  constructor(preexisting: number, allocs: number) {
    const length = preexisting + allocs;
    this.#next = preexisting;
    // Written out and not by the schema: the replay writes its columns a quarter faster so.
    this.table = {
      length,
      preexisting,
      start: new Int32Array(length),
      freeRequested: new Int32Array(length).fill(NEVER),
      end: new Int32Array(length).fill(NEVER),
      address: new Float64Array(length),
      requestedBytes: new Float64Array(length),
      sizeBytes: new Float64Array(length),
      stream: new Uint16Array(length),
      pool: new Uint16Array(length),
      isSmall: new Uint8Array(length),
      stack: new Int32Array(length),
    };
  }

  /** Starts the allocation of an alloc event; its place is set apart. */
  add(event: EventIndex, events: EventTable): AllocationIndex {
    const row = this.#next++;
    const { table } = this;
    table.start[row] = event;
    table.address[row] = events.address[event];
    table.requestedBytes[row] = events.sizeBytes[event];
    table.stream[row] = events.stream[event];
    table.stack[row] = events.stack[event];
    if (events.pool !== undefined) table.pool[row] = events.pool[event];
    return row;
  }

  setPreexisting(row: AllocationIndex, block: PreexistingBlock): void {
    const { table } = this;
    table.start[row] = BEFORE_TRACE;
    table.freeRequested[row] = block.isPending ? BEFORE_TRACE : NEVER;
    table.address[row] = block.address;
    table.requestedBytes[row] = block.requestedBytes;
    table.sizeBytes[row] = block.sizeBytes;
    table.stream[row] = block.stream;
    table.stack[row] = block.stack;
  }

  /** The segment's pools: what the trace does not say of a block. */
  setPlace(row: AllocationIndex, isSmall: boolean, pool: number): void {
    if (isSmall) this.table.isSmall[row] = 1;
    if (pool > 0) this.table.pool[row] = pool;
  }
}

/**
 * Lays out the memory and the blocks from before the trace; what lies between the blocks is free.
 * @param hasMemory false when the segments are none of an allocator's: all blocks lie apart.
 * @param setPlace called for each allocation that lies in a segment, with the segment's group.
 */
export function placePreexisting(
  before: Preexisting,
  hasMemory: boolean,
  tracker: SegmentTracker,
  blocks: BlockList,
  allocations: AllocationBuilder,
  setPlace: (row: AllocationIndex, group: number) => void,
): void {
  const segments = [...before.segments].sort((a, b) => a.address - b.address);
  for (const segment of segments) {
    const group = tracker.open(BEFORE_TRACE, segment);
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
