/**
 * Finds allocations of an id range that are live at a state, in stack order, without visiting dead ones.
 *
 * Allocations are numbered in order of allocation, so stack order is id order and `live(t) = { id < nextId(t) : end[id]
 * > t }`. A leaf holds the largest `end` of 64 ids, each higher node the largest of 16 nodes below. Where that is <= t
 * nothing is live and the whole node is skipped. Smaller leaves cost more in mispredicted branches than they save in
 * ids examined. Example: 1.9 M ids have 29,688 leaves and 1,856 + 116 + 8 nodes above, 0.13 MB.
 */
const LEAF_BITS = 6;
const LEAF = 1 << LEAF_BITS;
const FAN_BITS = 4;
const FAN = 1 << FAN_BITS;
const IDS_AT_ONCE = 1 << 14;

export class MaxEndPyramid {
  readonly #end: Int32Array;
  /** levels[0] are the leaves; a node of levels[k] has 64 * 16^k ids. */
  readonly #levels: readonly Int32Array[];

  constructor(end: Int32Array) {
    this.#end = end;
    const levels = [maximaOf(end, LEAF)];
    while (levels[levels.length - 1].length > FAN) {
      levels.push(maximaOf(levels[levels.length - 1], FAN));
    }
    this.#levels = levels;
  }

  /**
   * Writes the ids in [from, to) that are live at `state` to `out`, ascending, and returns their number. `out` must
   * have room for to - from ids.
   */
  collect(state: number, from: number, to: number, out: Int32Array): number {
    const end = this.#end;
    const leaves = this.#levels[0];
    let count = 0;
    for (let id = from; id < to; ) {
      if ((id & (LEAF - 1)) === 0 && leaves[id >> LEAF_BITS] <= state) {
        id = this.#afterDeadNode(state, id);
        continue;
      }
      const stop = Math.min(to, (id | (LEAF - 1)) + 1);
      for (; id < stop; id++) {
        if (end[id] > state) out[count++] = id;
      }
    }
    return count;
  }

  /** The ids below `until` that are live at `state`, ascending, in pieces; each piece overwrites the previous one. */
  *live(state: number, until: number): Generator<Int32Array> {
    const ids = new Int32Array(Math.max(0, Math.min(until, IDS_AT_ONCE)));
    for (let from = 0; from < until; from += IDS_AT_ONCE) {
      yield ids.subarray(0, this.collect(state, from, Math.min(until, from + IDS_AT_ONCE), ids));
    }
  }

  /** First id after the largest dead node that begins at `id`, where a dead leaf begins. */
  #afterDeadNode(state: number, id: number): number {
    const levels = this.#levels;
    let node = id >> LEAF_BITS;
    let level = 0;
    while (
      level + 1 < levels.length &&
      (node & (FAN - 1)) === 0 &&
      levels[level + 1][node >> FAN_BITS] <= state
    ) {
      node >>= FAN_BITS;
      level++;
    }
    return (node + 1) * 2 ** (LEAF_BITS + level * FAN_BITS);
  }
}

function maximaOf(below: Int32Array, fan: number): Int32Array {
  const above = new Int32Array(Math.ceil(below.length / fan));
  for (let node = 0; node < above.length; node++) {
    const stop = Math.min(below.length, (node + 1) * fan);
    let max = below[node * fan];
    for (let i = node * fan + 1; i < stop; i++) if (below[i] > max) max = below[i];
    above[node] = max;
  }
  return above;
}
