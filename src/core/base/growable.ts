/**
 * Typed columns that grow while a file is decoded.
 *
 * They grow by chunks and not by doubling: a doubling column of 45 MB needs 45 + 90 MB while it
 * moves house, a chunked one needs its own size plus one copy at the end (`finish`), column by
 * column. Example: 150,000 pushes into a chunk size of 65,536 make three chunks, and `finish`
 * returns one array of exactly 150,000.
 */
const CHUNK = 1 << 16;

type TypedArray = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

interface TypedArrayConstructor<T extends TypedArray> {
  new (length: number): T;
}

/** A column of numbers that only grows. All reads check nothing: the caller knows `length`. */
export class GrowableColumn<T extends TypedArray> {
  length = 0;
  readonly #create: TypedArrayConstructor<T>;
  #chunks: T[] = [];
  #tail: T;

  constructor(create: TypedArrayConstructor<T>) {
    this.#create = create;
    this.#tail = new create(CHUNK);
    this.#chunks.push(this.#tail);
  }

  push(value: number): void {
    const at = this.length & (CHUNK - 1);
    if (at === 0 && this.length > 0) {
      this.#tail = new this.#create(CHUNK);
      this.#chunks.push(this.#tail);
    }
    this.#tail[at] = value;
    this.length++;
  }

  get(index: number): number {
    return this.#chunks[index >>> 16][index & (CHUNK - 1)];
  }

  set(index: number, value: number): void {
    this.#chunks[index >>> 16][index & (CHUNK - 1)] = value;
  }

  /** One flat array of `length` values. The chunks are let go as they are copied; push no more. */
  finish(): T {
    const flat = new this.#create(this.length);
    for (let i = 0; i < this.#chunks.length; i++) {
      const from = i * CHUNK;
      const chunk = this.#chunks[i];
      const count = Math.min(CHUNK, this.length - from);
      flat.set(chunk.subarray(0, count) as never, from);
      this.#chunks[i] = undefined as never;
    }
    this.#chunks = [];
    return flat;
  }
}

export const growableFloat64 = (): GrowableColumn<Float64Array> => new GrowableColumn(Float64Array);
export const growableInt32 = (): GrowableColumn<Int32Array> => new GrowableColumn(Int32Array);
export const growableUint16 = (): GrowableColumn<Uint16Array> => new GrowableColumn(Uint16Array);
export const growableUint8 = (): GrowableColumn<Uint8Array> => new GrowableColumn(Uint8Array);
