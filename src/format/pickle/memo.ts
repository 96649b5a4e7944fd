/**
 * The memo: a 513 MB snapshot has 15 million entries. Each takes 5 bytes here, while a Map has a limit of 2^24 entries,
 * which a 565 MB file reaches. Numbers that do not fit an int32 are rare and are kept aside.
 */
import { type CapacityPolicy, enlarged } from '../../base/growable.ts';
import { release } from '../../base/table.ts';

/** Larger slot numbers are hostile: 2^28 entries would need a pickle of at least 4 GB. */
const MAX_SLOT = 2 ** 28;
/** Most numbers kept aside. No pickler memoizes numbers. */
const MAX_ASIDE = 2 ** 16;
/** An entry takes one opcode, and its value at least one more. Real files have 30 bytes or more per entry. */
const BYTES_PER_SLOT = 4;
const EMPTY = 255;
const ASIDE = 254;

export class Memo {
  /** The slot that the next MEMOIZE fills. */
  length = 0;
  /** A slot was filled twice, which no pickler does, so a slot no longer identifies one value. */
  isRewritten = false;
  /** Slots from `length` on are empty, whatever their contents. */
  tags = new Uint8Array(1 << 12);
  vals = new Int32Array(1 << 12);
  readonly #growth: CapacityPolicy;
  readonly #aside = new Map<number, { tag: number; val: number }>();

  constructor(growth: CapacityPolicy) {
    this.#growth = growth;
  }

  /** False if the slot number is outside any realistic range. */
  set(slot: number, tag: number, val: number): boolean {
    if (slot >= this.tags.length && !this.#grow(slot)) return false;
    if (slot >= this.length) {
      this.tags.fill(EMPTY, this.length, slot);
      this.length = slot + 1;
    }
    if ((val | 0) === val) {
      this.tags[slot] = tag;
      this.vals[slot] = val;
    } else {
      if (this.#aside.size === MAX_ASIDE) return false;
      this.tags[slot] = ASIDE;
      this.#aside.set(slot, { tag, val });
    }
    return true;
  }

  /** Undefined for an empty slot. */
  get(slot: number): { readonly tag: number; readonly val: number } | undefined {
    const tag = slot < this.length ? this.tags[slot] : EMPTY;
    if (tag === EMPTY) return undefined;
    return tag === ASIDE ? this.#aside.get(slot) : { tag, val: this.vals[slot] };
  }

  /** Call when reading is done: frees 75 MB for a 513 MB snapshot, which the replay can use. */
  release(): void {
    this.length = 0;
    for (const column of [this.tags, this.vals]) release(column);
    this.tags = new Uint8Array(0);
    this.vals = new Int32Array(0);
  }

  #grow(slot: number): boolean {
    // A slot far past the end is an attack on our memory.
    if (slot >= MAX_SLOT || slot > this.length * 4 + (1 << 20)) return false;
    if (!this.#growth.allows(slot, BYTES_PER_SLOT)) return false;
    const capacity = this.#growth.next(Math.max(slot + 1, this.tags.length));
    this.tags = enlarged(this.tags, capacity);
    this.vals = enlarged(this.vals, capacity);
    return true;
  }
}
