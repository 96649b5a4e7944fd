import { readdir, realpath, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { JobFile } from '../analysis/ranks/analyse-job.ts';
import { isRankFile, isSummaryName } from '../analysis/summary-file/rank-of-name.ts';
import type { ReadRank, ReadRankOptions } from '../analysis/summary-file/read-rank-file.ts';
import { errorText } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { readably } from './byte-sources.ts';
import { createJobPool, readRank } from './jobs.ts';

/** Finds 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' without searching a whole disk. */
const MAX_DEPTH = 3;

/**
 * The files of a job: every snapshot or summary in the folders and their subfolders, plus the files named directly.
 * Follows links, but visits each target once and never enters a folder that contains the link.
 * @throws LoadError 'missing', 'unreadable' or 'no-files'
 */
export async function rankFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const stats = await readably(path, () => stat(path));
    if (stats.isDirectory()) await addFolder(path, MAX_DEPTH, new Set(), found);
    else found.push(path);
  }
  if (found.length > 0) return [...new Set(found)];
  throw new LoadError({
    code: 'no-files',
    message: `No snapshots and no summaries in ${paths.join(', ')}.`,
    advice: 'They are called *.pickle, *.pkl, *.gz, *.zip, *.zst, *.html or *.vramscope.json.',
  });
}

/** @param seen real paths already visited, so that each file is read once */
async function addFolder(
  folder: string,
  depth: number,
  seen: Set<string>,
  found: string[],
): Promise<void> {
  const entries = await readably(folder, () => readdir(folder, { withFileTypes: true }));
  const own = await realpath(folder);
  seen.add(own);
  // Links last, so that a file keeps its own name if it is in this folder too.
  entries.sort((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()));
  for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
    const path = join(folder, entry.name);
    // A broken link has no target.
    const target = await realpath(path).catch(() => own);
    if (seen.has(target) || `${own}/`.startsWith(join(target, '/'))) continue;
    const kind = entry.isSymbolicLink() ? await stat(target) : entry;
    if (kind.isDirectory() && depth > 0) await addFolder(path, depth - 1, seen, found);
    else if (kind.isFile() && isRankFile(entry.name)) {
      seen.add(target);
      found.push(path);
    }
  }
}

export interface ReadRanksOptions extends ReadRankOptions {
  /** See {@link createJobPool}. */
  readonly workerScript: string | undefined;
  /** By default one per core. */
  readonly jobs: number | undefined;
  onProgress(done: number, total: number): void;
}

export async function readRanks(
  paths: readonly string[],
  { workerScript, jobs, onProgress, ...options }: ReadRanksOptions,
): Promise<readonly JobFile[]> {
  const files: JobFile[] = [];
  const take = (path: string, read: ReadRank) => {
    files.push({ path, ...read });
    onProgress(files.length, paths.length);
  };
  const snapshots = paths.filter((path) => !isSummaryName(path));
  const threads = Math.min(jobs ?? availableParallelism(), snapshots.length);
  // For one file at a time, a thread costs its start and gains nothing.
  const pool = createJobPool(threads < 2 ? undefined : workerScript, threads);
  try {
    const reading = snapshots.map(async (path) =>
      take(path, await pool.call('readRank', { path, ...options }).catch(unexpected)),
    );
    for (const path of paths) {
      // Reading 64 kB of JSON here is cheaper than handing it to a thread and back.
      if (isSummaryName(path)) take(path, await readRank({ path, ...options }));
    }
    await Promise.all(reading);
  } finally {
    pool.close();
  }
  return files;
}

/** A bug of ours, or a thread that died: the other files can still be read. */
const unexpected = (error: unknown): ReadRank => ({
  failure: { code: 'unexpected', message: errorText(error) },
});
