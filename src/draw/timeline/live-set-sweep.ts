/**
 * The live stack, carried from state to state.
 *
 * The stack is kept in chunks of at most 64 allocations, bottom first. A chunk knows the next event that changes
 * anything in it (a free requested or completed), and until then its items are skipped.
 *
 *   chunk 0: ids 0-63, 40 MB, changes at 900 │ chunk 1: ids 70-91, 3 MB, changes at 120 │ …
 *
 * Chunks live in slots of 64 items. The k-th chunk from the bottom has its items at slots[k] * 64 to slots[k] * 64 +
 * counts[k].
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { enlarged } from '../../base/growable.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { PENDING_CODE } from './colors.ts';
import type { TimelineIndex } from './timeline-index.ts';

export const CHUNK_BITS = 6;
const CHUNK = 1 << CHUNK_BITS;
/** `chunkClass` of a chunk whose allocations differ in class. */
export const MIXED = -1;

const NO_CLASS = -1;
const BIRTHS = 1 << 14;
const FIRST_SLOTS = 64;

export class LiveSetSweep {
  /** Number of chunks; the columns below have one entry per chunk, from the bottom up. */
  chunkCount = 0;
  slots = new Int32Array(FIRST_SLOTS);
  counts = new Int32Array(FIRST_SLOTS);
  bytes = new Float64Array(FIRST_SLOTS);
  /** The class that all allocations of a chunk share, or MIXED. */
  chunkClass = new Int16Array(FIRST_SLOTS);
  /** Per item, in slots. */
  ids = new Int32Array(FIRST_SLOTS * CHUNK);
  itemBytes = new Float64Array(FIRST_SLOTS * CHUNK);
  itemClass = new Uint8Array(FIRST_SLOTS * CHUNK);
  totalBytes = 0;
  state: EventIndex = -1;

  readonly #index: TimelineIndex;
  #classOf: Uint8Array;
  /** Blocks of this class keep it when they become pending. */
  #dimmedClass = NO_CLASS;
  #nextId: AllocationIndex = 0;
  #changes = new Int32Array(FIRST_SLOTS);
  /** Event from which on the whole chunk is dead: often a chunk ends all at once. */
  #lastEnds = new Int32Array(FIRST_SLOTS);
  #ends = new Int32Array(FIRST_SLOTS * CHUNK);
  #freeRequested = new Int32Array(FIRST_SLOTS * CHUNK);
  #freeSlots: number[] = [];
  #usedSlots = 0;
  readonly #births = new Int32Array(BIRTHS);

  constructor(index: TimelineIndex) {
    this.#index = index;
    this.#classOf = new Uint8Array(index.allocations.length);
  }

  /**
   * Empties the stack. `classOf` has a class below MAX_CLASSES for each allocation; `dimmedClass` is drawn the same in
   * any state.
   */
  reset(classOf: Uint8Array, dimmedClass = NO_CLASS): void {
    this.#classOf = classOf;
    this.#dimmedClass = dimmedClass;
    this.chunkCount = 0;
    this.totalBytes = 0;
    this.state = -1;
    this.#nextId = 0;
    this.#freeSlots = [];
    this.#usedSlots = 0;
  }

  /**
   * Moves on to `state`, which must not be earlier than the current one. Returns the bytes from the bottom below which
   * nothing changed.
   */
  advance(state: EventIndex): number {
    this.state = state;
    const unchangedBelow = this.#retire(state);
    const nextId = this.#index.nextId(state);
    for (let from = this.#nextId; from < nextId; from += BIRTHS) {
      const to = Math.min(nextId, from + BIRTHS);
      this.#append(state, this.#index.maxEnd.collect(state, from, to, this.#births));
    }
    this.#nextId = nextId;
    return unchangedBelow;
  }

