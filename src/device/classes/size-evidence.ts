/** What the sizes of allocations tell, where stacks and lifetimes leave a doubt. */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';

/** Weights by their sizes: each backward pass makes a gradient of the size of each that is trained. */
export class Weights {
  readonly #bytes: NarrowColumn;
  readonly #parameters: AllocationIndex[] = [];
  readonly #candidates: AllocationIndex[] = [];
  /** By size: parameters but for deep copies, gradients of the pass under way, and most gradients of a pass. */
  readonly #counts = new Map<number, number>();
  readonly #most = new Map<number, number>();
  #gradients = new Map<number, number>();
  #pass = 0;

  /** @param bytes requested bytes of the allocations */
  constructor(bytes: NarrowColumn) {
    this.#bytes = bytes;
  }

  /** @param isDeepCopy made by copy.deepcopy: perhaps a copy that is not trained */
  addParameter(id: AllocationIndex, isDeepCopy: boolean): void {
    this.#parameters.push(id);
    if (!isDeepCopy) this.#count(this.#counts, id);
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
      const weights = (this.#counts.get(bytes) ?? 0) + (counts.get(bytes) ?? 0);
      return weights === this.#most.get(bytes);
    });
  }

  /** What {@link addCandidate} was given. */
  get early(): readonly AllocationIndex[] {
    return this.#candidates;
  }

  get parameters(): readonly AllocationIndex[] {
    return this.#parameters;
  }

  /** By requested bytes: most gradients that a backward pass made. */
  get gradients(): ReadonlyMap<number, number> {
    return this.#most;
  }

  /** How many parameters there are of a size, deep copies left out. */
  countOf(bytes: number): number {
    return this.#counts.get(bytes) ?? 0;
  }

  #count(counts: Map<number, number>, id: AllocationIndex): number {
    const count = (counts.get(this.#bytes[id]) ?? 0) + 1;
    counts.set(this.#bytes[id], count);
    return count;
  }
}

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

/** Forward passes in which a line has to run again while what it made is still there. */
const LEAST_REPEATS = 3;

/**
 * By allocation: when its stack allocates in the third forward pass after its own; NEVER where it does not. What lives
 * longer is gathered, and not merely in use.
 *
 * @param runOf by allocation: how many forward passes ended before it
 */
export function repeatStarts(
  { length, stack, start }: AllocationTable,
  runOf: Int32Array,
): Int32Array {
  const starts = new Int32Array(length).fill(NEVER);
  const later = new Map<StackIndex, { run: number; start: EventIndex }[]>();
  for (let id = length - 1; id >= 0; id--) {
    const own = { run: runOf[id], start: start[id] };
    const calls = later.get(stack[id]);
    if (calls === undefined) {
      later.set(stack[id], [own]);
      continue;
    }
    if (calls[0].run === own.run) calls[0] = own;
    else calls.unshift(own);
    starts[id] = calls[LEAST_REPEATS]?.start ?? NEVER;
    calls.length = Math.min(calls.length, LEAST_REPEATS + 1);
  }
  return starts;
}
