import type { ByteSource, Platform } from '../core/input/types.ts';

/** The decoder takes about 5 ms for it; what is handed to it is worked on in one go. */
const PIECE_BYTES = 2 ** 20;
/** Frames and hovers of the snapshot that is open already wait no longer than about this. */
const BUSY_MS = 12;

export interface CooperativeClock {
  readonly now: () => number;
  /** Lets waiting messages in. */
  readonly yieldTask: () => Promise<void>;
}

/**
 * Hands bytes on in small pieces and lets messages in between. Awaiting the next chunk is not
 * enough: one that has arrived already resumes the reader at once, before any message.
 */
export class CooperativeReader {
  readonly #clock: CooperativeClock;
  #resumedMs: number;

  constructor(clock: CooperativeClock) {
    this.#clock = clock;
    this.#resumedMs = clock.now();
  }

  source(source: ByteSource): ByteSource {
    return {
      name: source.name,
      get size() {
        return source.size;
      },
      chunks: () => this.#slow(source.chunks()),
    };
  }

  /** Compressed bytes become twenty times as many: those need pacing of their own. */
  platform(platform: Platform): Platform {
    return { gunzip: (chunks) => this.#slow(platform.gunzip(chunks)) };
  }

  async *#slow(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        yield chunk.subarray(from, from + PIECE_BYTES);
        if (this.#clock.now() - this.#resumedMs < BUSY_MS) continue;
        await this.#clock.yieldTask();
        this.#resumedMs = this.#clock.now();
      }
    }
  }
}
