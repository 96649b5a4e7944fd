/**
 * Whether a file can be seen while it is read. Most are read before anyone could look, and the page does
 * without what it takes: that is fetched when a file is long, or slow to come.
 */

import { abortError } from '../../base/errors.ts';
import type { Clock } from '../../base/task.ts';
import type { ByteSource, ReadMoment } from '../../format/input/types.ts';
import type { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import type { GrownReplay } from './event-feed.ts';
import type { GrowingFile, GrowthInfo } from './growing-file.ts';
import type { Replayer } from './replayer.ts';

/** A file as long is shown while it is read, whatever its reading takes. */
const LARGE_BYTES = 32 * 2 ** 20;
/** Any other is, once its reading has taken so long and, at its pace, takes at least as much longer as anyone would notice. */
const SLOW_MS = 250;
const NOTICED_MS = 500;

export interface GrowthOptions {
  readonly source: Pick<ByteSource, 'size'>;
  readonly clock: Clock;
  readonly startReplayer: () => Promise<Replayer>;
  /** There is more to see. */
  readonly onGrown: (info: GrowthInfo) => void;
}

interface Parts {
  readonly create: typeof GrowingFile;
  readonly replayer: Replayer;
}

export class Growth {
  readonly #options: GrowthOptions;
  readonly #startedMs: number;
  #isLoading = false;
  /** What it takes, once it is fetched. */
  #parts: Parts | undefined;
  #file: GrowingFile | undefined;
  #isClosed = false;

  constructor(options: GrowthOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    // While the first bytes are read.
    if ((options.source.size ?? 0) >= LARGE_BYTES) void this.#load();
  }

  /** How much there is to see, or was when it was closed; undefined while that is nothing. */
  get info(): GrowthInfo | undefined {
    return this.#file?.info;
  }

  /** For ReadOptions.onRead. */
  readonly onRead = (decoder: SnapshotDecoder, moment: ReadMoment): void => {
    if (this.#isClosed) return;
    if (this.#parts !== undefined && !moment.isEnd) {
      this.#file ??= this.#start(this.#parts, decoder);
    }
    if (!this.#isLoading && this.#isSlow(decoder, moment)) void this.#load();
    this.#file?.onRead(moment);
  };

  /** Shows all that has been read, of a file that is read no further. */
  async settle(): Promise<void> {
    await this.#file?.settle();
  }

  /** For each device its replay, undefined where it is not done. Closes: the file has been read. */
  async finish(snapshot: Snapshot): Promise<readonly (GrownReplay | undefined)[]> {
    const replays = await this.#file?.finish(snapshot);
    this.close();
    return replays ?? [];
  }

  close(): void {
    this.#isClosed = true;
    this.#file?.close();
    this.#parts?.replayer.close();
  }

  /** Who answers questions about it. @throws AbortError when it is not read any more */
  get file(): GrowingFile {
    if (this.#file === undefined || this.#isClosed)
      throw abortError('The file is not read any more');
    return this.#file;
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    const { startReplayer } = this.#options;
    try {
      const starting = startReplayer();
      const { GrowingFile } = await import('./growing-file.ts');
      const replayer = await starting;
      if (this.#isClosed) replayer.close();
      else this.#parts = { create: GrowingFile, replayer };
    } catch {
      // It cannot be fetched: the file is shown when it has been read.
    }
  }

  #start({ create, replayer }: Parts, { schema }: SnapshotDecoder): GrowingFile {
    const { clock, onGrown } = this.#options;
    const file = new create(schema, clock, replayer, () => {
      if (file.info !== undefined) onGrown(file.info);
    });
    return file;
  }

  #isSlow({ eventCount }: SnapshotDecoder, { share, isEnd }: ReadMoment): boolean {
    if (isEnd || eventCount === 0) return false;
    const tookMs = this.#options.clock.now() - this.#startedMs;
    if (tookMs <= SLOW_MS) return false;
    return share === undefined || (tookMs * (1 - share)) / share >= NOTICED_MS;
  }
}
