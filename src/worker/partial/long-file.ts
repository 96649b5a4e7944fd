/**
 * Decides whether a file is replayed and shown while it is read. Most files are read before anyone could look; for
 * the others, the worker loads its second half earlier.
 */
import type { Clock } from '../../base/task.ts';
import type { ReadMoment } from '../../format/input/types.ts';
import type { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import { loadAnswers } from '../load-answers.ts';
import type { PartialFile, ReplayWorker } from './partial-file.ts';

/** Files of this size always count as long. */
const LONG_BYTES = 32 * 2 ** 20;
/** A smaller file counts as long once reading has taken this long and will take at least as long again. */
const SLOW_MS = 250;
const NOTICED_MS = 500;

export interface LongFileOptions {
  /** Size of the file in bytes, if known. */
  readonly size: number | undefined;
  readonly clock: Clock;
  readonly startReplayWorker: (() => ReplayWorker | undefined) | undefined;
  readonly onMore: () => void;
}

export class LongFile {
  /** Undefined while there is nothing worth showing. */
  partial: PartialFile | undefined;
  readonly #options: LongFileOptions;
  readonly #startedMs: number;
  #isLoading = false;
  #isClosed = false;

  constructor(options: LongFileOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    // Load while the first bytes are read.
    if ((options.size ?? 0) >= LONG_BYTES) void this.#load();
  }

  /** For ReadOptions.onRead. */
  readonly onRead = (decoder: SnapshotDecoder, moment: ReadMoment): void => {
    if (!this.#isLoading && this.#isSlow(decoder, moment)) void this.#load();
    this.partial?.onRead(decoder, moment);
  };

  /** Reading has ended, so pending loads are no longer needed. */
  close(): void {
    this.#isClosed = true;
    this.partial?.close();
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    const { clock, onMore, startReplayWorker } = this.#options;
    const worker = startReplayWorker?.();
    if (worker === undefined) return;
    try {
      const { PartialFile } = await loadAnswers();
      const partial = new PartialFile(clock, worker);
      partial.onMore = onMore;
      if (this.#isClosed) partial.close();
      else this.partial = partial;
    } catch {
      // If loading fails, the file is shown once it has been read.
      worker.end(new Error('Not needed'));
    }
  }

  #isSlow({ eventCount }: SnapshotDecoder, { share, isEnd }: ReadMoment): boolean {
    if (isEnd || eventCount === 0) return false;
    const tookMs = this.#options.clock.now() - this.#startedMs;
    if (tookMs <= SLOW_MS) return false;
    return share === undefined || (tookMs * (1 - share)) / share >= NOTICED_MS;
  }
}
