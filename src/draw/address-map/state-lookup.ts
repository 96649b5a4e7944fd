/** Finds the first drawn state that shows an event; called 100,000 times per frame. */
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/** Usually a state or two share an entry, so the search takes one step or none. */
const ENTRIES_BITS = 12;

export class StateLookup {
  readonly #states: Int32Array;
  readonly #base: EventIndex;
  readonly #shift: number;
  /** Entry k: index of the first state at or after base + (k << shift). */
  readonly #first: Int32Array;

  /** @param states in ascending order, repeats allowed; at least one */
  constructor(states: Int32Array) {
    this.#states = states;
    this.#base = states[0];
    const { length } = states;
    const span = states[length - 1] - this.#base;
    this.#shift = Math.max(0, 32 - Math.clz32(span) - ENTRIES_BITS);
    this.#first = new Int32Array((span >> this.#shift) + 2);
    let index = 0;
    for (let k = 0; k < this.#first.length; k++) {
      const state = this.#base + k * 2 ** this.#shift;
      while (index < length && states[index] < state) index++;
      this.#first[k] = index;
    }
  }

  /** Index of the first state at or after `event`, or the number of states. `event` must not precede them all. */
  of(event: EventIndex): number {
    const entry = (event - this.#base) >> this.#shift;
    const first = this.#first;
    if (entry + 1 >= first.length) return this.#states.length;
    return lowerBound(this.#states, event, first[entry], first[entry + 1]);
  }
}
