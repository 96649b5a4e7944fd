import { enlarged } from '../../base/growable.ts';
import { BlockChain, type BlockRow, NO_BLOCK } from '../replay/block-list.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';

/** Used: allocated, or its free waits for another stream. Unmapped: address space of an expandable segment. */
export const BlockUse = { Free: 0, Used: 1, Unmapped: 2 } as const;
export type BlockUse = (typeof BlockUse)[keyof typeof BlockUse];

/** Blocks of the simulated allocator. Their owner is an arena: one stream's part of a pool. */
export class BlockTable extends BlockChain {
  /** {@link BlockUse} */
  use = new Uint8Array(256);
  isExpandable = new Uint8Array(256);
  /** The pool's search count when the block became free; its age is the number of searches since then. */
  freedAt = new Float64Array(256);

  override add(
    address: number,
    sizeBytes: number,
    arena: number,
    use: BlockUse = BlockUse.Free,
  ): BlockRow {
    const row = super.add(address, sizeBytes, arena);
    this.use[row] = use;
    this.isExpandable[row] = 0;
    return row;
  }

  /** @param use state of the rest */
  override cut(row: BlockRow, bytes: number, use: BlockUse = BlockUse.Free): BlockRow {
    const rest = super.cut(row, bytes);
    this.use[rest] = use;
    this.isExpandable[rest] = this.isExpandable[row];
    return rest;
  }

  /** Joins a block with neighbors of the same use, which `leave` takes off their list first. Returns the lowest row. */
  joinAlike(row: BlockRow, leave: (neighbor: BlockRow) => void): BlockRow {
    let lowest = row;
    const before = this.prev[row];
    if (before !== NO_BLOCK && this.use[before] === this.use[row]) {
      leave(before);
      this.joinNext(before);
      lowest = before;
    }
    const after = this.next[lowest];
    if (after !== NO_BLOCK && this.use[after] === this.use[lowest]) {
      leave(after);
      this.joinNext(lowest);
    }
    return lowest;
  }

  protected override enlarge(): void {
    super.enlarge();
    this.use = enlarged(this.use);
    this.isExpandable = enlarged(this.isExpandable);
    this.freedAt = enlarged(this.freedAt);
  }
}

const CAPACITY = 256;
/** Initial capacity of a list: a hostile file has a hundred thousand streams of one block each. */
const FIRST_CAPACITY = 8;

interface Run {
  rows: Int32Array;
  /** Copies of the rows' sizes, so that searching reads only one array. */
  sizes: Float64Array;
  count: number;
}

const newRun = (capacity: number): Run => ({
  rows: new Int32Array(capacity),
  sizes: new Float64Array(capacity),
  count: 0,
});

/** What a list reports about its blocks to its pool. */
interface Owner {
  readonly pageBytes: number;
  /** Free blocks that contain whole segments or whole pages, which could go back to the device. */
  readonly releasable: Set<BlockRow>;
}

/**
 * Free blocks of one pool and stream in the allocator's order: by size, then by address. They are kept in a sequence of
 * lists of up to 256 rows. So adding and removing is cheap both for the usual fifty blocks and for the hundred thousand
 * of a fragmented pool.
 */
export class FreeBlocks {
  readonly #table: BlockTable;
  readonly #owner: Owner;
  readonly #runs: Run[] = [newRun(FIRST_CAPACITY)];
  /** Result of the last search: run and position in it. */
  #run = 0;
  #at = 0;

  constructor(table: BlockTable, owner: Owner) {
    this.#table = table;
    this.#owner = owner;
  }

  add(row: BlockRow): void {
    const size = this.#table.sizeBytes[row];
    this.#seek(size, this.#table.address[row], true);
    let run = this.#runs[this.#run];
    if (run.count === CAPACITY) run = this.#split(run);
    else if (run.count === run.rows.length) enlarge(run);
    const { rows, sizes, count } = run;
    const at = this.#at;
    // A loop: for about twenty elements, copyWithin takes three times as long.
    for (let i = count; i > at; i--) {
      rows[i] = rows[i - 1];
      sizes[i] = sizes[i - 1];
    }
    rows[at] = row;
    sizes[at] = size;
    run.count++;
    if (this.#isReleasable(row)) this.#owner.releasable.add(row);
  }

  /** Removes a block. Its size and address must be the same as when it was added. */
  remove(row: BlockRow): void {
    this.#seek(this.#table.sizeBytes[row], this.#table.address[row], false);
    this.removeFound();
  }

  /** The first block of at least this size, or -1. */
  first(sizeBytes: number): BlockRow {
    this.#seek(sizeBytes, 0, false);
    return this.#here();
  }

  /** The block after the one that the last search found, or -1. */
  after(): BlockRow {
    this.#at++;
    if (this.#at >= this.#runs[this.#run].count) {
      this.#run++;
      this.#at = 0;
    }
    return this.#here();
  }

  /** All blocks in order. The array stays valid while blocks are removed and added. */
  all(): BlockRow[] {
    return this.#runs.flatMap(({ rows, count }) => Array.from(rows.subarray(0, count)));
  }

  #here(): BlockRow {
    const run = this.#runs[this.#run];
    return this.#at < (run?.count ?? 0) ? run.rows[this.#at] : NO_BLOCK;
  }

