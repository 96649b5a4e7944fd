/**
 * The ranks page's handle on its workers. A few workers read snapshots, one file each at a time. Each summary, 64 kB,
 * then goes to the one worker that holds them all; the rest of the snapshot is dropped.
 */

import { isSummaryName } from '../../analysis/summary-file/rank-of-name.ts';
import type { ReadRank } from '../../analysis/summary-file/read-rank-file.ts';
import { abortError, errorText } from '../../base/errors.ts';
import { connectWorker, type WorkerConnection, type WorkerLike } from '../worker-connection.ts';
import { newRanksWorker } from '../workers.ts';
import type { JobView, RankDetails, RankSource, RanksMethods } from './protocol.ts';

export interface RanksClientOptions {
  readonly version: string;
  readonly createWorker?: () => WorkerLike;
  /** Workers that read snapshots. Reading a large one takes half a gigabyte. */
  readonly readers?: number;
  /** Relative URLs are relative to the page, not to the worker's script. */
  readonly baseUrl?: string;
}

export interface RanksClient {
  /** Resolves when the last source has been read. */
  read(sources: readonly RankSource[], onProgress: (done: number) => void): Promise<void>;
  /** The job as far as it has been read. */
  job(): Promise<JobView>;
  details(rank: number): Promise<RankDetails | undefined>;
  markdown(): Promise<string>;
  /** Ends the workers and rejects pending calls. */
  close(): void;
}

const MAX_READERS = 4;

const CRASHED = [
  'The part of vramscope that reads ranks has stopped',
  'Make summaries of the files with the command line: vramscope summarize FILE.',
] as const;

type Connection = WorkerConnection<RanksMethods>;

export function createRanksClient(options: RanksClientOptions): RanksClient {
  const { version, createWorker = newRanksWorker } = options;
  const baseUrl = options.baseUrl ?? globalThis.document?.baseURI;
  const open = new Set<Connection>();

  function start(): Connection {
    const connection: Connection = connectWorker(createWorker(), {
      hello: version,
      crashed: CRASHED,
    });
    open.add(connection);
    return connection;
  }

  function end(connection: Connection): void {
    connection.end(abortError('Closed'));
    open.delete(connection);
  }

  const holder = start();
  const absolute = ({ path, source }: RankSource): RankSource =>
    source.kind === 'url'
      ? { path, source: { kind: 'url', url: new URL(source.url, baseUrl).href } }
      : { path, source };

  /** Takes files from `queue` one by one. If a worker dies on a file, a new one replaces it. */
  async function readSnapshots(queue: RankSource[], onRead: () => void): Promise<void> {
    let reader = start();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      let read: ReadRank;
      try {
        read = await reader.call('readRank', next);
      } catch (error) {
        if (!open.has(reader)) throw error;
        end(reader);
        reader = start();
        read = { failure: { code: 'unexpected', message: errorText(error) } };
      }
      await holder.call('add', { path: next.path, read });
      onRead();
    }
    end(reader);
  }

  return {
    async read(sources, onProgress) {
      const all = sources.map(absolute);
      const summaries = all.filter(({ path }) => isSummaryName(path));
      const snapshots = all.filter(({ path }) => !isSummaryName(path));
      let summariesDone = 0;
      let snapshotsDone = 0;
      const tell = () => onProgress(summariesDone + snapshotsDone);
      const wanted = options.readers ?? Math.min(MAX_READERS, navigator.hardwareConcurrency);
      const readers = Math.min(Math.max(1, wanted), snapshots.length);
      const onRead = () => {
        snapshotsDone++;
        tell();
      };
      await Promise.all([
        holder.call(
          'readSummaries',
          { sources: summaries },
          {
            onProgress: (done) => {
              summariesDone = done;
              tell();
            },
          },
        ),
        ...Array.from({ length: readers }, () => readSnapshots(snapshots, onRead)),
      ]);
      onProgress(all.length);
    },
    job: () => holder.call('job', undefined),
    details: (rank) => holder.call('details', { rank }),
    markdown: () => holder.call('markdown', undefined),
    close: () => {
      for (const connection of [...open]) end(connection);
    },
  };
}
