/**
 * Blocks in columns; rows of removed blocks are reused. Adjacent blocks form a chain (prev, next). Chains never cross
 * the edge of a segment, so two adjoining segments stay apart.
 */
import { enlarged } from '../../base/growable.ts';

export type BlockRow = number;
export const NO_BLOCK: BlockRow = -1;

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
