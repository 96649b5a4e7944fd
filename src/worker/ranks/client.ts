/**
 * The ranks page's handle on its workers. A few workers read snapshots, one file each at a time. Each summary, 64 kB,
 * then goes to the one worker that holds them all; the rest of the snapshot is dropped.
 */

import { isSummaryName } from '../../analysis/summary-file/rank-of-name.ts';
import type { ReadRank } from '../../analysis/summary-file/read-rank-file.ts';
import { abortError, errorText, isAbortError } from '../../base/errors.ts';
import { absoluteUrl } from '../client.ts';
import { type Call, connect, type Endpoint, type Remote } from '../rpc.ts';
import { WorkerPool } from '../worker-pool.ts';
import { newRanksWorker } from '../workers.ts';
import type { RankSource, RanksMethods, RanksQueries } from './serve-ranks.ts';

export type { RankSource } from './serve-ranks.ts';

export interface RanksClientOptions {
  readonly createWorker?: () => Endpoint;
  /** Workers that read snapshots. Reading a large one takes half a gigabyte. */
  readonly readers?: number;
}

export interface RanksClient {
  /** Resolves when the last source has been read. */
  read(sources: readonly RankSource[], onProgress: (done: number) => void): Promise<void>;
  /** Queries about the ranks read so far. */
  readonly query: Call<RanksQueries>;
  /** Ends the workers and rejects pending calls. */
  close(): void;
}

const MAX_READERS = 4;

const CRASHED = [
  'The part of vramscope that reads ranks has stopped',
  'Make summaries of the files with the command line: vramscope summarize FILE.',
] as const;

export function createRanksClient(options: RanksClientOptions = {}): RanksClient {
  const { createWorker = newRanksWorker } = options;
  const start = (): Remote<RanksMethods> => connect(createWorker(), CRASHED);
  const holder = start();
  const { readers: count = Math.min(MAX_READERS, navigator.hardwareConcurrency) } = options;
  const readers = new WorkerPool(start, count);
  // Relative URLs are relative to the page, not to the worker's script.
  const absolute = ({ path, source }: RankSource): RankSource => ({
    path,
    source: source.kind === 'url' ? { ...source, url: absoluteUrl(source.url) } : source,
  });

  async function readSnapshot(source: RankSource): Promise<void> {
    const read = await readers.call('readRank', source).catch((error: unknown): ReadRank => {
      if (isAbortError(error)) throw error;
      // A worker that died on its file; the next file gets a new one.
      return { failure: { code: 'unexpected', message: errorText(error) } };
    });
    await holder.call('add', { path: source.path, ...read });
  }

  return {
    async read(given, onProgress) {
      const all = given.map(absolute);
      const sources = all.filter(({ path }) => isSummaryName(path));
      const snapshots = all.filter(({ path }) => !isSummaryName(path));
      let done = 0;
      const onRead = (count: number) => {
        done += count;
        onProgress(done);
      };
      await Promise.all([
        holder.call('readSummaries', { sources }, { onProgress: onRead }),
        ...snapshots.map((source) => readSnapshot(source).then(() => onRead(1))),
      ]);
      // Their tables go with them.
      readers.close();
      onProgress(all.length);
    },
    query: (name, request, callOptions) => holder.call(name, request, callOptions),
    close() {
      readers.close();
      holder.end(abortError('Closed'));
    },
  };
}