  /** Finds the first block not before (size, address). Only for adding may the position be past a run's end. */
  #seek(size: number, address: number, forAdding: boolean): void {
    const runs = this.#runs;
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (this.#isBefore(runs[mid], runs[mid].count - 1, size, address)) low = mid + 1;
      else high = mid;
    }
    this.#run = low;
    const run = runs[low];
    let from = 0;
    let to = run.count;
    while (from < to) {
      const mid = (from + to) >>> 1;
      if (this.#isBefore(run, mid, size, address)) from = mid + 1;
      else to = mid;
    }
    this.#at = from;
    if (!forAdding && from === run.count) {
      this.#run = runs.length;
      this.#at = 0;
    }
  }

  #isBefore(run: Run, at: number, size: number, address: number): boolean {
    const other = run.sizes[at];
    return other < size || (other === size && this.#table.address[run.rows[at]] < address);
  }

  removeFound(): void {
    const run = this.#runs[this.#run];
    const row = run.rows[this.#at];
    if (this.#isReleasable(row)) this.#owner.releasable.delete(row);
    run.count--;
    const { rows, sizes, count } = run;
    for (let i = this.#at; i < count; i++) {
      rows[i] = rows[i + 1];
      sizes[i] = sizes[i + 1];
    }
    if (run.count === 0 && this.#runs.length > 1) this.#runs.splice(this.#run, 1);
  }

  /** The result is constant while the block is in the list, because its neighbors do not change. */
  #isReleasable(row: BlockRow): boolean {
    const { isExpandable, address, sizeBytes } = this.#table;
    if (isExpandable[row] === 0) return this.#table.isWholeSegment(row);
    const page = this.#owner.pageBytes;
    const end = Math.floor((address[row] + sizeBytes[row]) / page);
    return Math.ceil(address[row] / page) < end;
  }

  /** Moves the upper half of a full run into a new one. Keeps the search position. */
  #split(run: Run): Run {
    const half = CAPACITY / 2;
    const upper = newRun(CAPACITY);
    upper.rows.set(run.rows.subarray(half));
    upper.sizes.set(run.sizes.subarray(half));
    upper.count = CAPACITY - half;
    run.count = half;
    this.#runs.splice(this.#run + 1, 0, upper);
    if (this.#at <= half) return run;
    this.#run++;
    this.#at -= half;
    return upper;
  }
}

function enlarge(run: Run): void {
  run.rows = enlarged(run.rows);
  run.sizes = enlarged(run.sizes);
}

/** One of PyTorch's pools: small or large, of the default pool or of a private one. */
export interface MemoryPool {
  /** 0 is the default pool; others are private (CUDA graphs, torch.cuda.MemPool). */
  readonly pool: number;
  readonly isSmall: boolean;
  /** Its expandable segments are mapped and unmapped in pages of this size. */
  readonly pageBytes: number;
  /** Free blocks of all streams that could return memory to the device; see {@link FreeBlocks}. */
  readonly releasable: Set<BlockRow>;
  /** Searches for a free block, counted only with garbage collection: ages are differences of this count. */
  searches: number;
}

/** One stream's part of a pool. Streams never share blocks. */
export interface Arena {
  readonly index: number;
  readonly stream: number;
  readonly pool: MemoryPool;
  readonly free: FreeBlocks;
  /** Unmapped address space of expandable segments, by address. */
  readonly unmapped: BlockRow[];
}

export class Arenas {
  readonly all: Arena[] = [];
  readonly #table: BlockTable;
  readonly #pools = new Map<number, MemoryPool>();
  readonly #byKey = new Map<number, Arena>();
  readonly #streams: number;
  readonly #largePageBytes: number;

  constructor(table: BlockTable, streams: number, largePageBytes: number) {
    this.#table = table;
    this.#streams = Math.max(1, streams);
    this.#largePageBytes = largePageBytes;
  }

  get(pool: number, isSmall: boolean, stream: number): Arena {
    const owner = pool * 2 + Number(isSmall);
    const key = owner * this.#streams + stream;
    return this.#byKey.get(key) ?? this.#create(key, this.pool(pool, isSmall), stream);
  }

  pool(pool: number, isSmall: boolean): MemoryPool {
    const key = pool * 2 + Number(isSmall);
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const pageBytes = isSmall ? SMALL_SEGMENT_BYTES : this.#largePageBytes;
    const created = { pool, isSmall, pageBytes, releasable: new Set<BlockRow>(), searches: 0 };
    this.#pools.set(key, created);
    return created;
  }

  /** A pool's blocks that could return memory, stream by stream, in the order of their free lists. */
  releasable({ releasable }: MemoryPool): BlockRow[] {
    const { owner, sizeBytes, address } = this.#table;
    const stream = (row: BlockRow) => this.all[owner[row]].stream;
    return [...releasable].sort(
      (a, b) => stream(a) - stream(b) || sizeBytes[a] - sizeBytes[b] || address[a] - address[b],
    );
  }

  #create(key: number, pool: MemoryPool, stream: number): Arena {
    const free = new FreeBlocks(this.#table, pool);
    const arena = { index: this.all.length, stream, pool, free, unmapped: [] };
    this.all.push(arena);
    this.#byKey.set(key, arena);
    return arena;
  }
}
