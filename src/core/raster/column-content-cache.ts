/**
 * Which slot of a column cache holds the column of a content, by its fingerprint. Training steps are
 * alike, so most columns of a picture of many steps are there already, painted for another state.
 */
import type { ColumnCache } from './column-cache.ts';

/** A few times as many as there are slots; of two contents in one entry the later is known. */
const ENTRIES = 1 << 14;

export class ColumnContentCache {
  readonly #slots = new Int32Array(ENTRIES);
  /** Per slot: its fingerprint. */
  #low = new Int32Array(0);
  #high = new Int32Array(0);
  #epoch = -1;

  /** To be called when a frame begins: what the cache has forgotten is forgotten here, too. */
  begin({ epoch, slots }: ColumnCache): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#slots.fill(-1);
    if (this.#low.length !== slots) {
      this.#low = new Int32Array(slots);
      this.#high = new Int32Array(slots);
    }
  }

  /** -1 where no slot is known to hold it. */
  find(low: number, high: number): number {
    const slot = this.#slots[low & (ENTRIES - 1)];
    return slot >= 0 && this.#low[slot] === low && this.#high[slot] === high ? slot : -1;
  }

  /** A slot has been painted. */
  keep(slot: number, low: number, high: number): void {
    this.#slots[low & (ENTRIES - 1)] = slot;
    this.#low[slot] = low;
    this.#high[slot] = high;
  }
}
