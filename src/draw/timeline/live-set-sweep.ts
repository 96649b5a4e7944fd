/**
 * The live stack, carried from state to state.
 *
 * The stack is kept in chunks of at most 64 allocations, bottom first. A chunk knows the next event that changes
 * anything in it (a free requested or completed), and until then its items are skipped.
 *
 *   chunk 0: ids 0-63, 40 MB, changes at 900 │ chunk 1: ids 70-91, 3 MB, changes at 120 │ …
 *
 * Chunks live in slots of 64 items. The k-th chunk from the bottom has its items at slot[k] * 64 to slot[k] * 64 +
 * count[k].
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { createTable, grow, type TableSchema } from '../../base/table.ts';
import { waitsFrom } from '../../device/model/waits.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { PENDING_CODE } from './colors.ts';
import type { TimelineIndex } from './timeline-index.ts';

export const CHUNK_BITS = 6;
const CHUNK = 1 << CHUNK_BITS;
/** `paintClass` of a chunk whose allocations differ in class. */
export const MIXED = -1;

const NO_CLASS = -1;
const BIRTHS = 1 << 14;
const FIRST_SLOTS = 64;

/** One row per chunk, from the bottom up. */
const CHUNK_COLUMNS = {
  slot: { type: 'i32' },
  count: { type: 'i32' },
  bytes: { type: 'f64' },
  /** The class that all allocations of the chunk share, or MIXED. */
  paintClass: { type: 'i32' },
  /** The next event that changes anything in it. */
  change: { type: 'i32' },
  /** Event from which on the whole chunk is dead: often a chunk ends all at once. */
  lastEnd: { type: 'i32' },
} as const satisfies TableSchema;

/** One row per item, in slots. */
const ITEM_COLUMNS = {
  id: { type: 'i32' },
  bytes: { type: 'f64' },
  paintClass: { type: 'u8' },
  end: { type: 'i32' },
  /** When it begins to wait for another stream, see waitsFrom. */
  waits: { type: 'i32' },
} as const satisfies TableSchema;

export class LiveSetSweep {
  chunkCount = 0;
  chunks = createTable(CHUNK_COLUMNS, FIRST_SLOTS);
  items = createTable(ITEM_COLUMNS, FIRST_SLOTS * CHUNK);
  totalBytes = 0;
  state: EventIndex = -1;

