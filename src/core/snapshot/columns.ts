/** Event columns while a file is decoded: chunks of 65,536 events, all columns of a chunk side by side. */
import { type GrowableColumn, growableInt32 } from '../base/growable.ts';

const CHUNK_BITS = 16;
export const CHUNK = 1 << CHUNK_BITS;

export interface EventChunk {
  readonly action: Uint8Array;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  readonly stream: Uint16Array;
  readonly stack: Int32Array;
  readonly timeUs: Float64Array;
  readonly pool: Uint16Array;
}

function createChunk(): EventChunk {
  return {
    action: new Uint8Array(CHUNK),
    address: new Float64Array(CHUNK),
    sizeBytes: new Float64Array(CHUNK),
    stream: new Uint16Array(CHUNK),
    stack: new Int32Array(CHUNK),
    timeUs: new Float64Array(CHUNK),
    pool: new Uint16Array(CHUNK),
  };
}

/** All chunks of all columns; `finish` makes flat columns of them and lets the chunks go one column at a time. */
export class EventChunks {
  readonly #chunks: EventChunk[] = [];

  /** A new chunk for the next 65,536 events. */
  add(): EventChunk {
    const chunk = createChunk();
    this.#chunks.push(chunk);
    return chunk;
  }

  finish(length: number): EventChunk {
    return {
      action: this.#flatten('action', new Uint8Array(length)),
      address: this.#flatten('address', new Float64Array(length)),
      sizeBytes: this.#flatten('sizeBytes', new Float64Array(length)),
      stream: this.#flatten('stream', new Uint16Array(length)),
      stack: this.#flatten('stack', new Int32Array(length)),
      timeUs: this.#flatten('timeUs', new Float64Array(length)),
      pool: this.#flatten('pool', new Uint16Array(length)),
    };
  }

  #flatten<K extends keyof EventChunk>(key: K, flat: EventChunk[K]): EventChunk[K] {
    for (let i = 0; i < this.#chunks.length; i++) {
      const chunk = this.#chunks[i];
      const from = i * CHUNK;
      flat.set(chunk[key].subarray(0, Math.min(CHUNK, flat.length - from)), from);
      this.#chunks[i] = { ...chunk, [key]: flat.subarray(0, 0) };
    }
    return flat;
  }
}

/**
 * A column that most files leave at its default: costs nothing until the first event that differs.
 * Holds -1 for the default.
 */
export class LazyColumn {
  #column: GrowableColumn<Int32Array> | undefined;

  set(row: number, value: number): void {
    this.#column ??= growableInt32();
    while (this.#column.length < row) this.#column.push(-1);
    this.#column.push(value);
  }

  /** Undefined when every row has the default. */
  finish(length: number): Int32Array | undefined {
    if (this.#column === undefined) return undefined;
    while (this.#column.length < length) this.#column.push(-1);
    return this.#column.finish();
  }
}
