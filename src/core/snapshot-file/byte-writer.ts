/** Bytes that grow, with the two forms of number that columns are made of. */
import { enlarged } from '../base/enlarged.ts';

export class ByteWriter {
  #bytes = new Uint8Array(1 << 16);
  length = 0;

  /**
   * LEB128: seven bits a byte, the lowest first, the top bit set on all but the last.
   * Example: 300 is ac 02. `value` is whole, 0 to 2^53.
   */
  varint(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#bytes = enlarged(this.#bytes, Uint8Array);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  bytes(bytes: Uint8Array): void {
    while (this.length + bytes.length > this.#bytes.length) {
      this.#bytes = enlarged(this.#bytes, Uint8Array);
    }
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }
}
