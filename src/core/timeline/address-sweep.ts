/**
 * What came, went and became pending from one state to a later one. Where a block lies does not
 * depend on the others, so a column of the address map is the column before it and these changes.
 *
 * Live rows are kept in chunks of 64, in no order, each with the next event that changes anything in
 * it: until then the chunk is passed over. What came and went in between is never looked at, the
 * max-end pyramid skips it.
 */
import { lowerBound } from '../base/binary-search.ts';
import { enlarged } from '../base/enlarged.ts';
import type { AllocationTable } from '../replay/types.ts';
import { NEVER } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import { MaxEndPyramid } from './max-end-pyramid.ts';

/** Rows that live from `start` to `end`, in order of start. */
export type Lives = Pick<AllocationTable, 'length' | 'start' | 'freeRequested' | 'end'>;

/** Told row by row, in no particular order. */
export interface Changes {
  came(row: number, isPending: boolean): void;
  went(row: number, wasPending: boolean): void;
  becamePending(row: number): void;
}

const CHUNK_BITS = 6;
const CHUNK = 1 << CHUNK_BITS;
const BIRTHS = 1 << 14;

export class AddressSweep {
  readonly #lives: Lives;
  readonly #maxEnd: MaxEndPyramid;
  readonly #births = new Int32Array(BIRTHS);
  #rows = new Int32Array(64 * CHUNK);
  /** Next event that changes the row: its free requested, or its end. */
  #rowChanges = new Int32Array(64 * CHUNK);
  #isPending = new Uint8Array(64 * CHUNK);
  #counts = new Int32Array(64);
  #nextChanges = new Int32Array(64);
  #chunks = 0;
  #state: EventIndex = -1;
  #nextRow = 0;

  constructor(lives: Lives, maxEnd = new MaxEndPyramid(lives.end)) {
    this.#lives = lives;
    this.#maxEnd = maxEnd;
  }

  get state(): EventIndex {
    return this.#state;
  }

  /** Back to nothing being there. */
  reset(): void {
    this.#chunks = 0;
    this.#state = -1;
    this.#nextRow = 0;
  }

  /** Moves on to `state`, which must not lie before the present one. */
  advance(state: EventIndex, changes: Changes): void {
    this.#state = state;
    for (let chunk = this.#chunks - 1; chunk >= 0; chunk--) {
      if (this.#nextChanges[chunk] <= state) this.#review(chunk, state, changes);
    }
    const { start, length } = this.#lives;
    const nextRow = lowerBound(start, state + 1, this.#nextRow, length);
    for (let from = this.#nextRow; from < nextRow; from += BIRTHS) {
      const to = Math.min(nextRow, from + BIRTHS);
      const count = this.#maxEnd.collect(state, from, to, this.#births);
      for (let i = 0; i < count; i++) this.#add(this.#births[i], state, changes);
    }
    this.#nextRow = nextRow;
  }

  /** Goes through a chunk in which something happened; an empty one gives its place to the last. */
  #review(chunk: number, state: EventIndex, changes: Changes): void {
    const { end } = this.#lives;
    const rows = this.#rows;
    const rowChanges = this.#rowChanges;
    const isPending = this.#isPending;
    const from = chunk << CHUNK_BITS;
    const to = from + this.#counts[chunk];
    let write = from;
    let next = NEVER;
    for (let i = from; i < to; i++) {
      const row = rows[i];
      let change = rowChanges[i];
      let pending = isPending[i];
      if (change <= state) {
        change = end[row];
        if (change <= state) {
          changes.went(row, pending === 1);
          continue;
        }
        pending = 1;
        changes.becamePending(row);
      }
      rows[write] = row;
      rowChanges[write] = change;
      isPending[write++] = pending;
      if (change < next) next = change;
    }
    this.#counts[chunk] = write - from;
    this.#nextChanges[chunk] = next;
    if (write === from) this.#drop(chunk);
  }

  #add(row: number, state: EventIndex, changes: Changes): void {
    const { end, freeRequested } = this.#lives;
    const isPending = freeRequested[row] <= state;
    const change = isPending ? end[row] : Math.min(end[row], freeRequested[row]);
    let chunk = this.#chunks - 1;
    if (chunk < 0 || this.#counts[chunk] === CHUNK) chunk = this.#newChunk();
    const at = (chunk << CHUNK_BITS) + this.#counts[chunk]++;
    this.#rows[at] = row;
    this.#rowChanges[at] = change;
    this.#isPending[at] = isPending ? 1 : 0;
    if (change < this.#nextChanges[chunk]) this.#nextChanges[chunk] = change;
    changes.came(row, isPending);
  }

  #newChunk(): number {
    if (this.#chunks === this.#counts.length) this.#grow();
    const chunk = this.#chunks++;
    this.#counts[chunk] = 0;
    this.#nextChanges[chunk] = NEVER;
    return chunk;
  }

  #drop(chunk: number): void {
    const last = --this.#chunks;
    if (chunk === last) return;
    const from = last << CHUNK_BITS;
    const to = from + this.#counts[last];
    this.#rows.copyWithin(chunk << CHUNK_BITS, from, to);
    this.#rowChanges.copyWithin(chunk << CHUNK_BITS, from, to);
    this.#isPending.copyWithin(chunk << CHUNK_BITS, from, to);
    this.#counts[chunk] = this.#counts[last];
    this.#nextChanges[chunk] = this.#nextChanges[last];
  }

  #grow(): void {
    this.#rows = enlarged(this.#rows, Int32Array);
    this.#rowChanges = enlarged(this.#rowChanges, Int32Array);
    this.#isPending = enlarged(this.#isPending, Uint8Array);
    this.#counts = enlarged(this.#counts, Int32Array);
    this.#nextChanges = enlarged(this.#nextChanges, Int32Array);
  }
}
