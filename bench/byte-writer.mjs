import { closeSync, openSync, writeSync } from 'node:fs';

/** Room for one more value beyond the point at which the buffer is emptied. */
const MARGIN_BYTES = 1 << 20;
const FLUSH_BYTES = 8 << 20;

/** A file written from front to back through a buffer of fixed size. */
export class ByteWriter {
  length = 0;
  #file;
  #buffer = Buffer.allocUnsafe(FLUSH_BYTES + MARGIN_BYTES);
  #used = 0;

  constructor(path) {
    this.#file = openSync(path, 'w');
  }

  /** @param {Buffer} bytes at most 1 MiB */
  write(bytes) {
    if (this.#used >= FLUSH_BYTES) this.#flush();
    bytes.copy(this.#buffer, this.#used);
    this.#used += bytes.length;
    this.length += bytes.length;
  }

  close() {
    this.#flush();
    closeSync(this.#file);
  }

  #flush() {
    for (let done = 0; done < this.#used; ) {
      done += writeSync(this.#file, this.#buffer, done, this.#used - done);
    }
    this.#used = 0;
  }
}
