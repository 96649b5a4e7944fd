import { damagedAt } from './failures.ts';

/** Reads what a ByteWriter wrote; throws LoadError 'compact-damaged' where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  offset: number;

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#end = end;
    this.offset = from;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      // Eight bytes hold 56 bits: enough for 2^53, and no number of ours has more.
      if (this.offset >= this.#end || scale > 2 ** 49) throw damagedAt(this.offset);
      const byte = this.#bytes[this.offset++];
      if (byte < 0x80) return value + byte * scale;
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    }
  }

  bytes(count: number): Uint8Array {
    if (count > this.#end - this.offset) throw damagedAt(this.#end);
    this.offset += count;
    return this.#bytes.subarray(this.offset - count, this.offset);
  }
}
