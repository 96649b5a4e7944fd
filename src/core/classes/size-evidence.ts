/** What the sizes of allocations tell, where stacks and lifetimes leave a doubt. */
import type { NarrowColumn } from '../base/table.ts';
import { type AllocationIndex, type AllocationTable, NEVER } from '../replay/types.ts';
import { EMPTY_STACK } from '../snapshot/tables.ts';

/**
 * Copies of a model that are not trained, such as an average of its weights. A model may be copied before it is trained,
 * so only those count as copies for which there are too few gradients of their size:
 *
 *     64 weights of 4 MiB, 32 of them made by deepcopy; 32 gradients of 4 MiB in each pass → 32 copies
 *     64 weights of 4 MiB, 32 of them made by deepcopy; 64 gradients                       → none
 */
export class Weights {
  readonly #bytes: NarrowColumn;
  readonly #copies: AllocationIndex[] = [];
  readonly #candidates: AllocationIndex[] = [];
  /** By size: weights that are no copies, gradients of the pass under way, and most gradients of a pass. */
  readonly #originals = new Map<number, number>();
  readonly #most = new Map<number, number>();
  #gradients = new Map<number, number>();
  #pass = 0;

  /** @param bytes requested bytes of the allocations */
  constructor(bytes: NarrowColumn) {
    this.#bytes = bytes;
  }

  addWeight(id: AllocationIndex, isCopy: boolean): void {
    if (isCopy) this.#copies.push(id);
    else this.#count(this.#originals, id);
  }

  addGradient(id: AllocationIndex, pass: number): void {
    if (pass !== this.#pass) this.#gradients = new Map();
    this.#pass = pass;
    const count = this.#count(this.#gradients, id);
    if (count > (this.#most.get(this.#bytes[id]) ?? 0)) this.#most.set(this.#bytes[id], count);
  }

  /** What is made before the first step, outside of any module, and is still there in it. */
  addCandidate(id: AllocationIndex): void {
    this.#candidates.push(id);
  }

  /**
   * Weights that are in no module: candidates of a size that has more gradients in a pass than parameters.
   * All of a size or none: 6 tensors of 4 MiB and 6 gradients of 4 MiB in each pass are 6 weights.
   */
  looseWeights(): AllocationIndex[] {
    const counts = new Map<number, number>();
    for (const id of this.#candidates) this.#count(counts, id);
    return this.#candidates.filter((id) => {
      const bytes = this.#bytes[id];
      const weights = (this.#originals.get(bytes) ?? 0) + (counts.get(bytes) ?? 0);
      return weights === this.#most.get(bytes);
    });
  }

  #count(counts: Map<number, number>, id: AllocationIndex): number {
    const count = (counts.get(this.#bytes[id]) ?? 0) + 1;
    counts.set(this.#bytes[id], count);
    return count;
  }

  /** Those that are more than there are gradients for; none where nothing is trained. */
  extraCopies(): AllocationIndex[] {
    if (this.#most.size === 0) return [];
    return this.#copies.filter((id) => {
      const bytes = this.#bytes[id];
      return (this.#originals.get(bytes) ?? 0) >= (this.#most.get(bytes) ?? 0);
    });
  }
}

/** Larger and larger tensors of one call stack, such as those of a cache that is concatenated. */
export class Growth {
  readonly #last: Float64Array;
  readonly #rises: Int32Array;
  readonly #falls: Int32Array;

  constructor(stacks: number) {
    this.#last = new Float64Array(stacks);
    this.#rises = new Int32Array(stacks);
    this.#falls = new Int32Array(stacks);
  }

  see(stack: number, bytes: number): void {
    if (stack <= EMPTY_STACK) return;
    if (bytes > this.#last[stack]) this.#rises[stack]++;
    else if (bytes < this.#last[stack]) this.#falls[stack]++;
    this.#last[stack] = bytes;
  }

  grows(stack: number): boolean {
    return this.#rises[stack] >= MIN_RISES && this.#falls[stack] * MIN_RISES <= this.#rises[stack];
  }
}

const MIN_RISES = 8;

/**
 * By allocation: the start of its successor, the next one of its stack and size; NEVER where there is none. Only of those
 * that live for more than `leastEvents`.
 */
export function successorStarts(table: AllocationTable, leastEvents: number): Int32Array {
  const { length, stack, start, freeRequested, requestedBytes } = table;
  const starts = new Int32Array(length).fill(NEVER);
  const latest = new Map<number, AllocationIndex>();
  for (let id = 0; id < length; id++) {
    if (freeRequested[id] - start[id] <= leastEvents) continue;
    // Two stacks of one key are far too rare to matter.
    const key = requestedBytes[id] * 8192 + (stack[id] % 8192);
    const before = latest.get(key);
    if (before !== undefined) starts[before] = start[id];
    latest.set(key, id);
  }
  return starts;
}
