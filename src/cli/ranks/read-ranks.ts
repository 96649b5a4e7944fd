/** All files of a job, snapshots in as many threads as there are cores: one file each at a time. */
import { availableParallelism } from 'node:os';
import type { RankFile, UnreadFile } from '../../analysis/ranks/types.ts';
import { isSummaryName } from '../../analysis/summary-file/rank-of-name.ts';
import type { ReadRank, ReadRankOptions } from '../../analysis/summary-file/read-rank-file.ts';
import { JobPool, READ_RANK } from '../jobs.ts';

export interface ReadRanksOptions extends ReadRankOptions {
  /** What threads run: see {@link JobPool}. */
  readonly workerScript: string | undefined;
  /** Threads; undefined for one a core. */
  readonly jobs: number | undefined;
  onProgress(done: number, total: number): void;
}

export interface ReadRanks {
  readonly files: readonly RankFile[];
  readonly unread: readonly UnreadFile[];
}

export async function readRanks(
  paths: readonly string[],
  { workerScript, jobs, onProgress, ...options }: ReadRanksOptions,
): Promise<ReadRanks> {
  const files: RankFile[] = [];
  const unread: UnreadFile[] = [];
  const take = (path: string, read: ReadRank) => {
    if ('summary' in read) files.push({ path, summary: read.summary });
    else unread.push({ path, failure: read.failure });
    onProgress(files.length + unread.length, paths.length);
  };
  const snapshots = paths.filter((path) => !isSummaryName(path));
  const threads = Math.min(jobs ?? availableParallelism(), snapshots.length);
  // A thread for one file at a time costs its start and gains nothing.
  const pool = new JobPool(threads < 2 ? undefined : workerScript, threads);
  try {
    const reading = snapshots.map(async (path) =>
      take(path, await pool.run(READ_RANK, { path, ...options })),
    );
    for (const path of paths) {
      // 64 kB of JSON: handing it to another thread and back costs more than reading it.
      if (isSummaryName(path)) take(path, await READ_RANK.run({ path, ...options }));
    }
    await Promise.all(reading);
  } finally {
    await pool.close();
  }
  return { files, unread };
}
