import type { ByteStream } from './byte-cursor.ts';
import { sourceFailure } from './failures.ts';
import type { ByteSource, ReadOptions } from './types.ts';

/** 20 reports a second: as often as a person can read a number. */
const REPORT_EVERY_MS = 50;

/** Sits between the source and the decoder: counts bytes, reports progress, stops when canceled. */
export class Meter {
  readonly #source: ByteSource;
  readonly #options: ReadOptions;
  #readBytes = 0;
  #highestBytes = 0;
  #lastReportMs = 0;
  /** Complete events decoded so far. The code that drives the decoder updates it. */
  events = 0;

  constructor(source: ByteSource, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** The size of the source, or the bytes read so far if it is unknown. */
  get bytes(): number {
    return this.#source.size ?? this.#highestBytes;
  }

  /** Share of the source read so far, 0 to 1; undefined if its size is unknown. */
  get share(): number | undefined {
    const { size } = this.#source;
    return size === undefined || size === 0 ? undefined : this.#readBytes / size;
  }

  /** The source's bytes from the start. Converts known errors of the source to LoadErrors. */
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

  /** Reports progress, unless the last report was very recent. */
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
