/**
 * Writes nodes byte for byte as CPython's `pickle.dump(…, protocol=4)` does: each string, list,
 * dictionary and tuple memoised, known objects by their memo number, lists and dictionaries in
 * batches of 1000, all in frames of 64 KiB. Written again, a snapshot of PyTorch is the same file.
 */
const FRAME_BYTES = 64 * 1024;
const BATCH = 1000;

export class PythonPickler {
  /** Objects memoised so far. */
  memoised = 0;
  #out;
  #frame = Buffer.allocUnsafe(FRAME_BYTES + (1 << 16));
  #used = 0;

  /** @param {import('./byte-writer.mjs').ByteWriter} out */
  constructor(out) {
    this.#out = out;
    out.write(Buffer.from([0x80, 4]));
  }

  /** @param {import('./pickle-nodes.mjs').Node} item */
  write(item) {
    if (this.#used >= FRAME_BYTES) this.#endFrame();
    if (item.kind === 'int') this.#int(item.value);
    else if (item.kind === 'constant') this.#byte(item.value.charCodeAt(0));
    else if (item.kind === 'float') this.#float(item.value);
    else if (item.memo >= 0) this.#get(item.memo);
    else if (item.kind === 'string') this.#string(item);
    else if (item.kind === 'tuple') this.#tuple(item);
    else if (item.kind === 'list') this.#container(item, 0x5d, 1, 0x61, 0x65);
    else this.#container(item, 0x7d, 2, 0x73, 0x75);
  }

  /** Writes what remains. */
  end() {
    this.#byte(0x2e);
    this.#endFrame();
  }

  /**
   * A list or dictionary: empty first, then its entries of `width` nodes each. One alone goes in by
   * the opcode `single`, more go in by marks and `several`.
   */
  #container(item, empty, width, single, several) {
    this.#byte(empty);
    this.#memoise(item);
    const { length } = item.value;
    if (length === width) {
      for (const part of item.value) this.write(part);
      this.#byte(single);
      return;
    }
    let count = 0;
    for (const part of item.value) {
      if (count % (BATCH * width) === 0) this.#byte(0x28);
      this.write(part);
      count++;
      if (count % (BATCH * width) === 0 || count === length) this.#byte(several);
    }
  }

  #tuple(item) {
    for (const part of item.value) this.write(part);
    this.#byte(0x86);
    this.#memoise(item);
  }

  #string(item) {
    const length = Buffer.byteLength(item.value);
    if (length < 256) {
      this.#byte(0x8c);
      this.#byte(length);
    } else {
      this.#byte(0x58);
      this.#used = this.#frame.writeUInt32LE(length, this.#used);
    }
    this.#used += this.#frame.write(item.value, this.#used);
    this.#memoise(item);
  }

  #memoise(item) {
    item.memo = this.memoised++;
    this.#byte(0x94);
  }

  #get(index) {
    if (index < 256) {
      this.#byte(0x68);
      this.#byte(index);
    } else {
      this.#byte(0x6a);
      this.#used = this.#frame.writeUInt32LE(index, this.#used);
    }
  }

  #int(value) {
    if (value >= 0 && value < 0x100) {
      this.#byte(0x4b);
      this.#byte(value);
    } else if (value >= 0 && value < 0x10000) {
      this.#byte(0x4d);
      this.#used = this.#frame.writeUInt16LE(value, this.#used);
    } else if (value >= -0x80000000 && value < 0x80000000) {
      this.#byte(0x4a);
      this.#used = this.#frame.writeInt32LE(Number(value), this.#used);
    } else {
      this.#long(value);
    }
  }

  /** LONG1 with as few bytes as hold the sign too. */
  #long(value) {
    this.#byte(0x8a);
    const sizeAt = this.#used++;
    let rest = BigInt(value);
    do {
      this.#byte(Number(rest & 0xffn));
      rest >>= 8n;
    } while (rest !== (this.#frame[this.#used - 1] & 0x80 ? -1n : 0n));
    this.#frame[sizeAt] = this.#used - sizeAt - 1;
  }

  #float(value) {
    this.#byte(0x47);
    this.#used = this.#frame.writeDoubleBE(value, this.#used);
  }

  #byte(value) {
    this.#frame[this.#used++] = value;
  }

  #endFrame() {
    const header = Buffer.alloc(9);
    header[0] = 0x95;
    header.writeUInt32LE(this.#used, 1);
    this.#out.write(header);
    this.#out.write(this.#frame.subarray(0, this.#used));
    this.#used = 0;
  }
}
