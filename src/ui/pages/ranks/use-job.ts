/** Reads a job's files in workers and reports the progress. */

import { useEffect, useState } from 'react';
import type { JobView } from '../../../analysis/ranks/job-view.ts';
import { isRankFile } from '../../../analysis/summary-file/rank-of-name.ts';
import { isRecord } from '../../../base/collections.ts';
import { isAbortError } from '../../../base/errors.ts';
import { failureOf, LoadError, type LoadFailure } from '../../../base/load-error.ts';
import { fileSource, type GivenFiles } from '../../../state/given-files.ts';
import { nameOf } from '../../../state/snapshot-loader.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import {
  createRanksClient,
  type RankSource,
  type RanksClient,
} from '../../../worker/ranks/client.ts';
import { useServices } from '../../shared/services.ts';

export interface JobState {
  /** The ranks read so far; undefined before the first. */
  readonly job?: JobView;
  readonly client?: RanksClient;
  readonly sources: readonly RankSource[];
  readonly done: number;
  readonly failure?: Pick<LoadFailure, 'message' | 'advice'>;
}

const NOTHING: JobState = { sources: [], done: 0 };

/** Shows intermediate results only for large files: a thousand small ones are read in less time. */
const REFRESH_MS = 2500;

export function useJob(given: GivenRanks): JobState {
  const { idle } = useServices();
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const client = createRanksClient();
    let isOver = false;
    const update = (change: Partial<JobState>) => {
      if (!isOver) setState((before) => ({ ...before, ...change }));
    };
    let refreshedMs = performance.now();
    function refresh(done: number): void {
      update({ done });
      if (performance.now() - refreshedMs < REFRESH_MS) return;
      refreshedMs = performance.now();
      // A failure is also the reader's, which reports it.
      client.query('job', undefined).then(
        (job) => update({ job }),
        () => undefined,
      );
    }
    async function read(): Promise<void> {
      const sources = await rankSources(given);
      update({ sources });
      await client.read(sources, refresh);
      update({ job: await client.query('job', undefined), done: sources.length });
    }
    setState({ ...NOTHING, client });
    idle.during(read).catch((error: unknown) => {
      if (!isAbortError(error))
        update({ failure: failureOf(error, 'The files could not be read') });
    });
    return () => {
      isOver = true;
      client.close();
    };
  }, [given, idle]);
  return state;
}

/** Files the user gave, the open file and a second one, or the URL of a server's file list. */
export type GivenRanks =
  | GivenFiles
  | { readonly sources: readonly OpenSource[] }
  | { readonly listUrl: string };

/** Finds 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' without searching a whole disk. */
const MAX_DEPTH = 3;

/** @throws LoadError if there is nothing to read */
async function rankSources(given: GivenRanks): Promise<RankSource[]> {
  const sources = await sourcesOf(given);
  if (sources.length > 0) return withOwnPaths(sources);
  throw new LoadError({
    code: 'no-files',
    message: 'No snapshots and no summaries in what was given.',
    advice: 'They are called *.pickle, *.pkl, *.gz, *.zip, *.zst, *.html or *.vramscope.json.',
  });
}

async function sourcesOf(given: GivenRanks): Promise<RankSource[]> {
  if ('listUrl' in given) return listedSources(given.listUrl);
  if ('files' in given) return ownSources(given);
  return given.sources.map((source) => ({ path: nameOf(source), source }));
}

/** Dropped folders may hold files of the same name: the second 'a.pickle' becomes '2/a.pickle'. */
function withOwnPaths(sources: readonly RankSource[]): RankSource[] {
  const times = new Map<string, number>();
  return sources.map(({ path, source }) => {
    const count = (times.get(path) ?? 0) + 1;
    times.set(path, count);
    return { path: count === 1 ? path : `${count}/${path}`, source };
  });
}

async function ownSources({ files, folders }: GivenFiles): Promise<RankSource[]> {
  const folderNames = new Set(folders.map(({ name }) => name));
  const named = files
    .filter(({ name }) => !folderNames.has(name))
    .map((file) => ({ path: file.webkitRelativePath || file.name, source: fileSource(file) }));
  const found = await Promise.all(folders.map((folder) => folderSources(folder)));
  // A chosen folder lists every file in it: keep those of ranks.
  return [
    ...named.filter(({ path }) => !path.includes('/') || isRankFile(lastPart(path))),
    ...found.flat(),
  ];
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

async function folderSources(
  folder: FileSystemEntry,
  above = '',
  depth = MAX_DEPTH,
): Promise<RankSource[]> {
  const found: RankSource[] = [];
  const inside = `${above}${folder.name}/`;
  for (const entry of await entriesOf(folder as FileSystemDirectoryEntry)) {
    if (entry.isFile && isRankFile(entry.name)) {
      const file = await new Promise<File>((...done) =>
        (entry as FileSystemFileEntry).file(...done),
      );
      found.push({ path: inside + entry.name, source: fileSource(file) });
    } else if (entry.isDirectory && depth > 0 && !entry.name.startsWith('.')) {
      found.push(...(await folderSources(entry, inside, depth - 1)));
    }
  }
  return found;
}

/** A reader returns about 100 entries per call, and none at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((...done) => reader.readEntries(...done));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function listedSources(listUrl: string): Promise<RankSource[]> {
  const response = await fetch(listUrl).catch(() => undefined);
  const list: unknown =
    response?.ok === true ? await response.json().catch(() => undefined) : undefined;
  const files = isRecord(list) ? list.files : undefined;
  if (!Array.isArray(files)) {
    throw new LoadError({
      code: 'no-list',
      message: `The list of files at ${listUrl} can't be read.`,
    });
  }
  return files.flatMap((file: unknown) => {
    const { path, url } = isRecord(file) ? file : {};
    const isListed = typeof path === 'string' && typeof url === 'string';
    return isListed ? [{ path, source: { kind: 'url' as const, url } }] : [];
  });
}
