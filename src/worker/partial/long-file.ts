/**
 * Whether a file is replayed, and can be seen, while it is read. Most are read before anyone could look: for the others
 * the worker fetches its second half sooner.
 */
import type { Clock } from '../../base/task.ts';
import type { ReadMoment } from '../../format/input/types.ts';
import type { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import { loadAnswers } from '../load-answers.ts';
import type { PartialFile, ReplayWorker } from './partial-file.ts';

/** Whatever their reading takes. */
const LONG_BYTES = 32 * 2 ** 20;
/** Any other is long once its reading has taken so long and, at its pace, takes at least as much longer as anyone would notice. */
const SLOW_MS = 250;
const NOTICED_MS = 500;

export interface LongFileOptions {
  /** Bytes of the file, where they are known. */
  readonly size: number | undefined;
  readonly clock: Clock;
  readonly startReplayWorker: () => ReplayWorker | undefined;
  /** There is more to see. */
  readonly onMore: () => void;
}

export class LongFile {
  /** Undefined while nobody need look. */
  partial: PartialFile | undefined;
  readonly #options: LongFileOptions;
  readonly #startedMs: number;
  #isLoading = false;
  #isClosed = false;

  constructor(options: LongFileOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    // While the first bytes are read.
    if ((options.size ?? 0) >= LONG_BYTES) void this.#load();
  }

  /** For ReadOptions.onRead. */
  readonly onRead = (decoder: SnapshotDecoder, moment: ReadMoment): void => {
    if (!this.#isLoading && this.#isSlow(decoder, moment)) void this.#load();
    this.partial?.onRead(decoder, moment);
  };

  /** It is not read any more: what is still to be loaded is not needed. */
  close(): void {
    this.#isClosed = true;
    this.partial?.close();
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    const { clock, onMore, startReplayWorker } = this.#options;
    const worker = startReplayWorker();
    if (worker === undefined) return;
    try {
      const { PartialFile } = await loadAnswers();
      const partial = new PartialFile(clock, worker);
      partial.onMore = onMore;
      if (this.#isClosed) partial.close();
      else this.partial = partial;
    } catch {
      // It cannot be fetched: the file is seen when it has been read.
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
