/**
 * Blocks of the simulated allocator: columns, a row reused when its block is gone. Blocks of one segment
 * are a chain by address (prev, next); a block without neighbours is a whole segment.
 */
import { enlarged } from '../../base/growable.ts';

export type BlockRow = number;
export const NO_BLOCK: BlockRow = -1;

/** Used: allocated, or its free waits for another stream. Unmapped: address space of an expandable segment. */
export const BlockUse = { Free: 0, Used: 1, Unmapped: 2 } as const;
export type BlockUse = (typeof BlockUse)[keyof typeof BlockUse];

export class BlockTable {
  address = new Float64Array(1024);
  sizeBytes = new Float64Array(1024);
  prev = new Int32Array(1024);
  next = new Int32Array(1024);
  /** {@link BlockUse} */
  use = new Uint8Array(1024);
  isExpandable = new Uint8Array(1024);
  /** Index of the arena (pool and stream) that the block belongs to. */
  arena = new Int32Array(1024);
  /** Searches that its pool had seen when the block became free: their number since is its age. */
  freedAt = new Float64Array(1024);
  #length = 0;
  readonly #unused: BlockRow[] = [];

  /** A row without neighbours. */
  add(address: number, sizeBytes: number, arena: number, use: BlockUse): BlockRow {
    const row = this.#unused.pop() ?? this.#length++;
    if (row === this.address.length) this.#grow();
    this.address[row] = address;
    this.sizeBytes[row] = sizeBytes;
    this.prev[row] = NO_BLOCK;
    this.next[row] = NO_BLOCK;
    this.use[row] = use;
    this.isExpandable[row] = 0;
    this.arena[row] = arena;
    return row;
  }

  delete(row: BlockRow): void {
    this.#unused.push(row);
  }

  isWholeSegment(row: BlockRow): boolean {
    return this.prev[row] === NO_BLOCK && this.next[row] === NO_BLOCK;
  }

  /** Cuts the end off a block: it keeps its first `bytes`, the rest becomes a block behind it. */
  cut(row: BlockRow, bytes: number, useOfRest: BlockUse): BlockRow {
    const rest = this.add(
      this.address[row] + bytes,
      this.sizeBytes[row] - bytes,
      this.arena[row],
      useOfRest,
    );
    this.isExpandable[rest] = this.isExpandable[row];
    this.sizeBytes[row] = bytes;
    const after = this.next[row];
    this.next[rest] = after;
    if (after !== NO_BLOCK) this.prev[after] = rest;
    this.prev[rest] = row;
    this.next[row] = rest;
    return rest;
  }

  /** Joins a block and the one behind it; the first stays. */
  joinNext(row: BlockRow): void {
    const gone = this.next[row];
    this.sizeBytes[row] += this.sizeBytes[gone];
    const after = this.next[gone];
    this.next[row] = after;
    if (after !== NO_BLOCK) this.prev[after] = row;
    this.delete(gone);
  }

  /** All rows that hold a block, in no order: for checks. */
  rows(): BlockRow[] {
    const unused = new Set(this.#unused);
    return Array.from({ length: this.#length }, (_, row) => row).filter((row) => !unused.has(row));
  }

  #grow(): void {
    this.address = enlarged(this.address);
    this.sizeBytes = enlarged(this.sizeBytes);
    this.prev = enlarged(this.prev);
    this.next = enlarged(this.next);
    this.use = enlarged(this.use);
    this.isExpandable = enlarged(this.isExpandable);
    this.arena = enlarged(this.arena);
    this.freedAt = enlarged(this.freedAt);
  }
}
