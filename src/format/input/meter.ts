import type { ByteStream } from './byte-cursor.ts';
import { sourceFailure } from './failures.ts';
import type { ByteSource, ReadOptions } from './types.ts';

/** 20 reports a second: as often as a person can read a number. */
const REPORT_EVERY_MS = 50;

/** Stands between the source and the decoder: counts bytes, reports progress, stops when cancelled. */
export class Meter {
  readonly #source: ByteSource;
  readonly #options: ReadOptions;
  #readBytes = 0;
  #highestBytes = 0;
  #lastReportMs = 0;
  /** Whole events decoded so far; the decoder's driver keeps it current. */
  events = 0;

  constructor(source: ByteSource, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Size of the source, or what was read of it where it did not say. */
  get bytes(): number {
    return this.#source.size ?? this.#highestBytes;
  }

  /** Share of the source that was read so far, 0 to 1; undefined where its size is not known. */
  get share(): number | undefined {
    const { size } = this.#source;
    return size === undefined || size === 0 ? undefined : this.#readBytes / size;
  }

  /** The source's bytes from the start. What the source throws comes as a LoadError where we know it. */
  async *open(): ByteStream & AsyncGenerator<Uint8Array> {
    this.#readBytes = 0;
    try {
      for await (const chunk of this.#source.chunks()) {
        this.#readBytes += chunk.length;
        this.#highestBytes = Math.max(this.#highestBytes, this.#readBytes);
        this.report();
        yield chunk;
      }
    } catch (error) {
      throw sourceFailure(error, this.#source.name) ?? error;
    }
  }

  /** Tells how far reading is, if the last time is long enough ago. */
  report(): void {
    const nowMs = Date.now();
    if (this.#options.onProgress === undefined || nowMs - this.#lastReportMs < REPORT_EVERY_MS)
      return;
    this.#lastReportMs = nowMs;
    this.#options.onProgress({
      readBytes: this.#readBytes,
      totalBytes: this.#source.size,
      events: this.events,
    });
  }
}
