import { AddressMap } from '../../base/address.ts';
import { enlarged } from '../../base/growable.ts';
import { BlockState, type DeviceTrace } from '../../format/snapshot/tables.ts';

export type BlockRow = number;
export const NO_BLOCK: BlockRow = -1;

/**
 * Blocks in columns; rows of removed blocks are reused. Adjacent blocks form a chain (prev, next). Chains never cross
 * the edge of a segment, so two adjoining segments stay apart.
 */
export class BlockChain {
  address = new Float64Array(256);
  sizeBytes = new Float64Array(256);
  prev = new Int32Array(256);
  next = new Int32Array(256);
  /** The memory that the block belongs to. Pieces cut off a block keep it. */
  owner = new Int32Array(256);
  #length = 0;
  readonly #unused: BlockRow[] = [];

  add(address: number, sizeBytes: number, owner: number): BlockRow {
    const row = this.#unused.pop() ?? this.#length++;
    if (row === this.address.length) this.enlarge();
    this.address[row] = address;
    this.sizeBytes[row] = sizeBytes;
    this.prev[row] = NO_BLOCK;
    this.next[row] = NO_BLOCK;
    this.owner[row] = owner;
    return row;
  }

  delete(row: BlockRow): void {
    this.#unused.push(row);
  }

  isWholeSegment(row: BlockRow): boolean {
    return this.prev[row] === NO_BLOCK && this.next[row] === NO_BLOCK;
  }

  link(low: BlockRow, high: BlockRow): void {
    this.next[low] = high;
    this.prev[high] = low;
  }

  /** Cuts off a block's end: the block keeps its first `bytes`, and the rest becomes the next block. */
  cut(row: BlockRow, bytes: number): BlockRow {
    const rest = this.add(this.address[row] + bytes, this.sizeBytes[row] - bytes, this.owner[row]);
    const after = this.next[row];
    this.sizeBytes[row] = bytes;
    this.link(row, rest);
    if (after !== NO_BLOCK) this.link(rest, after);
    return rest;
  }

  /** Joins a block with the next one; the first row remains. */
  joinNext(row: BlockRow): void {
    const gone = this.next[row];
    const after = this.next[gone];
    this.sizeBytes[row] += this.sizeBytes[gone];
    this.next[row] = after;
    if (after !== NO_BLOCK) this.prev[after] = row;
    this.delete(gone);
  }

