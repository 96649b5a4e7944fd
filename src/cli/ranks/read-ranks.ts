/** All files of a job, snapshots in as many threads as there are cores: one file each at a time. */
import { availableParallelism } from 'node:os';
import workerpool from 'workerpool';
import type { UnreadFile } from '../../core/ranks/job-files.ts';
import type { RankFile } from '../../core/ranks/types.ts';
import { isSummaryName } from '../../core/summary-file/rank-of-name.ts';
import {
  type ReadRank,
  type ReadRankOptions,
  readRankFile,
} from '../../core/summary-file/read-rank-file.ts';
import { fileSource } from '../file-source.ts';
import { nodePlatform } from '../node-platform.ts';

export interface ReadRanksOptions extends ReadRankOptions {
  /** What workers run: see `serveReadRank`. Undefined: all is read in this thread. */
  readonly workerScript: string | undefined;
  /** Threads; undefined for one a core. */
  readonly jobs: number | undefined;
  onProgress(done: number, total: number): void;
}

export interface ReadRanks {
  readonly files: readonly RankFile[];
  readonly unread: readonly UnreadFile[];
}

/** What a worker answers to. */
const READ_RANK = 'readRank';

/** Called in a worker's thread. */
export function serveReadRank(): void {
  workerpool.worker({ [READ_RANK]: readRank });
}

function readRank(path: string, { version, allowPartial }: ReadRankOptions): Promise<ReadRank> {
  return readRankFile(path, () => fileSource(path), nodePlatform, { version, allowPartial });
}

export async function readRanks(
  paths: readonly string[],
  options: ReadRanksOptions,
): Promise<ReadRanks> {
  const files: RankFile[] = [];
  const unread: UnreadFile[] = [];
  const take = (path: string, read: ReadRank) => {
    if ('summary' in read) files.push({ path, summary: read.summary });
    else unread.push({ path, failure: read.failure });
    options.onProgress(files.length + unread.length, paths.length);
  };
  const snapshots = paths.filter((path) => !isSummaryName(path));
  const reading = readSnapshots(snapshots, options, take);
  for (const path of paths) {
    // 64 kB of JSON: handing it to another thread and back costs more than reading it.
    if (isSummaryName(path)) take(path, await readRank(path, options));
  }
  await reading;
  return { files, unread };
}

async function readSnapshots(
  paths: readonly string[],
  options: ReadRanksOptions,
  take: (path: string, read: ReadRank) => void,
): Promise<void> {
  const { workerScript, version, allowPartial } = options;
  const maxWorkers = Math.min(options.jobs ?? availableParallelism(), paths.length);
  if (workerScript === undefined || maxWorkers < 2) {
    for (const path of paths) take(path, await readRank(path, options));
    return;
  }
  const pool = workerpool.pool(workerScript, { workerType: 'thread', maxWorkers });
  try {
    await Promise.all(
      paths.map(async (path) =>
        take(path, await pool.exec(READ_RANK, [path, { version, allowPartial }])),
      ),
    );
  } finally {
    await pool.terminate(true);
  }
}
