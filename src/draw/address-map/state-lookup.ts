/** Which of the drawn states is the first to show what happens at an event: asked 100,000 times a frame. */
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/** Mostly a state or two share an entry, so the search has a step or none. */
const ENTRIES_BITS = 12;

export class StateLookup {
  readonly #states: Int32Array;
  readonly #base: EventIndex;
  readonly #shift: number;
  /** Entry k: index of the first state that is base + (k << shift) or later. */
  readonly #first: Int32Array;

  /** @param states never falling; at least one */
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

  /** Index of the first state that is `event` or later; their number where none is. Not for events before all. */
  of(event: EventIndex): number {
    const entry = (event - this.#base) >> this.#shift;
    const first = this.#first;
    if (entry + 1 >= first.length) return this.#states.length;
    return lowerBound(this.#states, event, first[entry], first[entry + 1]);
  }
}
