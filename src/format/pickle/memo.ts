/**
 * The memo: 15 million entries in a 513 MB snapshot, so 5 bytes each and no Map (whose limit of
 * 2^24 entries a 565 MB file reaches). Numbers that do not fit an int32 are rare and kept aside.
 */
import { type CapacityPolicy, enlarged } from '../../base/growable.ts';
import { release } from '../../base/table.ts';

/** Slots past this are hostile: 2^28 entries would need a pickle of 4 GB at the least. */
const MAX_SLOT = 2 ** 28;
/** Values that are remembered without need: numbers, which no pickler puts there. */
const MAX_ASIDE = 2 ** 16;
/** An entry takes an opcode, and what it remembers another one or more: real files have 30 bytes and more for each. */
const BYTES_PER_SLOT = 4;
const EMPTY = 255;
const ASIDE = 254;

export class Memo {
  /** Entries so far, which is the slot the next MEMOIZE fills. */
  length = 0;
  /** A slot was filled twice, which no pickler does: a slot no longer stands for one value. */
  isRewritten = false;
  /** Slots from `length` on hold nothing, whatever is written there. */
  tags = new Uint8Array(1 << 16);
  vals = new Int32Array(1 << 16);
  readonly #growth: CapacityPolicy;
  readonly #aside = new Map<number, { tag: number; val: number }>();

  constructor(growth: CapacityPolicy) {
    this.#growth = growth;
  }

  /** False when the slot number is out of any real range. */
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

  /** Undefined for a slot nothing was stored in. */
  get(slot: number): { readonly tag: number; readonly val: number } | undefined {
    const tag = slot < this.length ? this.tags[slot] : EMPTY;
    if (tag === EMPTY) return undefined;
    return tag === ASIDE ? this.#aside.get(slot) : { tag, val: this.vals[slot] };
  }

  /** Makes room for slots below `end`, for a caller that fills them itself. False where it may not. */
  reserve(end: number): boolean {
    return end <= this.tags.length || this.#grow(end);
  }

  /** Once nothing more is read: 75 MB of a 513 MB snapshot, which the replay can use. */
  release(): void {
    this.length = 0;
    for (const column of [this.tags, this.vals]) release(column);
    this.tags = new Uint8Array(0);
    this.vals = new Int32Array(0);
  }

  #grow(slot: number): boolean {
    // A slot far past the end is no memo but an attack on our memory.
    if (slot >= MAX_SLOT || slot > this.length * 4 + (1 << 20)) return false;
    if (!this.#growth.allows(slot, BYTES_PER_SLOT)) return false;
    const capacity = this.#growth.next(Math.max(slot + 1, this.tags.length));
    this.tags = enlarged(this.tags, capacity);
    this.vals = enlarged(this.vals, capacity);
    return true;
  }
}
