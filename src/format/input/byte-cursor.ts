import { concatBytes } from '../../base/bytes.ts';

/** Chunks of bytes in order, of any size including zero. Each chunk is valid only until the next is requested. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Starts reading from the first byte. May be called again. */
export type OpenBytes = () => ByteStream;

const NOTHING = new Uint8Array(0);

/**
 * Reads a stream in the pieces that a format needs (4 bytes of magic, a header, n bytes of data), whatever the chunk
 * sizes. Example: with chunks of 3 and 5 bytes, `read(4)` gives the first four, `skip(1)` passes one, `take()` gives
 * the last three.
 */
export class ByteCursor {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #pending: Uint8Array = NOTHING;
  #offset = 0;

  constructor(stream: ByteStream) {
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  get offset(): number {
    return this.#offset;
  }

  /** The next `count` bytes without consuming them; fewer only at the end of the stream. */
  async peek(count: number): Promise<Uint8Array> {
    if (this.#pending.length >= count) return this.#pending.subarray(0, count);
    const pieces: Uint8Array[] = [this.#pending.slice()];
    let length = this.#pending.length;
    while (length < count) {
      const next = await this.#iterator.next();
      if (next.done === true) break;
      pieces.push(next.value.slice());
      length += next.value.length;
    }
    this.#pending = concatBytes(pieces);
    return this.#pending.subarray(0, count);
  }

  /** The next `count` bytes, consumed; fewer only at the end of the stream. */
  async read(count: number): Promise<Uint8Array> {
    // Copy: the chunk's memory may be reused by the next read.
    const bytes = (await this.peek(count)).slice();
    this.#consume(bytes.length);
    return bytes;
  }

  /** Skips up to `count` bytes and returns how many there were. */
  async skip(count: number): Promise<number> {
    let skipped = 0;
    for await (const chunk of this.take(count)) skipped += chunk.length;
    return skipped;
  }

  /** The next `count` bytes as they arrive; by default the whole rest. */
  async *take(count = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
    let left = count;
    while (left > 0) {
      if (this.#pending.length === 0) {
        const next = await this.#iterator.next();
        if (next.done === true) return;
        this.#pending = next.value;
      }
      const chunk = this.#pending.subarray(0, Math.min(left, this.#pending.length));
      this.#consume(chunk.length);
      left -= chunk.length;
      if (chunk.length > 0) yield chunk;
    }
  }

  /** Releases the stream. Call it when done reading, also after errors. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  #consume(count: number): void {
    this.#pending = this.#pending.subarray(count);
    this.#offset += count;
  }
}

/** The decoder handles this much in about 5 ms without a break. */
const PIECE_BYTES = 2 ** 20;

/** Cuts what comes at once: data can grow twentyfold when they are decompressed. */
export async function* inPieces(stream: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES)
      yield chunk.subarray(from, from + PIECE_BYTES);
  }
}

/** All bytes of a stream, or undefined as soon as there are more than `limitBytes`. */
export async function collectBytes(
  stream: ByteStream,
  limitBytes: number,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > limitBytes) return undefined;
    pieces.push(chunk.slice());
  }
  return concatBytes(pieces);
}
