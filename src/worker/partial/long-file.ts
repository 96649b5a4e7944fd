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

export class LongFile {
  /** Undefined while there is nothing worth showing, and once the file is open. */
  partial: PartialFile | undefined;
  /** Called when there is more to see. */
  onMore = () => {};
  readonly #clock: Clock;
  readonly #startReplayWorker: () => ReplayWorker | undefined;
  readonly #startedMs: number;
  #latest: readonly [SnapshotDecoder, ReadMoment] | undefined;
  #isLoading = false;
  #isClosed = false;

  /**
   * @param size of the file in bytes, if known
   * @param startReplayWorker returns undefined if that is not possible
   */
  constructor(
    size: number | undefined,
    clock: Clock,
    startReplayWorker: () => ReplayWorker | undefined,
  ) {
    this.#clock = clock;
    this.#startReplayWorker = startReplayWorker;
    this.#startedMs = clock.now();
    // Load while the first bytes are read.
    if ((size ?? 0) >= LONG_BYTES) void this.#load();
  }

  /** For ReadOptions.onRead. */
  onRead(decoder: SnapshotDecoder, moment: ReadMoment): void {
    this.#latest = [decoder, moment];
    if (!this.#isLoading && this.#isSlow(decoder, moment)) void this.#load();
    this.partial?.onRead(decoder, moment);
  }

  /** The file is open, so what is still loading is not needed. */
  close(): void {
    this.#isClosed = true;
    this.partial?.close();
    this.partial = undefined;
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    const worker = this.#startReplayWorker();
    if (worker === undefined) return;
    try {
      const { PartialFile } = await loadAnswers();
      const partial = new PartialFile(this.#clock, worker, () => this.onMore());
      if (this.#isClosed) return partial.close();
      this.partial = partial;
      // No more may come for a while.
      if (this.#latest !== undefined) partial.onRead(...this.#latest);
    } catch {
      // If loading fails, the file is shown once it has been read.
      worker.end(new Error('Not needed'));
    }
  }

  #isSlow({ eventCount }: SnapshotDecoder, { share, isEnd }: ReadMoment): boolean {
    if (isEnd || eventCount === 0) return false;
    const tookMs = this.#clock.now() - this.#startedMs;
    if (tookMs <= SLOW_MS) return false;
    return share === undefined || (tookMs * (1 - share)) / share >= NOTICED_MS;
  }
}
