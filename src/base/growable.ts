/**
 * Typed columns that grow while a file is decoded.
 *
 * They grow by chunks, not by doubling: copying a doubling column of 45 MB takes 45 + 90 MB. A chunked column takes its
 * own size plus one copy at the end (`finish`), one column at a time. Example: 150,000 pushes with a chunk size of
 * 65,536 make three chunks, and `finish` returns one array of exactly 150,000.
 */
import type { Column } from './table.ts';

const CHUNK = 1 << 16;
const STEP = 8;
/** Most files are small: the first chunk takes its full size in two steps. */
const FIRST_ROOM = CHUNK / STEP ** 2;

interface ColumnConstructor<T extends Column> {
  new (length: number): T;
}

export class GrowableColumn<T extends Column> {
  length = 0;
  readonly #create: ColumnConstructor<T>;
  #chunks: T[] = [];
  #tail: T;

  constructor(create: ColumnConstructor<T>) {
    this.#create = create;
    // The first chunk is created with the first value.
    this.#tail = new create(0);
  }

  push(value: number): void {
    const at = this.length & (CHUNK - 1);
    if (at === 0) {
      this.#tail = new this.#create(this.length === 0 ? FIRST_ROOM : CHUNK);
      this.#chunks.push(this.#tail);
    } else if (at === this.#tail.length) {
      this.#tail = enlarged(this.#tail, at * STEP);
      this.#chunks[0] = this.#tail;
    }
    this.#tail[at] = value;
    this.length++;
  }

  /** One flat array of `length` values. Frees each chunk once it is copied, so push no more. */
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

/** Fewer rows predict nothing. */
const PREDICTIVE_ROWS = 2 ** 16;
/** Rows that are always allowed, however little has been read. */
const FREE_ROWS = 2 ** 20;

/**
 * How far a column grows when it is full. When the file size is known, the rows read so far predict the total: 65,536
 * events in the first 6 MB of 513 MB mean 5.6 million. So one step is enough, nothing is copied twice, and the system
 * never touches the unused rest.
 */
export class CapacityPolicy {
  #factor = 2;
  #readBytes = 0;

  /** Undefined `totalBytes`: the file size is not known. */
  progress(readBytes: number, totalBytes: number | undefined): void {
    this.#readBytes = readBytes;
    if (readBytes > 0 && totalBytes !== undefined)
      this.#factor = Math.min(Math.max((totalBytes / readBytes) * 1.04, 1.1), 4096);
  }

  /**
   * Whether the bytes read so far can hold `rows` of `bytesPerRow` each: a few bytes of a hostile file may claim
   * gigabytes. The first million rows are always allowed, so progress need not be reported at each byte.
   */
  allows(rows: number, bytesPerRow: number): boolean {
    return rows <= FREE_ROWS || rows * bytesPerRow <= this.#readBytes;
  }

  next(length: number): number {
    if (length < PREDICTIVE_ROWS) return Math.min(length * STEP, PREDICTIVE_ROWS);
    return Math.ceil(length * this.#factor) + 1024;
  }
}

/** A copy with room for more values (twice as many by default); the rest are zeros. */
export function enlarged<T extends Column | Int16Array>(array: T, length = array.length * 2): T {
  const larger: T = Reflect.construct(array.constructor, [length]);
  larger.set(array);
  return larger;
}