  readonly #index: TimelineIndex;
  #classOf: Uint8Array;
  /** Blocks of this class keep it when they become pending. */
  #dimmedClass = NO_CLASS;
  #nextId: AllocationIndex = 0;
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
    const { chunks, items } = this;
    let bottom = 0;
    let k = 0;
    for (; k + 1 < this.chunkCount && items.id[chunks.slot[k + 1] << CHUNK_BITS] <= id; k++) {
      bottom += chunks.bytes[k];
    }
    if (k >= this.chunkCount) return -1;
    const from = chunks.slot[k] << CHUNK_BITS;
    for (let i = from; i < from + chunks.count[k]; i++) {
      if (items.id[i] === id) return bottom;
      bottom += items.bytes[i];
    }
    return -1;
  }

  /** Removes what is dead at `state`, marks what became pending, merges chunks that became sparse. */
  #retire(state: EventIndex): number {
    const { slot, count, bytes, change, lastEnd } = this.chunks;
    let bottom = 0;
    let unchangedBelow = -1;
    let write = 0;
    for (let k = 0; k < this.chunkCount; k++) {
      if (change[k] <= state) {
        let before = 0;
        if (lastEnd[k] <= state) {
          count[k] = 0;
          bytes[k] = 0;
        } else before = this.#compact(k, state);
        if (unchangedBelow < 0) unchangedBelow = bottom + before;
      }
      bottom += bytes[k];
      if (count[k] === 0) {
        this.#freeSlots.push(slot[k]);
      } else if (write > 0 && count[write - 1] + count[k] <= CHUNK) {
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

  /** Compacts one chunk in place. Returns the bytes of its items before the first that changed. */
  #compact(k: number, state: EventIndex): number {
    const { chunks } = this;
    const { id, bytes: itemBytes, paintClass: itemClass, end: ends, waits } = this.items;
    const dimmedClass = this.#dimmedClass;
    const from = chunks.slot[k] << CHUNK_BITS;
    const to = from + chunks.count[k];
    let write = from;
    let bytes = 0;
    let change = NEVER;
    let lastEnd = -1;
    let unchanged = -1;
    let mixed = 0;
    for (let i = from; i < to; i++) {
      const end = ends[i];
      const free = waits[i];
      const isPending = free <= state;
      const size = itemBytes[i];
      const paintClass = isPending && itemClass[i] !== dimmedClass ? PENDING_CODE : itemClass[i];
      if (unchanged < 0 && (end <= state || paintClass !== itemClass[i])) unchanged = bytes;
      id[write] = id[i];
      ends[write] = end;
      waits[write] = free;
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
    chunks.count[k] = write - from;
    chunks.bytes[k] = bytes;
    chunks.paintClass[k] = mixed === 0 ? itemClass[from] : MIXED;
    chunks.change[k] = change;
    chunks.lastEnd[k] = lastEnd;
    return unchanged;
  }

  /** Appends the first `count` births to the top of the stack, chunk by chunk. */
  #append(state: EventIndex, count: number): void {
    for (let from = 0; from < count; ) {
      const k = this.#chunkWithRoom();
      const to = Math.min(count, from + CHUNK - this.chunks.count[k]);
      this.#appendTo(k, state, from, to);
      from = to;
    }
  }

  #appendTo(k: number, state: EventIndex, from: number, to: number): void {
    const { sizeBytes, end: endOf, freeRequested: freeOf } = this.#index.allocations;
    const { chunks, items } = this;
    const { bytes: itemBytes, paintClass: itemClass, end: ends, waits } = items;
    const births = this.#births;
    const classOf = this.#classOf;
    const dimmedClass = this.#dimmedClass;
    const first = chunks.slot[k] << CHUNK_BITS;
    let at = first + chunks.count[k];
    let bytes = 0;
    let change = chunks.change[k];
    let lastEnd = chunks.lastEnd[k];
    let mixed = chunks.paintClass[k] === MIXED ? 1 : 0;
    for (let b = from; b < to; b++, at++) {
      const id = births[b];
      const end = endOf[id];
      const free = waitsFrom(freeOf[id], end);
      const isPending = free <= state;
      items.id[at] = id;
      ends[at] = end;
      waits[at] = free;
      itemBytes[at] = sizeBytes[id];
      itemClass[at] = isPending && classOf[id] !== dimmedClass ? PENDING_CODE : classOf[id];
      mixed |= itemClass[at] ^ itemClass[first];
      bytes += sizeBytes[id];
      const next = isPending || free > end ? end : free;
      if (next < change) change = next;
      if (end > lastEnd) lastEnd = end;
    }
    chunks.count[k] += to - from;
    chunks.bytes[k] += bytes;
    this.totalBytes += bytes;
    chunks.paintClass[k] = mixed === 0 ? itemClass[first] : MIXED;
    chunks.change[k] = change;
    chunks.lastEnd[k] = lastEnd;
  }

  /** The top chunk, or a new one if it is full. */
  #chunkWithRoom(): number {
    const top = this.chunkCount - 1;
    if (top >= 0 && this.chunks.count[top] < CHUNK) return top;
    const slot = this.#freeSlots.pop() ?? this.#usedSlots++;
    const room = this.chunks.length;
    if (Math.max(slot, top + 1) >= room) {
      this.chunks = grow(CHUNK_COLUMNS, this.chunks, 2 * room);
      this.items = grow(ITEM_COLUMNS, this.items, 2 * room * CHUNK);
    }
    const { chunks } = this;
    const k = this.chunkCount++;
    chunks.slot[k] = slot;
    chunks.count[k] = 0;
    chunks.bytes[k] = 0;
    chunks.paintClass[k] = 0;
    chunks.change[k] = NEVER;
    chunks.lastEnd[k] = -1;
    return k;
  }

  /** Moves the items of chunk k to the top of chunk `below`, which must have room. */
  #mergeInto(below: number, k: number): void {
    const { chunks, items } = this;
    const to = (chunks.slot[below] << CHUNK_BITS) + chunks.count[below];
    const from = chunks.slot[k] << CHUNK_BITS;
    const stop = from + chunks.count[k];
    items.id.copyWithin(to, from, stop);
    items.bytes.copyWithin(to, from, stop);
    items.paintClass.copyWithin(to, from, stop);
    items.end.copyWithin(to, from, stop);
    items.waits.copyWithin(to, from, stop);
    chunks.count[below] += chunks.count[k];
    chunks.bytes[below] += chunks.bytes[k];
    if (chunks.paintClass[below] !== chunks.paintClass[k]) chunks.paintClass[below] = MIXED;
    chunks.change[below] = Math.min(chunks.change[below], chunks.change[k]);
    chunks.lastEnd[below] = Math.max(chunks.lastEnd[below], chunks.lastEnd[k]);
    this.#freeSlots.push(chunks.slot[k]);
  }

  #moveChunk(from: number, to: number): void {
    const { slot, count, bytes, paintClass, change, lastEnd } = this.chunks;
    slot[to] = slot[from];
    count[to] = count[from];
    bytes[to] = bytes[from];
    paintClass[to] = paintClass[from];
    change[to] = change[from];
    lastEnd[to] = lastEnd[from];
  }
}
