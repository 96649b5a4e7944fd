/**
 * The allocator's blocks, live and free, as the allocator itself keeps them: each knows its neighbours
 * by address. So a trace event costs one look-up by address, one more where a block is split or merged.
 *
 * Blocks that follow each other without a gap form a stretch: a native segment, or an unbroken range
 * of mapped pages. Neighbours never cross stretches, so two segments that touch stay apart.
 * Example: in a segment [0, 2048) with a live block [0, 512), a take of 512 bytes at 512 leaves
 * [0, 512) live, [512, 1024) live, [1024, 2048) free; when both are released it is one free block.
 */
import { AddressMap } from '../../base/address-map.ts';
import { enlarged } from '../../base/growable.ts';
import { BlockState, type DeviceTrace } from '../../format/snapshot/tables.ts';

/** Row of a block; -1 is none. Rows are used again once a block is merged away. */
export type BlockRow = number;

/** `allocation` of a free block. */
const FREE = -1;
/** Group of a live block that lies in no memory we know of. Groups of native segments are >= 0, of expandable memory < -1. */
const NO_GROUP = -1;

export class BlockList {
  #address = new Float64Array(256);
  #bytes = new Float64Array(256);
  #previous = new Int32Array(256);
  #next = new Int32Array(256);
  #group = new Int32Array(256);
  #allocation = new Int32Array(256);
  #length = 0;
  readonly #unused: BlockRow[] = [];
  readonly #byAddress = new AddressMap();
  /** Last block of each stretch of expandable memory by its end, where more pages may join. */
  readonly #tails = new AddressMap();
  /** Bytes of free blocks that are not a whole segment; expandable segments count as 0. */
  inactiveSplitBytes = 0;
  liveCount = 0;

  /** The block that begins at an address; -1 when none does. */
  at(address: number): BlockRow {
    return this.#byAddress.get(address);
  }

  /** The free block that holds an address; looks at all blocks, so only for what is rare. */
  freeBlockWith(address: number): BlockRow {
    const exact = this.at(address);
    if (exact >= 0) return this.#allocation[exact] === FREE ? exact : -1;
    for (const row of this.#byAddress.rows()) {
      const offset = address - this.#address[row];
      if (offset >= 0 && offset < this.#bytes[row] && this.#allocation[row] === FREE) return row;
    }
    return -1;
  }

  address(row: BlockRow): number {
    return this.#address[row];
  }

  bytes(row: BlockRow): number {
    return this.#bytes[row];
  }

  group(row: BlockRow): number {
    return this.#group[row];
  }

  /** Allocation that lives in the block; -1 when it is free. */
  allocation(row: BlockRow): number {
    return this.#allocation[row];
  }

  /** New free memory. Expandable memory (group < -1) joins what it touches of its group. */
  addMemory(address: number, bytes: number, group: number): void {
    if (!(bytes > 0)) return;
    const row = this.#insert(address, bytes, group, FREE);
    if (group >= 0) return;
    const before = this.#tails.get(address);
    const after = this.at(address + bytes);
    if (before >= 0 && this.#group[before] === group) {
      this.#tails.delete(address);
      this.#link(before, row);
    }
    const isHead = after >= 0 && this.#previous[after] < 0;
    if (isHead && this.#group[after] === group) this.#link(row, after);
    this.#noteTail(this.#mergeFree(row));
  }

  /** A live block outside all memory that we know of. */
  addApart(address: number, bytes: number, allocation: number): void {
    this.#insert(address, bytes, NO_GROUP, allocation);
    this.liveCount++;
  }

  /** Gives the front of a free block to an allocation. Returns the free rest, -1 when there is none. */
  take(row: BlockRow, bytes: number, allocation: number): BlockRow {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    const rest = bytes < this.#bytes[row] ? this.#cutOff(row, bytes) : -1;
    this.#allocation[row] = allocation;
    this.liveCount++;
    if (rest >= 0) this.inactiveSplitBytes += this.#splitBytes(rest);
    return rest;
  }

  /** Cuts a free block in two at an address inside it. Returns the upper one. */
  splitAt(row: BlockRow, address: number): BlockRow {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    const upper = this.#cutOff(row, address - this.#address[row]);
    this.inactiveSplitBytes += this.#splitBytes(row) + this.#splitBytes(upper);
    return upper;
  }

  /** Frees a live block and merges it with its neighbours. Returns what it became, -1 when it lay apart. */
  release(row: BlockRow): BlockRow {
    this.liveCount--;
    if (this.#group[row] === NO_GROUP) {
      this.#drop(row);
      return -1;
    }
    this.#allocation[row] = FREE;
    const kept = this.#mergeFree(row);
    this.inactiveSplitBytes += this.#splitBytes(kept);
    return kept;
  }

  /** Takes a range of expandable memory away. False, and nothing is changed, where not all of it is free. */
  unmap(address: number, bytes: number): boolean {
    const block = this.freeBlockWith(address);
    const offset = block < 0 ? 0 : address - this.#address[block];
    const isFree = block >= 0 && this.#group[block] < 0 && offset + bytes <= this.#bytes[block];
    if (!isFree || !(bytes > 0)) return isFree;
    const upper = offset > 0 ? this.splitAt(block, address) : block;
    if (bytes < this.#bytes[upper]) this.splitAt(upper, address + bytes);
    this.#removeMemory(upper);
    return true;
  }

  /** Live blocks of the stretch that begins with a block, by address. */
  liveFrom(head: BlockRow): BlockRow[] {
    const live: BlockRow[] = [];
    for (let row = head; row >= 0; row = this.#next[row]) {
      if (this.#allocation[row] !== FREE) live.push(row);
    }
    return live;
  }

  /** Takes a whole native segment away; nothing may live in it. */
  removeSegment(row: BlockRow): void {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    this.#drop(row);
  }

  /** Takes a free block of expandable memory away: its stretch ends before it and begins after it. */
  #removeMemory(row: BlockRow): void {
    const previous = this.#previous[row];
    const next = this.#next[row];
    if (next < 0) this.#tails.delete(this.#address[row] + this.#bytes[row]);
    if (previous >= 0) this.#next[previous] = -1;
    if (next >= 0) this.#previous[next] = -1;
    this.#drop(row);
    if (previous >= 0) this.#noteTail(previous);
  }

  /** Shortens a block to `bytes`; the rest becomes a free block behind it. */
  #cutOff(row: BlockRow, bytes: number): BlockRow {
    const upper = this.#insert(
      this.#address[row] + bytes,
      this.#bytes[row] - bytes,
      this.#group[row],
      FREE,
    );
    const next = this.#next[row];
    this.#bytes[row] = bytes;
    this.#link(row, upper);
    if (next >= 0) this.#link(upper, next);
    else this.#noteTail(upper);
    return upper;
  }

  /** Joins a free block, not counted as split, with its free neighbours. Returns the lowest row. */
  #mergeFree(row: BlockRow): BlockRow {
    const next = this.#next[row];
    if (next >= 0 && this.#allocation[next] === FREE) this.#absorbNext(row, next);
    const previous = this.#previous[row];
    if (previous < 0 || this.#allocation[previous] !== FREE) return row;
    this.inactiveSplitBytes -= this.#splitBytes(previous);
    this.#absorb(previous, row);
    return previous;
  }

  #absorbNext(row: BlockRow, next: BlockRow): void {
    this.inactiveSplitBytes -= this.#splitBytes(next);
    this.#absorb(row, next);
  }

  #absorb(low: BlockRow, high: BlockRow): void {
    const after = this.#next[high];
    this.#bytes[low] += this.#bytes[high];
    this.#next[low] = after;
    if (after >= 0) this.#previous[after] = low;
    else this.#noteTail(low);
    this.#drop(high);
  }

