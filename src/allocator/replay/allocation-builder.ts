/** Builds the allocation table during replay, and lays out the memory from before the first event. */
import { finished, slice, tableFrom } from '../../base/table.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { BlockList } from './block-list.ts';
import type { Preexisting, PreexistingBlock } from './preexisting.ts';
import type { SegmentTracker } from './segment-tracker.ts';
import {
  ALLOCATION_COLUMNS,
  type AllocationIndex,
  type AllocationTable,
  BEFORE_TRACE,
  NEVER,
  type ReplayedEvents,
} from './types.ts';

export class AllocationBuilder {
  /** Filled here and by the replay; has spare rows. */
  table: AllocationTable;
  #next: number;

  constructor(preexisting: number) {
    this.#next = preexisting;
    this.table = tableOf(preexisting, preexisting);
  }

  get length(): number {
    return this.#next;
  }

  reserve(length: number): void {
    if (length <= this.table.length) return;
    const { preexisting, length: _, ...columns } = this.table;
    this.table = tableOf(preexisting, length);
    for (const [name, column] of Object.entries(columns))
      this.table[name as keyof typeof columns].set(column.subarray(0, this.#next));
  }

  /** Starts the allocation of an alloc event, which is row `at` of the events. {@link setPlace} adds its place. */
  add(event: EventIndex, events: ReplayedEvents, at: number): AllocationIndex {
    const row = this.#next++;
    const { table } = this;
    table.start[row] = event;
    table.freeRequested[row] = NEVER;
    table.end[row] = NEVER;
    table.address[row] = events.address[at];
    table.requestedBytes[row] = events.sizeBytes[at];
    table.stream[row] = events.stream[at];
    table.stack[row] = events.stack[at];
    if (events.pool !== undefined) table.pool[row] = events.pool[at];
    return row;
  }

  soFar(): AllocationTable {
    const { table } = this;
    if (table.length === this.#next) return table;
    const { preexisting } = table;
    return { preexisting, ...slice(ALLOCATION_COLUMNS, table, 0, this.#next) };
  }

  finish(): AllocationTable {
    const { table } = this;
    const columns = tableFrom(ALLOCATION_COLUMNS, this.#next, (name, spec) =>
      finished(table[name as keyof typeof ALLOCATION_COLUMNS], spec, this.#next),
    );
    return { preexisting: table.preexisting, ...columns };
  }

  setPreexisting(row: AllocationIndex, block: PreexistingBlock): void {
    const { table } = this;
    table.start[row] = BEFORE_TRACE;
    table.freeRequested[row] = block.isPending ? BEFORE_TRACE : NEVER;
    table.end[row] = NEVER;
    table.address[row] = block.address;
    table.requestedBytes[row] = block.requestedBytes;
    table.sizeBytes[row] = block.sizeBytes;
    table.stream[row] = block.stream;
    table.stack[row] = block.stack;
  }

  /** Sets the pools of the segment, which the trace does not give for a block. */
  setPlace(row: AllocationIndex, isSmall: boolean, pool: number): void {
    if (isSmall) this.table.isSmall[row] = 1;
    if (pool > 0) this.table.pool[row] = pool;
  }
}

/**
 * Lays out the memory and the blocks from before the trace. Space between blocks is free.
 * @param hasMemory false if the segments are not an allocator's: then all blocks stand apart
 * @param setPlace called for each allocation inside a segment, with the segment's group
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
  // Each stretch of memory starts as one free block. Blocks are taken out of it in order of address.
  for (const segment of segments) {
    let free = blocks.at(segment.address);
    if (free < 0 || blocks.allocation[free] >= 0) continue;
    const end = blocks.address[free] + blocks.sizeBytes[free];
    for (; next < rows.length && address[rows[next]] < end; next++) {
      const row = rows[next];
      if (free < 0 || address[row] < blocks.address[free]) {
        blocks.addApart(address[row], sizeBytes[row], row);
        continue;
      }
      if (address[row] > blocks.address[free]) free = blocks.splitAt(free, address[row]);
      sizeBytes[row] = Math.min(sizeBytes[row], blocks.sizeBytes[free]);
      setPlace(row, blocks.owner[free]);
      free = blocks.take(free, sizeBytes[row], row);
    }
  }
  for (const row of rows.slice(next)) blocks.addApart(address[row], sizeBytes[row], row);
}

/** Written by hand instead of with the schema: the replay then writes its columns a quarter faster. */
function tableOf(preexisting: number, length: number): AllocationTable {
  return {
    length,
    preexisting,
    start: new Int32Array(length),
    freeRequested: new Int32Array(length),
    end: new Int32Array(length),
    address: new Float64Array(length),
    requestedBytes: new Float64Array(length),
    sizeBytes: new Float64Array(length),
    stream: new Uint16Array(length),
    pool: new Uint16Array(length),
    isSmall: new Uint8Array(length),
    stack: new Int32Array(length),
  };
}
