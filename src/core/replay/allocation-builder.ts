/** The allocation table while the trace is replayed: sized once, from the number of alloc events. */
import type { EventIndex, EventTable } from '../snapshot/tables.ts';
import type { PreexistingBlock } from './preexisting.ts';
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
