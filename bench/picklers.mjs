/**
 * Writes nodes as CPython's pickler and as PyTorch's C++ pickler do. What both have is in `Pickler`: opcodes, numbers
 * and text through a buffer that is emptied once there are `flushBytes` in it.
 */
class Pickler {
  /** Objects memoised so far. */
  memoised = 0;
  /** Room for a value beyond the point at which it is emptied. */
  buffer = Buffer.allocUnsafe(1 << 20);
  used = 0;
  out;

  /** @param {import('./byte-writer.mjs').ByteWriter} out @param {number} protocol */
  constructor(out, protocol) {
    this.out = out;
    out.write(Buffer.from([0x80, protocol]));
  }

  /** @param {import('./pickle-nodes.mjs').Node} item */
  write(item) {
    if (this.used >= this.flushBytes) this.flush();
    if (item.kind === 'int') this.int(item.value);
    else if (item.kind === 'constant') this.byte(item.value.charCodeAt(0));
    else if (item.kind === 'float') this.float(item.value);
    else this.object(item);
  }

  /** Writes what remains. */
  end() {
    this.byte(0x2e);
    this.flush();
  }

  tuple(item) {
    for (const part of item.value) this.write(part);
    this.byte(0x86);
  }

  int(value) {
    if (value >= 0 && value < 0x100) {
      this.byte(0x4b);
      this.byte(value);
    } else if (value >= 0 && value < 0x10000) {
      this.byte(0x4d);
      this.used = this.buffer.writeUInt16LE(value, this.used);
    } else if (value >= -0x80000000 && value < 0x80000000) {
      this.byte(0x4a);
      this.used = this.buffer.writeInt32LE(Number(value), this.used);
    } else {
      this.byte(0x8a);
      this.long(value);
    }
  }

  float(value) {
    this.byte(0x47);
    this.used = this.buffer.writeDoubleBE(value, this.used);
  }

  /** BINUNICODE. */
  text(text) {
    this.byte(0x58);
    this.used = this.buffer.writeUInt32LE(Buffer.byteLength(text), this.used);
    this.used += this.buffer.write(text, this.used);
  }

  /** An opcode with a number that has one byte in the `short` form and four in the `long` one. */
  indexed(short, long, index) {
    if (index < 256) {
      this.byte(short);
      this.byte(index);
    } else {
      this.byte(long);
      this.used = this.buffer.writeUInt32LE(index, this.used);
    }
  }

  get(index) {
    this.indexed(0x68, 0x6a, index);
  }

  byte(value) {
    this.buffer[this.used++] = value;
  }

  flush() {
    this.out.write(this.buffer.subarray(0, this.used));
    this.used = 0;
  }
}

const BATCH = 1000;

/**
 * Byte for byte as CPython's `pickle.dump(…, protocol=4)`: each string, list, dictionary and tuple memoised, known
 * objects by their memo number, lists and dictionaries in batches of 1000, all in frames of 64 KiB. Written again, a
 * snapshot of PyTorch is the same file.
 */
export class PythonPickler extends Pickler {
  flushBytes = 64 * 1024;

  constructor(out) {
    super(out, 4);
  }

  object(item) {
    if (item.memo >= 0) return this.get(item.memo);
    if (item.kind === 'list') return this.container(item, 0x5d, 1, 0x61, 0x65);
    if (item.kind === 'dict') return this.container(item, 0x7d, 2, 0x73, 0x75);
    if (item.kind === 'tuple') this.tuple(item);
    else this.string(item.value);
    this.memoise(item);
  }

  /**
   * A list or dictionary: empty first, then its entries of `width` nodes each. One alone goes in by
   * the opcode `single`, more go in by marks and `several`.
   */
  container(item, empty, width, single, several) {
    this.byte(empty);
    this.memoise(item);
    const { length } = item.value;
    if (length === width) {
      for (const part of item.value) this.write(part);
      this.byte(single);
      return;
    }
    let count = 0;
    for (const part of item.value) {
      if (count % (BATCH * width) === 0) this.byte(0x28);
      this.write(part);
      count++;
      if (count % (BATCH * width) === 0 || count === length) this.byte(several);
    }
  }

  string(text) {
    const length = Buffer.byteLength(text);
    if (length >= 256) return this.text(text);
    this.byte(0x8c);
    this.byte(length);
    this.used += this.buffer.write(text, this.used);
  }

  memoise(item) {
    item.memo = this.memoised++;
    this.byte(0x94);
  }

  /** As few bytes as hold the sign too. */
  long(value) {
    const sizeAt = this.used++;
    let rest = BigInt(value);
    do {
      this.byte(Number(rest & 0xffn));
      rest >>= 8n;
    } while (rest !== (this.buffer[this.used - 1] & 0x80 ? -1n : 0n));
    this.buffer[sizeAt] = this.used - sizeAt - 1;
  }

  /** Each frame with its length before it. */
  flush() {
    const header = Buffer.alloc(9);
    header[0] = 0x95;
    header.writeUInt32LE(this.used, 1);
    this.out.write(header);
    super.flush();
  }
}

/**
 * As `_memory_snapshot_pickled` does: protocol 2, strings once each by content, lists and dictionaries memoised when
 * they stand in several places, integers beyond 32 bits always in 8 bytes, and one mark and APPENDS a list, a million
 * items long or empty.
 */
export class CppPickler extends Pickler {
  flushBytes = 1 << 19;
  #strings = new Map();

  constructor(out) {
    super(out, 2);
  }

  object(item) {
    if (item.kind === 'string') return this.string(item.value);
    if (item.memo >= 0) return this.get(item.memo);
    if (item.kind === 'tuple') this.tuple(item);
    else if (item.kind === 'list') this.container(item, 0x5d, 0x65);
    else this.container(item, 0x7d, 0x75);
    if (item.uses > 1) item.memo = this.put();
  }

  container(item, empty, close) {
    this.byte(empty);
    this.byte(0x28);
    for (const part of item.value) this.write(part);
    this.byte(close);
  }

  string(text) {
    const known = this.#strings.get(text);
    if (known !== undefined) return this.get(known);
    this.text(text);
    this.#strings.set(text, this.put());
  }

  put() {
    this.indexed(0x71, 0x72, this.memoised);
    return this.memoised++;
  }

  long(value) {
    this.byte(8);
    this.used = this.buffer.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)), this.used);
  }
}
