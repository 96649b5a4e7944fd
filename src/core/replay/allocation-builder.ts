/** The allocation table while the trace is replayed: sized once, from the number of alloc events. */
import { type EventIndex, type EventTable, TraceAction } from '../snapshot/tables.ts';
import type { PreexistingBlock } from './preexisting.ts';
import type { SegmentBook } from './segment-book.ts';
import { type AllocationIndex, type AllocationTable, BEFORE_TRACE, NEVER } from './types.ts';

/** Allocations outside all known segments have no group. */
export const NO_GROUP = -1;

export class AllocationBuilder {
  readonly #table: AllocationTable;
  readonly #events: EventTable;
  /** Group of free ranges that the block goes back to. */
  readonly #group: Int32Array;
  #next: number;

  constructor(preexisting: number, events: EventTable) {
    let length = preexisting;
    for (let t = 0; t < events.length; t++)
      length += Number(events.action[t] === TraceAction.Alloc);
    this.#events = events;
    this.#next = preexisting;
    this.#group = new Int32Array(length).fill(NO_GROUP);
    this.#table = {
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

  add(event: EventIndex, requestedBytes: number, sizeBytes: number): AllocationIndex {
    const row = this.#next++;
    const table = this.#table;
    table.start[row] = event;
    table.address[row] = this.#events.address[event];
    table.requestedBytes[row] = requestedBytes;
    table.sizeBytes[row] = sizeBytes;
    table.stream[row] = this.#events.stream[event];
    table.pool[row] = this.#events.pool?.[event] ?? 0;
    table.stack[row] = this.#events.stack[event];
    return row;
  }

  setPreexisting(row: AllocationIndex, block: PreexistingBlock, freeRequested: EventIndex): void {
    const table = this.#table;
    table.start[row] = BEFORE_TRACE;
    table.freeRequested[row] = freeRequested;
    table.address[row] = block.address;
    table.requestedBytes[row] = block.requestedBytes;
    table.sizeBytes[row] = block.sizeBytes;
    table.stream[row] = block.stream;
    table.stack[row] = block.stack;
  }

  /** The segment that the block lies in: its pool, and the group its memory goes back to. */
  setPlace(row: AllocationIndex, group: number, book: SegmentBook): void {
    this.#group[row] = group;
    this.#table.isSmall[row] = Number(book.isSmall(group));
    const pool = book.pool(group);
    if (pool > 0) this.#table.pool[row] = pool;
  }

  setSmall(row: AllocationIndex, isSmall: boolean): void {
    this.#table.isSmall[row] = Number(isSmall);
  }

  setSize(row: AllocationIndex, bytes: number): void {
    this.#table.sizeBytes[row] = bytes;
  }

  setFreeRequested(row: AllocationIndex, event: EventIndex): void {
    this.#table.freeRequested[row] = event;
  }

  setEnd(row: AllocationIndex, event: EventIndex): void {
    this.#table.end[row] = event;
  }

  group(row: AllocationIndex): number {
    return this.#group[row];
  }

  address(row: AllocationIndex): number {
    return this.#table.address[row];
  }

  sizeBytes(row: AllocationIndex): number {
    return this.#table.sizeBytes[row];
  }

  requestedBytes(row: AllocationIndex): number {
    return this.#table.requestedBytes[row];
  }

  freeRequested(row: AllocationIndex): EventIndex {
    return this.#table.freeRequested[row];
  }

  finish(): AllocationTable {
    return this.#table;
  }
}