  /** All rows that hold a block, in no particular order. For checks. */
  rows(): BlockRow[] {
    const unused = new Set(this.#unused);
    return [...Array(this.#length).keys()].filter((row) => !unused.has(row));
  }

  protected enlarge(): void {
    this.address = enlarged(this.address);
    this.sizeBytes = enlarged(this.sizeBytes);
    this.prev = enlarged(this.prev);
    this.next = enlarged(this.next);
    this.owner = enlarged(this.owner);
  }
}

/** `allocation` of a free block. */
const FREE = -1;
/** Owner of a live block outside all known memory. Native segments are >= 0, groups of expandable memory < -1. */
const APART = -1;

/**
 * The allocator's live and free blocks, kept as the allocator itself keeps them. A trace event costs one look-up by
 * address, and one more to split or merge a block.
 *
 * Example: in a segment [0, 2048) with a live block [0, 512), taking 512 bytes at 512 leaves [0, 512) live, [512, 1024)
 * live, [1024, 2048) free. After both are released there is one free block.
 */
export class BlockList extends BlockChain {
  /** The allocation in the block; -1 if it is free. */
  allocation = new Int32Array(256);
  readonly #byAddress = new AddressMap();
  /** The last block of each stretch of expandable memory, by its end address, where more pages may join. */
  readonly #tails = new AddressMap();
  /** Bytes of free blocks that are not whole segments. Expandable segments count as 0. */
  inactiveSplitBytes = 0;
  liveCount = 0;

  /** The block that begins at an address, or -1. */
  at(address: number): BlockRow {
    return this.#byAddress.get(address);
  }

  /** The free block that contains an address. Searches all blocks, so use it rarely. */
  freeBlockWith(address: number): BlockRow {
    const exact = this.at(address);
    if (exact >= 0) return this.allocation[exact] === FREE ? exact : NO_BLOCK;
    for (const row of this.#byAddress.rows()) {
      const offset = address - this.address[row];
      if (offset >= 0 && offset < this.sizeBytes[row] && this.allocation[row] === FREE) return row;
    }
    return NO_BLOCK;
  }

  /** Adds free memory. Expandable memory (owner < -1) joins adjacent memory of the same owner. */
  addMemory(address: number, bytes: number, owner: number): void {
    if (!(bytes > 0)) return;
    const row = this.add(address, bytes, owner);
    if (owner >= 0) return;
    const before = this.#tails.get(address);
    const after = this.at(address + bytes);
    if (before >= 0 && this.owner[before] === owner) {
      this.#tails.delete(address);
      this.link(before, row);
    }
    const isHead = after >= 0 && this.prev[after] < 0;
    if (isHead && this.owner[after] === owner) this.link(row, after);
    this.#noteTail(this.#mergeFree(row));
  }

  addApart(address: number, bytes: number, allocation: number): void {
    this.allocation[this.add(address, bytes, APART)] = allocation;
    this.liveCount++;
  }

  /** Gives the front of a free block to an allocation. Returns the free rest, or -1. */
  take(row: BlockRow, bytes: number, allocation: number): BlockRow {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    const rest = bytes < this.sizeBytes[row] ? this.cut(row, bytes) : NO_BLOCK;
    this.allocation[row] = allocation;
    this.liveCount++;
    if (rest >= 0) this.inactiveSplitBytes += this.#splitBytes(rest);
    return rest;
  }

  /** Splits a free block at an address inside it. Returns the upper part. */
  splitAt(row: BlockRow, address: number): BlockRow {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    const upper = this.cut(row, address - this.address[row]);
    this.inactiveSplitBytes += this.#splitBytes(row) + this.#splitBytes(upper);
    return upper;
  }

  /** Frees a live block and merges it with its neighbors. Returns the merged block, or -1 if the block stood apart. */
  release(row: BlockRow): BlockRow {
    this.liveCount--;
    if (this.owner[row] === APART) {
      this.delete(row);
      return NO_BLOCK;
    }
    this.allocation[row] = FREE;
    const kept = this.#mergeFree(row);
    this.inactiveSplitBytes += this.#splitBytes(kept);
    return kept;
  }

  /** Removes a range of expandable memory. Returns false and changes nothing if part of it is not free. */
  unmap(address: number, bytes: number): boolean {
    const block = this.freeBlockWith(address);
    const offset = block < 0 ? 0 : address - this.address[block];
    const isFree = block >= 0 && this.owner[block] < 0 && offset + bytes <= this.sizeBytes[block];
    if (!isFree || !(bytes > 0)) return isFree;
    const row = offset > 0 ? this.splitAt(block, address) : block;
    if (bytes < this.sizeBytes[row]) this.splitAt(row, address + bytes);
    // The stretch now ends before the unmapped range, and another one begins after it.
    const before = this.prev[row];
    const after = this.next[row];
    if (after < 0) this.#tails.delete(address + this.sizeBytes[row]);
    else this.prev[after] = NO_BLOCK;
    if (before >= 0) this.next[before] = NO_BLOCK;
    this.delete(row);
    if (before >= 0) this.#noteTail(before);
    return true;
  }

  /** Live blocks of the stretch that starts with `head`, by address. */
  liveFrom(head: BlockRow): BlockRow[] {
    const live: BlockRow[] = [];
    for (let row = head; row >= 0; row = this.next[row]) {
      if (this.allocation[row] !== FREE) live.push(row);
    }
    return live;
  }

  /** Removes a whole native segment. It must hold no live block. */
  removeSegment(row: BlockRow): void {
    this.inactiveSplitBytes -= this.#splitBytes(row);
    this.delete(row);
  }

  override add(address: number, bytes: number, owner: number): BlockRow {
    const row = super.add(address, bytes, owner);
    this.allocation[row] = FREE;
    this.#byAddress.set(address, row);
    return row;
  }

  override delete(row: BlockRow): void {
    this.#byAddress.delete(this.address[row]);
    super.delete(row);
  }

  override cut(row: BlockRow, bytes: number): BlockRow {
    const rest = super.cut(row, bytes);
    this.#noteTail(rest);
    return rest;
  }

  override joinNext(row: BlockRow): void {
    super.joinNext(row);
    this.#noteTail(row);
  }

  protected override enlarge(): void {
    super.enlarge();
    this.allocation = enlarged(this.allocation);
  }

  /** Joins a free block, not counted as split, with its free neighbors. Returns the lowest row. */
  #mergeFree(row: BlockRow): BlockRow {
    const next = this.next[row];
    if (next >= 0 && this.allocation[next] === FREE) {
      this.inactiveSplitBytes -= this.#splitBytes(next);
      this.joinNext(row);
    }
    const previous = this.prev[row];
    if (previous < 0 || this.allocation[previous] !== FREE) return row;
    this.inactiveSplitBytes -= this.#splitBytes(previous);
    this.joinNext(previous);
    return previous;
  }

  #noteTail(row: BlockRow): void {
    if (this.owner[row] >= APART || this.next[row] >= 0) return;
    this.#tails.set(this.address[row] + this.sizeBytes[row], row);
  }

  /** What a free block adds to inactive split: its bytes, or 0 for a whole or expandable segment. */
  #splitBytes(row: BlockRow): number {
    return this.owner[row] < 0 || this.isWholeSegment(row) ? 0 : this.sizeBytes[row];
  }
}

/**
 * One message for each block that differs between the final segments and the end of the trace. The segments are written
 * after the trace, so a running program causes a few differences. A recording without some kinds of entries causes
 * many.
 */
export function* endDifferences(trace: DeviceTrace, replayed: BlockList): Iterable<string> {
  const { blocks, segments } = trace;
  if (segments.length === 0) return;
  let found = 0;
  for (let b = 0; b < blocks.length; b++) {
    if (blocks.state[b] === BlockState.Inactive) continue;
    const block = replayed.at(blocks.address[b]);
    const isLive = block >= 0 && replayed.allocation[block] >= 0;
    if (isLive) found++;
    if (!isLive) yield 'the final segments hold a block that is not live in the trace';
    else if (replayed.sizeBytes[block] !== blocks.sizeBytes[b]) {
      yield 'a block has another size in the final segments';
    }
  }
  for (; found < replayed.liveCount; found++) {
    yield 'a block is live at the end that the final segments do not hold';
  }
}
