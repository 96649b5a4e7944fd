import { enlarged } from './growable.ts';

/** Interns strings by their UTF-8 bytes: a 513 MB snapshot writes millions but holds only 108 different ones. */
export class StringInterner {
  /** Row 0 is ''. */
  length = 0;
  #bytes = new Uint8Array(1 << 12);
  #offsets = new Int32Array(1 << 10);
  /** Open addressing: row + 1 in each used slot. */
  #slots = new Int32Array(1 << 11);
  readonly #texts: (string | undefined)[] = [];
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor() {
    this.intern(this.#bytes, 0, 0);
  }

  /** The row of the string whose UTF-8 bytes are buffer[from..to). */
  intern(buffer: Uint8Array, from: number, to: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashOfBytes(buffer, from, to) & mask;
    for (let row = this.#slots[slot]; row !== 0; row = this.#slots[slot]) {
      if (this.#equals(row - 1, buffer, from, to)) return row - 1;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = this.length + 1;
    return this.#add(buffer, from, to);
  }

  internText(text: string): number {
    const bytes = new TextEncoder().encode(text);
    return this.intern(bytes, 0, bytes.length);
  }

  get(row: number): string {
    let text = this.#texts[row];
    if (text === undefined) {
      text = this.#decoder.decode(this.#bytes.subarray(this.#offsets[row], this.#offsets[row + 1]));
      this.#texts[row] = text;
    }
    return text;
  }

  #equals(row: number, buffer: Uint8Array, from: number, to: number): boolean {
    const start = this.#offsets[row];
    if (this.#offsets[row + 1] - start !== to - from) return false;
    for (let i = from, j = start; i < to; i++, j++) {
      if (this.#bytes[j] !== buffer[i]) return false;
    }
    return true;
  }

  #add(buffer: Uint8Array, from: number, to: number): number {
    const row = this.length++;
    const start = this.#offsets[row];
    const end = start + (to - from);
    while (end > this.#bytes.length) this.#bytes = enlarged(this.#bytes);
    if (row + 2 > this.#offsets.length) this.#offsets = enlarged(this.#offsets);
    this.#bytes.set(buffer.subarray(from, to), start);
    this.#offsets[row + 1] = end;
    if (this.length * 2 > this.#slots.length) this.#rehash();
    return row;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let row = 0; row < this.length; row++) {
      let slot = hashOfBytes(this.#bytes, this.#offsets[row], this.#offsets[row + 1]) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.#slots = slots;
  }
}

function hashOfBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash ^ (hash >>> 15);
}

/**
 * Numbers each distinct (a, b, c) of int32 in the order first seen: frames by (name, file, line), nodes of the stack
 * tree by (parent, frame, 0). Uses open addressing over typed arrays, because files of old versions make a hundred
 * million look-ups.
 */
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
