import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRankFile } from '../../analysis/summary-file/rank-of-name.ts';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';

/** 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' are found, a whole disk is not searched. */
const MAX_DEPTH = 3;

/**
 * The files of a job: of folders all that are called like snapshots or summaries, in them and in their folders;
 * files as they are named. Links are followed, each target once, and none to a folder that the link lies in.
 * @throws LoadError 'missing', 'unreadable' or 'no-files'
 */
export async function rankFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const isFolder = await isDirectory(path);
    if (isFolder) await addFolder(path, MAX_DEPTH, new Set(), found);
    else found.push(path);
  }
  if (found.length > 0) return [...new Set(found)];
  throw new LoadError({
    code: 'no-files',
    message: `No snapshots and no summaries in ${paths.join(', ')}.`,
    advice: 'They are called *.pickle, *.pkl, *.gz, *.zip, *.zst, *.html or *.vramscope.json.',
  });
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw unreadable(path, error);
    throw new LoadError({ code: 'missing', message: `No such file or folder: ${path}.` });
  }
}

/** @param seen what files and folders really are: one that is reached in two ways is read once */
async function addFolder(
  folder: string,
  depth: number,
  seen: Set<string>,
  found: string[],
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  const own = await realpath(folder);
  seen.add(own);
  // Links last: a file goes by its own name where it has one here.
  entries.sort((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()));
  for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
    const path = join(folder, entry.name);
    // Of a link that leads nowhere there is no target.
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

const unreadable = (path: string, error: unknown): LoadError =>
  new LoadError({ code: 'unreadable', message: `${path} cannot be read: ${errorText(error)}.` });
