/**
 * What came, went and became pending from one state to a later one. Where a block lies does not
 * depend on the others, so a column of the address map is the column before it and these changes.
 *
 * Live rows are kept in chunks of 64, in no order, each with the next event that changes anything in
 * it: until then the chunk is passed over. What came and went in between is never looked at, the
 * max-end pyramid skips it. A row's figures are kept beside it: looked up in tables of millions when
 * it goes, they would not be in the cache any more.
 */
import { lowerBound } from '../base/binary-search.ts';
import { enlarged } from '../base/enlarged.ts';
import type { AllocationTable } from '../replay/types.ts';
import { NEVER } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { MaxEndPyramid } from './max-end-pyramid.ts';

/** Rows that live from `start` to `end`, in order of start. */
export type Lives = Pick<
  AllocationTable,
  'length' | 'start' | 'freeRequested' | 'end' | 'sizeBytes'
>;

/**
 * A range of a kind is there from now on (sign 1) or is gone (-1). What becomes pending goes as what
 * it was and comes as the pending kind. In no particular order.
 */
export type Change = (offset: number, bytes: number, kind: number, sign: 1 | -1) => void;

const CHUNK_BITS = 6;
const CHUNK = 1 << CHUNK_BITS;
const FIRST_CHUNKS = 64;
const BIRTHS = 1 << 14;

export class AddressSweep {
  readonly #lives: Lives;
  readonly #offset: Float64Array;
  readonly #maxEnd: MaxEndPyramid;
  readonly #births = new Int32Array(BIRTHS);
  #kindOf: Uint8Array = new Uint8Array(0);
  #pendingKind = 0;
  /** Per item: the row, the next event that changes it (its free requested, or its end), and so on. */
  #rows = new Int32Array(FIRST_CHUNKS * CHUNK);
  #rowChanges = new Int32Array(FIRST_CHUNKS * CHUNK);
  #offsets = new Float64Array(FIRST_CHUNKS * CHUNK);
  #bytes = new Float64Array(FIRST_CHUNKS * CHUNK);
  #kinds = new Uint8Array(FIRST_CHUNKS * CHUNK);
  #counts = new Int32Array(FIRST_CHUNKS);
  #nextChanges = new Int32Array(FIRST_CHUNKS);
  #chunks = 0;
  #state: EventIndex = -1;
  #nextRow = 0;

  /** @param offset where each row begins in the packed order */
  constructor(lives: Lives, offset: Float64Array, maxEnd: MaxEndPyramid) {
    this.#lives = lives;
    this.#offset = offset;
    this.#maxEnd = maxEnd;
  }

  get state(): EventIndex {
    return this.#state;
  }

  /** Back to nothing being there. `kindOf` has a kind for each row, pending ones have another. */
  reset(kindOf: Uint8Array, pendingKind: number): void {
    this.#kindOf = kindOf;
    this.#pendingKind = pendingKind;
    this.#chunks = 0;
    this.#state = -1;
    this.#nextRow = 0;
  }

  /** Moves on to `state`, which must not lie before the present one. */
  advance(state: EventIndex, change: Change): void {
    this.#state = state;
    for (let chunk = this.#chunks - 1; chunk >= 0; chunk--) {
      if (this.#nextChanges[chunk] <= state) this.#review(chunk, state, change);
    }
    const { start, length } = this.#lives;
    const nextRow = lowerBound(start, state + 1, this.#nextRow, length);
    for (let from = this.#nextRow; from < nextRow; from += BIRTHS) {
      const to = Math.min(nextRow, from + BIRTHS);
      const count = this.#maxEnd.collect(state, from, to, this.#births);
      for (let i = 0; i < count; i++) this.#add(this.#births[i], state, change);
    }
    this.#nextRow = nextRow;
  }

  /** Goes through a chunk in which something happened; an empty one gives its place to the last. */
  #review(chunk: number, state: EventIndex, change: Change): void {
    const rows = this.#rows;
    const rowChanges = this.#rowChanges;
    const offsets = this.#offsets;
    const bytes = this.#bytes;
    const kinds = this.#kinds;
    const from = chunk << CHUNK_BITS;
    const to = from + this.#counts[chunk];
    let write = from;
    let next = NEVER;
    for (let i = from; i < to; i++) {
      let changes = rowChanges[i];
      let kind = kinds[i];
      if (changes <= state) {
        change(offsets[i], bytes[i], kind, -1);
        changes = this.#lives.end[rows[i]];
        if (changes <= state) continue;
        kind = this.#pendingKind;
        change(offsets[i], bytes[i], kind, 1);
      }
      rows[write] = rows[i];
      rowChanges[write] = changes;
      offsets[write] = offsets[i];
      bytes[write] = bytes[i];
      kinds[write++] = kind;
      if (changes < next) next = changes;
    }
    this.#counts[chunk] = write - from;
    this.#nextChanges[chunk] = next;
    if (write === from) this.#drop(chunk);
  }

  #add(row: number, state: EventIndex, change: Change): void {
    const { end, freeRequested, sizeBytes } = this.#lives;
    const isPending = freeRequested[row] <= state;
    const changes = isPending ? end[row] : Math.min(end[row], freeRequested[row]);
    let chunk = this.#chunks - 1;
    if (chunk < 0 || this.#counts[chunk] === CHUNK) chunk = this.#newChunk();
    const at = (chunk << CHUNK_BITS) + this.#counts[chunk]++;
    this.#rows[at] = row;
    this.#rowChanges[at] = changes;
    this.#offsets[at] = this.#offset[row];
    this.#bytes[at] = sizeBytes[row];
    this.#kinds[at] = isPending ? this.#pendingKind : this.#kindOf[row];
    if (changes < this.#nextChanges[chunk]) this.#nextChanges[chunk] = changes;
    change(this.#offsets[at], this.#bytes[at], this.#kinds[at], 1);
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
    for (const column of [this.#rows, this.#rowChanges, this.#offsets, this.#bytes, this.#kinds]) {
      column.copyWithin(chunk << CHUNK_BITS, from, to);
    }
    this.#counts[chunk] = this.#counts[last];
    this.#nextChanges[chunk] = this.#nextChanges[last];
  }

  #grow(): void {
    this.#rows = enlarged(this.#rows, Int32Array);
    this.#rowChanges = enlarged(this.#rowChanges, Int32Array);
    this.#offsets = enlarged(this.#offsets, Float64Array);
    this.#bytes = enlarged(this.#bytes, Float64Array);
    this.#kinds = enlarged(this.#kinds, Uint8Array);
    this.#counts = enlarged(this.#counts, Int32Array);
    this.#nextChanges = enlarged(this.#nextChanges, Int32Array);
  }
}
