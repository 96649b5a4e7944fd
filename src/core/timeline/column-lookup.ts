/** Which column is the first to show what happens at an event: asked 100,000 times a frame. */
import { lowerBound } from '../base/binary-search.ts';
import type { EventIndex } from '../snapshot/tables.ts';

/** Mostly a column or two share an entry, so the search has a step or none. */
const ENTRIES_BITS = 12;

export class ColumnLookup {
  readonly #states: Int32Array;
  readonly #to: number;
  readonly #base: EventIndex;
  readonly #shift: number;
  /** Entry k: first column whose state is base + (k << shift) or later. */
  readonly #first: Int32Array;

  /** @param states never falling from column `from` to column `to`, excluded; at least one column */
  constructor(states: Int32Array, from: number, to: number) {
    this.#states = states;
    this.#to = to;
    this.#base = states[from];
    const span = states[to - 1] - this.#base;
    this.#shift = Math.max(0, 32 - Math.clz32(span) - ENTRIES_BITS);
    this.#first = new Int32Array((span >> this.#shift) + 2);
    let column = from;
    for (let k = 0; k < this.#first.length; k++) {
      const state = this.#base + k * 2 ** this.#shift;
      while (column < to && states[column] < state) column++;
      this.#first[k] = column;
    }
  }

  /** First column whose state is `event` or later; `to` where none is. Not for events before all states. */
  of(event: EventIndex): number {
    const entry = (event - this.#base) >> this.#shift;
    const first = this.#first;
    if (entry + 1 >= first.length) return this.#to;
    return lowerBound(this.#states, event, first[entry], first[entry + 1]);
  }
}