  /** Bytes below an allocation in the stack; -1 if it is not live at the current state. */
  bottomOf(id: AllocationIndex): number {
    let bottom = 0;
    let k = 0;
    for (; k + 1 < this.chunkCount && this.ids[this.slots[k + 1] << CHUNK_BITS] <= id; k++) {
      bottom += this.bytes[k];
    }
    if (k >= this.chunkCount) return -1;
    const from = this.slots[k] << CHUNK_BITS;
    for (let i = from; i < from + this.counts[k]; i++) {
      if (this.ids[i] === id) return bottom;
      bottom += this.itemBytes[i];
    }
    return -1;
  }

  /** Removes what is dead at `state`, marks what became pending, merges chunks that became sparse. */
  #retire(state: EventIndex): number {
    const changes = this.#changes;
    let bottom = 0;
    let unchangedBelow = -1;
    let write = 0;
    for (let k = 0; k < this.chunkCount; k++) {
      if (changes[k] <= state) {
        const before = this.#lastEnds[k] <= state ? this.#empty(k) : this.#compact(k, state);
        if (unchangedBelow < 0) unchangedBelow = bottom + before;
      }
      bottom += this.bytes[k];
      const count = this.counts[k];
      if (count === 0) {
        this.#freeSlots.push(this.slots[k]);
      } else if (write > 0 && this.counts[write - 1] + count <= CHUNK) {
        this.#mergeInto(write - 1, k);
      } else {
        if (write < k) this.#moveChunk(k, write);
        write++;
      }
    }
    this.chunkCount = write;
    this.totalBytes = bottom;
    return unchangedBelow < 0 ? bottom : unchangedBelow;
  }

  /** Empties a dead chunk. Returns the bytes of its items before the first that changed: 0. */
  #empty(k: number): number {
    this.counts[k] = 0;
    this.bytes[k] = 0;
    return 0;
  }

  /** Compacts one chunk in place. Returns the bytes of its items before the first that changed. */
  #compact(k: number, state: EventIndex): number {
    const { ids, itemBytes, itemClass } = this;
    const ends = this.#ends;
    const freeRequested = this.#freeRequested;
    const dimmedClass = this.#dimmedClass;
    const from = this.slots[k] << CHUNK_BITS;
    const to = from + this.counts[k];
    let write = from;
    let bytes = 0;
    let change = NEVER;
    let lastEnd = -1;
    let unchanged = -1;
    let mixed = 0;
    for (let i = from; i < to; i++) {
      const end = ends[i];
      const free = freeRequested[i];
      const isPending = free <= state;
      const size = itemBytes[i];
      const paintClass = isPending && itemClass[i] !== dimmedClass ? PENDING_CODE : itemClass[i];
      if (unchanged < 0 && (end <= state || paintClass !== itemClass[i])) unchanged = bytes;
      ids[write] = ids[i];
      ends[write] = end;
      freeRequested[write] = free;
      itemBytes[write] = size;
      itemClass[write] = paintClass;
      if (end > state) {
        bytes += size;
        mixed |= paintClass ^ itemClass[from];
        const next = isPending || free > end ? end : free;
        if (next < change) change = next;
        if (end > lastEnd) lastEnd = end;
        write++;
      }
    }
    this.counts[k] = write - from;
    this.bytes[k] = bytes;
    this.chunkClass[k] = mixed === 0 ? itemClass[from] : MIXED;
    this.#changes[k] = change;
    this.#lastEnds[k] = lastEnd;
    return unchanged;
  }

  /** Appends the first `count` births to the top of the stack, chunk by chunk. */
  #append(state: EventIndex, count: number): void {
    for (let from = 0; from < count; ) {
      const k = this.#chunkWithRoom();
      const to = Math.min(count, from + CHUNK - this.counts[k]);
      this.#appendTo(k, state, from, to);
      from = to;
    }
  }

  #appendTo(k: number, state: EventIndex, from: number, to: number): void {
    const { sizeBytes, end: endOf, freeRequested: freeOf } = this.#index.allocations;
    const { ids, itemBytes, itemClass } = this;
    const births = this.#births;
    const classOf = this.#classOf;
    const dimmedClass = this.#dimmedClass;
    const ends = this.#ends;
    const freeRequested = this.#freeRequested;
    const first = this.slots[k] << CHUNK_BITS;
    let at = first + this.counts[k];
    let bytes = 0;
    let change = this.#changes[k];
    let lastEnd = this.#lastEnds[k];
    let mixed = this.chunkClass[k] === MIXED ? 1 : 0;
    for (let b = from; b < to; b++, at++) {
      const id = births[b];
      const end = endOf[id];
      const free = freeOf[id];
      const isPending = free <= state;
      ids[at] = id;
      ends[at] = end;
      freeRequested[at] = free;
      itemBytes[at] = sizeBytes[id];
      itemClass[at] = isPending && classOf[id] !== dimmedClass ? PENDING_CODE : classOf[id];
      mixed |= itemClass[at] ^ itemClass[first];
      bytes += sizeBytes[id];
      const next = isPending || free > end ? end : free;
      if (next < change) change = next;
      if (end > lastEnd) lastEnd = end;
    }
    this.counts[k] += to - from;
    this.bytes[k] += bytes;
    this.totalBytes += bytes;
    this.chunkClass[k] = mixed === 0 ? itemClass[first] : MIXED;
    this.#changes[k] = change;
    this.#lastEnds[k] = lastEnd;
  }

  /** The top chunk, or a new one if it is full. */
  #chunkWithRoom(): number {
    const top = this.chunkCount - 1;
    if (top >= 0 && this.counts[top] < CHUNK) return top;
    const slot = this.#freeSlots.pop() ?? this.#usedSlots++;
    if (Math.max(slot, top + 1) >= this.slots.length) this.#grow();
    const k = this.chunkCount++;
    this.slots[k] = slot;
    this.counts[k] = 0;
    this.bytes[k] = 0;
    this.chunkClass[k] = 0;
    this.#changes[k] = NEVER;
    this.#lastEnds[k] = -1;
    return k;
  }

  /** Moves the items of chunk k to the top of chunk `below`, which must have room. */
  #mergeInto(below: number, k: number): void {
    const to = (this.slots[below] << CHUNK_BITS) + this.counts[below];
    const from = this.slots[k] << CHUNK_BITS;
    const stop = from + this.counts[k];
    for (const column of [
      this.ids,
      this.#ends,
      this.#freeRequested,
      this.itemBytes,
      this.itemClass,
    ]) {
      column.copyWithin(to, from, stop);
    }
    this.counts[below] += this.counts[k];
    this.bytes[below] += this.bytes[k];
    if (this.chunkClass[below] !== this.chunkClass[k]) this.chunkClass[below] = MIXED;
    this.#changes[below] = Math.min(this.#changes[below], this.#changes[k]);
    this.#lastEnds[below] = Math.max(this.#lastEnds[below], this.#lastEnds[k]);
    this.#freeSlots.push(this.slots[k]);
  }

  #moveChunk(from: number, to: number): void {
    this.slots[to] = this.slots[from];
    this.counts[to] = this.counts[from];
    this.bytes[to] = this.bytes[from];
    this.chunkClass[to] = this.chunkClass[from];
    this.#changes[to] = this.#changes[from];
    this.#lastEnds[to] = this.#lastEnds[from];
  }

  #grow(): void {
    this.slots = enlarged(this.slots);
    this.counts = enlarged(this.counts);
    this.bytes = enlarged(this.bytes);
    this.chunkClass = enlarged(this.chunkClass);
    this.#changes = enlarged(this.#changes);
    this.#lastEnds = enlarged(this.#lastEnds);
    this.ids = enlarged(this.ids);
    this.itemBytes = enlarged(this.itemBytes);
    this.itemClass = enlarged(this.itemClass);
    this.#ends = enlarged(this.#ends);
    this.#freeRequested = enlarged(this.#freeRequested);
  }
}
