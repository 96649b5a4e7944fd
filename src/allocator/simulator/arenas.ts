import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import type { BlockRow, BlockTable } from './block-table.ts';
import { FreeBlocks } from './free-blocks.ts';

/** A pool of PyTorch's: small or large, of the default pool or of a private one. */
export interface MemoryPool {
  /** 0 is the default pool, the others are private (CUDA graphs, torch.cuda.MemPool). */
  readonly pool: number;
  readonly isSmall: boolean;
  /** In which its expandable segments are mapped and unmapped. */
  readonly pageBytes: number;
  /** Free blocks of all its streams that hold something to give back: see {@link FreeBlocks}. */
  readonly releasable: Set<BlockRow>;
  /** Searches for a free block, counted only when garbage is collected: ages are differences of it. */
  searches: number;
}

/** What one stream has in a pool: blocks are never shared between streams. */
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

  /** Blocks of a pool that hold something to give back: stream by stream, in the order of their free lists. */
  releasable({ releasable }: MemoryPool): BlockRow[] {
    const { arena, sizeBytes, address } = this.#table;
    const stream = (row: BlockRow) => this.all[arena[row]].stream;
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
