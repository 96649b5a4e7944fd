/**
 * Writes nodes as PyTorch's C++ pickler does (`_memory_snapshot_pickled`): protocol 2, strings once
 * each by content, lists and dictionaries memoised when they stand in several places, integers
 * beyond 32 bits always in 8 bytes, and one mark and APPENDS a list, a million items long or empty.
 */
const BUFFER_BYTES = 1 << 19;

export class CppPickler {
  /** Objects memoised so far. */
  memoised = 0;
  #strings = new Map();
  #out;
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES * 2);
  #used = 0;

  /** @param {import('./byte-writer.mjs').ByteWriter} out */
  constructor(out) {
    this.#out = out;
    out.write(Buffer.from([0x80, 2]));
  }

  /** @param {import('./pickle-nodes.mjs').Node} item */
  write(item) {
    if (this.#used >= BUFFER_BYTES) this.#flush();
    if (item.kind === 'int') this.#int(item.value);
    else if (item.kind === 'constant') this.#byte(item.value.charCodeAt(0));
    else if (item.kind === 'float') this.#float(item.value);
    else if (item.kind === 'string') this.#string(item.value);
    else if (item.memo >= 0) this.#indexed(0x68, 0x6a, item.memo);
    else if (item.kind === 'tuple') this.#tuple(item);
    else if (item.kind === 'list') this.#container(item, 0x5d, 0x65);
    else this.#container(item, 0x7d, 0x75);
  }

  /** Writes what remains. */
  end() {
    this.#byte(0x2e);
    this.#flush();
  }

  #container(item, empty, close) {
    this.#byte(empty);
    this.#byte(0x28);
    for (const part of item.value) this.write(part);
    this.#byte(close);
    if (item.uses > 1) item.memo = this.#put();
  }

  #tuple(item) {
    for (const part of item.value) this.write(part);
    this.#byte(0x86);
    if (item.uses > 1) item.memo = this.#put();
  }

  #string(text) {
    const known = this.#strings.get(text);
    if (known !== undefined) {
      this.#indexed(0x68, 0x6a, known);
      return;
    }
    const length = Buffer.byteLength(text);
    this.#byte(0x58);
    this.#used = this.#buffer.writeUInt32LE(length, this.#used);
    this.#used += this.#buffer.write(text, this.#used);
    this.#strings.set(text, this.#put());
  }

  #put() {
    this.#indexed(0x71, 0x72, this.memoised);
    return this.memoised++;
  }

  #int(value) {
    if (value >= 0 && value < 0x100) {
      this.#byte(0x4b);
      this.#byte(value);
    } else if (value >= 0 && value < 0x10000) {
      this.#byte(0x4d);
      this.#used = this.#buffer.writeUInt16LE(value, this.#used);
    } else if (value >= -0x80000000 && value < 0x80000000) {
      this.#byte(0x4a);
      this.#used = this.#buffer.writeInt32LE(value, this.#used);
    } else {
      this.#byte(0x8a);
      this.#byte(8);
      this.#used = this.#buffer.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)), this.#used);
    }
  }

  #float(value) {
    this.#byte(0x47);
    this.#used = this.#buffer.writeDoubleBE(value, this.#used);
  }

  /** An opcode with a number that has one byte in the `short` form and four in the `long` one. */
  #indexed(short, long, index) {
    if (index < 256) {
      this.#byte(short);
      this.#byte(index);
    } else {
      this.#byte(long);
      this.#used = this.#buffer.writeUInt32LE(index, this.#used);
    }
  }

  #byte(value) {
    this.#buffer[this.#used++] = value;
  }

  #flush() {
    this.#out.write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }
}
