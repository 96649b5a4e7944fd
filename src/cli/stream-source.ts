import { LoadError } from '../base/load-error.ts';
import type { ByteSource } from '../format/input/types.ts';

/** Bytes kept for reading once more. Only odd pickles (up to 64 MB) and zip archives need that. */
const KEPT_BYTES = 64 * 2 ** 20;

/**
 * A stream that can be had once (stdin, a pipe) as a source that may be asked again: its first
 * bytes are kept, up to `keptBytes` in all.
 */
export function streamSource(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  keptBytes = KEPT_BYTES,
): ByteSource {
  const reader = new StreamReader(stream, keptBytes);
  return { name, size: undefined, chunks: () => reader.chunks(name) };
}

class StreamReader {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #keptBytes: number;
  /** All chunks so far, or undefined once they were too many to keep. */
  #kept: Uint8Array[] | undefined = [];
  #bytes = 0;

  constructor(stream: AsyncIterable<Uint8Array>, keptBytes: number) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#keptBytes = keptBytes;
  }

  /** By hand and not by `for await`, which would close the stream when a reader stops early. */
  async *chunks(name: string): AsyncGenerator<Uint8Array> {
    if (this.#kept === undefined) throw onlyOnce(name, this.#keptBytes);
    for (let at = 0; at < (this.#kept?.length ?? 0); at++) {
      const chunk = this.#kept?.[at];
      if (chunk !== undefined) yield chunk;
    }
    for (;;) {
      const { done, value } = await this.#iterator.next();
      if (done === true) return;
      this.#keep(value);
      yield value;
    }
  }

  #keep(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#keptBytes) this.#kept = undefined;
    else this.#kept?.push(chunk);
  }
}

function onlyOnce(name: string, keptBytes: number): LoadError {
  return new LoadError({
    code: 'read-once',
    message: `${name} has to be read twice, but a stream larger than ${keptBytes / 2 ** 20} MiB can be read only once.`,
    advice: 'Save it to a file first.',
  });
}
