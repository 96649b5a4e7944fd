/**
 * Numbers each distinct (a, b, c) of int32 once, in order of first meeting: frames by (name, file,
 * line), nodes of the stack tree by (parent, frame, 0). Open addressing over typed arrays, because a
 * file of an old version asks a hundred million times.
 */
import { enlarged } from './growable.ts';

export class TupleInterner {
  length = 0;
  /** The three numbers of row r are a[r], b[r] and c[r]. */
  a = new Int32Array(1 << 10);
  b = new Int32Array(1 << 10);
  c = new Int32Array(1 << 10);
  /** Row + 1 in each used slot. */
  #slots = new Int32Array(1 << 12);

  intern(a: number, b: number, c: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(a, b, c) & mask;
    for (let entry = this.#slots[slot]; entry !== 0; entry = this.#slots[slot]) {
      const row = entry - 1;
      if (this.a[row] === a && this.b[row] === b && this.c[row] === c) return row;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = this.length + 1;
    return this.#add(a, b, c);
  }

  #add(a: number, b: number, c: number): number {
    const row = this.length++;
    if (row === this.a.length) {
      this.a = enlarged(this.a);
      this.b = enlarged(this.b);
      this.c = enlarged(this.c);
    }
    this.a[row] = a;
    this.b[row] = b;
    this.c[row] = c;
    if (this.length * 3 > this.#slots.length) this.#rehash();
    return row;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let row = 0; row < this.length; row++) {
      let slot = hashOf(this.a[row], this.b[row], this.c[row]) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.#slots = slots;
  }
}

function hashOf(a: number, b: number, c: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
