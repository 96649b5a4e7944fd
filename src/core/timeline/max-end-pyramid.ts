/**
 * Which allocations of an id range are live at a state, in stack order, without visiting the dead.
 *
 * Allocations are numbered in order of allocation, so stack order is id order and
 * `live(t) = { id < nextId(t) : end[id] > t }`. Each node holds the largest `end` of 16 nodes below
 * it; a node whose largest end is <= t holds nothing live and is skipped whole.
 * Example: 1.9 M ids have 118,750 + 7,422 + 464 + 29 + 2 + 1 nodes, 0.5 MB.
 */
const FAN_BITS = 4;
const FAN = 1 << FAN_BITS;

export class MaxEndPyramid {
  readonly #end: Int32Array;
  /** levels[k] has one node for each 16^(k+1) ids. */
  readonly #levels: readonly Int32Array[];

  constructor(end: Int32Array) {
    this.#end = end;
    const levels: Int32Array[] = [];
    for (let below = end; below.length > FAN; ) {
      below = maximaOf16(below);
      levels.push(below);
    }
    this.#levels = levels;
  }

  /**
   * Writes the ids in [from, to) that are live at `state` to `out`, ascending, and returns how many.
   * `out` must have room for to - from of them.
   */
  collect(state: number, from: number, to: number, out: Int32Array): number {
    const end = this.#end;
    let count = 0;
    for (let id = from; id < to; ) {
      const next = (id & (FAN - 1)) === 0 ? this.#afterDeadNode(state, id) : id;
      if (next > id) {
        id = next;
        continue;
      }
      const stop = Math.min(to, (id | (FAN - 1)) + 1);
      for (; id < stop; id++) {
        out[count] = id;
        // 1 when end > state, without a branch; all are below 2^31, so the difference keeps its sign.
        count += (state - end[id]) >>> 31;
      }
    }
    return count;
  }

  /** First id after the largest dead node that begins at `id`; `id` itself when it begins none. */
  #afterDeadNode(state: number, id: number): number {
    let node = id;
    let level = 0;
    while (
      level < this.#levels.length &&
      (node & (FAN - 1)) === 0 &&
      this.#levels[level][node >> FAN_BITS] <= state
    ) {
      node >>= FAN_BITS;
      level++;
    }
    return level === 0 ? id : (node + 1) * 2 ** (level * FAN_BITS);
  }
}

function maximaOf16(below: Int32Array): Int32Array {
  const above = new Int32Array(Math.ceil(below.length / FAN));
  for (let node = 0; node < above.length; node++) {
    const stop = Math.min(below.length, (node + 1) * FAN);
    let max = below[node * FAN];
    for (let i = node * FAN + 1; i < stop; i++) if (below[i] > max) max = below[i];
    above[node] = max;
  }
  return above;
}