  #link(low: BlockRow, high: BlockRow): void {
    this.#next[low] = high;
    this.#previous[high] = low;
  }

  #noteTail(row: BlockRow): void {
    if (this.#group[row] >= NO_GROUP || this.#next[row] >= 0) return;
    this.#tails.set(this.#address[row] + this.#bytes[row], row);
  }

  #insert(address: number, bytes: number, group: number, allocation: number): BlockRow {
    const row = this.#unused.pop() ?? this.#length++;
    if (row === this.#address.length) this.#enlarge();
    this.#address[row] = address;
    this.#bytes[row] = bytes;
    this.#previous[row] = -1;
    this.#next[row] = -1;
    this.#group[row] = group;
    this.#allocation[row] = allocation;
    this.#byAddress.set(address, row);
    return row;
  }

  #drop(row: BlockRow): void {
    this.#byAddress.delete(this.#address[row]);
    this.#unused.push(row);
  }

  #enlarge(): void {
    this.#address = enlarged(this.#address);
    this.#bytes = enlarged(this.#bytes);
    this.#previous = enlarged(this.#previous);
    this.#next = enlarged(this.#next);
    this.#group = enlarged(this.#group);
    this.#allocation = enlarged(this.#allocation);
  }

  /** What a free block adds to inactive split: its bytes, unless it is a whole segment or expandable. */
  #splitBytes(row: BlockRow): number {
    if (this.#group[row] < 0) return 0;
    return this.#previous[row] >= 0 || this.#next[row] >= 0 ? this.#bytes[row] : 0;
  }
}

/**
 * One message for each block that the final segments and the end of the trace do not have in common.
 * The segments are written after the trace and not at the same moment, so a program that runs on
 * makes a few; a recording without whole kinds of entries makes many.
 */
export function* endDifferences(trace: DeviceTrace, replayed: BlockList): Iterable<string> {
  const { blocks, segments } = trace;
  if (segments.length === 0) return;
  let found = 0;
  for (let b = 0; b < blocks.length; b++) {
    if (blocks.state[b] === BlockState.Inactive) continue;
    const block = replayed.at(blocks.address[b]);
    const isLive = block >= 0 && replayed.allocation(block) >= 0;
    if (isLive) found++;
    if (!isLive) yield 'the final segments hold a block that is not live in the trace';
    else if (replayed.bytes(block) !== blocks.sizeBytes[b]) {
      yield 'a block has another size in the final segments';
    }
  }
  for (; found < replayed.liveCount; found++) {
    yield 'a block is live at the end that the final segments do not hold';
  }
}
