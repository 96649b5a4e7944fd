import type { BlockRow, BlockTable } from './block-table.ts';
import { FreeBlocks } from './free-blocks.ts';

/** A pool of PyTorch's: small or large, of the default pool or of a private one. */
export interface MemoryPool {
  /** 0 is the default pool, the others are private (CUDA graphs, torch.cuda.MemPool). */
  readonly pool: number;
  readonly isSmall: boolean;
  readonly arenas: Arena[];
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
  readonly pools: MemoryPool[] = [];
  readonly #table: BlockTable;
  readonly #byKey: (Arena | undefined)[] = [];
  readonly #streams: number;

  constructor(table: BlockTable, streams: number) {
    this.#table = table;
    this.#streams = Math.max(1, streams);
  }

  get(pool: number, isSmall: boolean, stream: number): Arena {
    const key = (pool * 2 + Number(isSmall)) * this.#streams + stream;
    return this.#byKey[key] ?? this.#create(key, pool, isSmall, stream);
  }

  #create(key: number, pool: number, isSmall: boolean, stream: number): Arena {
    let owner = this.pools.find((other) => other.pool === pool && other.isSmall === isSmall);
    if (owner === undefined) {
      owner = { pool, isSmall, arenas: [], searches: 0 };
      this.pools.push(owner);
    }
    const free = new FreeBlocks(this.#table);
    const arena = { index: this.all.length, stream, pool: owner, free, unmapped: [] };
    owner.arenas.push(arena);
    owner.arenas.sort((a, b) => a.stream - b.stream);
    this.all.push(arena);
    this.#byKey[key] = arena;
    return arena;
  }
}
