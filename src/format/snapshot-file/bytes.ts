/** Bytes that are written and read, with the two forms of number that columns are made of. */
import { enlarged } from '../../base/growable.ts';
import { LoadError } from '../../base/load-error.ts';

export class ByteWriter {
  #bytes = new Uint8Array(1 << 16);
  length = 0;

  /**
   * LEB128: seven bits a byte, the lowest first, the top bit set on all but the last.
   * Example: 300 is ac 02. `value` is whole, 0 to 2^53.
   */
  varint(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#bytes = enlarged(this.#bytes);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  bytes(bytes: Uint8Array): void {
    while (this.length + bytes.length > this.#bytes.length) {
      this.#bytes = enlarged(this.#bytes);
    }
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }
}

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

/** `byte` counts from the start of the unpacked compact snapshot. */
export function damagedAt(byte: number): LoadError {
  return new LoadError({
    code: 'compact-damaged',
    message: 'This compact snapshot is damaged or truncated.',
    advice: 'Export it again, or open the snapshot that it was made from.',
    byte,
  });
}

export function newerVersion(version: number): LoadError {
  return new LoadError({
    code: 'compact-newer',
    message: `A newer version of vramscope made this file (format ${version}); this version cannot read it.`,
    advice: 'Open it with the newer version; a report opens by itself in any browser.',
  });
}
