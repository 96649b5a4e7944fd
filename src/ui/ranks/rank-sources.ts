/** The files of a job, as they were given to the page: dropped, chosen, or listed by `vramscope FOLDER`. */
import { LoadError } from '../../core/base/load-error.ts';
import { isRankFile } from '../../core/summary-file/rank-of-name.ts';
import type { RankSource } from '../../engine/ranks/protocol.ts';
import { fileSource, type GivenFiles } from '../../state/given-files.ts';

/** Files of the user's, or the address of a list of files that a server has. */
export type GivenRanks = GivenFiles | { readonly listUrl: string };

/** 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' are found, a whole disk is not searched. */
const MAX_DEPTH = 3;

/** @throws LoadError where there is nothing that could be read */
export async function rankSources(given: GivenRanks): Promise<RankSource[]> {
  const sources = 'listUrl' in given ? await listedSources(given.listUrl) : await ownSources(given);
  if (sources.length > 0) return sources;
  throw new LoadError({
    code: 'no-files',
    message: 'No snapshots and no summaries in what was given.',
    advice: 'They are called *.pickle, *.pkl, *.gz, *.zip, *.zst, *.html or *.vramscope.json.',
  });
}

async function ownSources({ files, folders }: GivenFiles): Promise<RankSource[]> {
  const folderNames = new Set(folders.map(({ name }) => name));
  const named = files
    .filter(({ name }) => !folderNames.has(name))
    .map((file) => ({ path: file.webkitRelativePath || file.name, source: fileSource(file) }));
  const found: RankSource[] = [];
  for (const folder of folders) await addFolder(folder, '', MAX_DEPTH, found);
  // Of a folder that was chosen, the browser gives every file.
  return [
    ...named.filter(({ path }) => !path.includes('/') || isRankFile(lastPart(path))),
    ...found,
  ];
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

async function addFolder(
  entry: FileSystemEntry,
  above: string,
  depth: number,
  found: RankSource[],
): Promise<void> {
  const path = above === '' ? entry.name : `${above}/${entry.name}`;
  for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
    const own = `${path}/${inner.name}`;
    if (inner.isFile && isRankFile(inner.name)) {
      const file = await fileOf(inner as FileSystemFileEntry);
      found.push({ path: own, source: fileSource(file) });
    } else if (inner.isDirectory && depth > 0 && !inner.name.startsWith('.')) {
      await addFolder(inner, path, depth - 1, found);
    }
  }
}

/** A reader gives some 100 entries at a time, and none when it has given all. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return all;
    all.push(...some);
  }
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => {
    entry.file(resolve, reject);
  });

async function listedSources(listUrl: string): Promise<RankSource[]> {
  const response = await fetch(listUrl).catch(() => undefined);
  const list: unknown =
    response?.ok === true ? await response.json().catch(() => undefined) : undefined;
  const files =
    typeof list === 'object' && list !== null && 'files' in list ? list.files : undefined;
  if (!Array.isArray(files)) {
    throw new LoadError({
      code: 'no-list',
      message: `The list of files at ${listUrl} can't be read.`,
    });
  }
  return files.flatMap((file: unknown) => {
    if (typeof file !== 'object' || file === null) return [];
    if (!('path' in file) || !('url' in file)) return [];
    const { path, url } = file;
    const isListed = typeof path === 'string' && typeof url === 'string';
    return isListed ? [{ path, source: { kind: 'url' as const, url } }] : [];
  });
}
