import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../core/base/errors.ts';
import { LoadError } from '../../core/base/load-error.ts';
import { isRankFile } from '../../core/summary-file/rank-of-name.ts';

/** 'rank3/snapshot.pickle' and 'step_10/node1/rank3.pickle' are found, a whole disk is not searched. */
const MAX_DEPTH = 3;

/**
 * The files of a job: of folders all that are called like snapshots or summaries, in them and in their folders;
 * files as they are named. Links inside a folder are not followed.
 * @throws LoadError 'missing', 'unreadable' or 'no-files'
 */
export async function rankFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const stats = await lstatOf(path);
    // A link that is named on the command line is meant.
    const isFolder =
      stats.isDirectory() || (stats.isSymbolicLink() && (await isLinkedFolder(path)));
    if (!isFolder) found.push(path);
    else await addFolder(path, MAX_DEPTH, found);
  }
  if (found.length > 0) return [...new Set(found)];
  throw new LoadError({
    code: 'no-files',
    message: `No snapshots and no summaries in ${paths.join(', ')}.`,
    advice: 'They are called *.pickle, *.pkl, *.gz, *.zip, *.zst, *.html or *.vramscope.json.',
  });
}

async function lstatOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw isMissing
      ? new LoadError({ code: 'missing', message: `No such file or folder: ${path}.` })
      : new LoadError({
          code: 'unreadable',
          message: `${path} cannot be read: ${errorText(error)}.`,
        });
  }
}

async function isLinkedFolder(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

async function addFolder(folder: string, depth: number, found: string[]): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new LoadError({
      code: 'unreadable',
      message: `${folder} cannot be read: ${errorText(error)}.`,
    });
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isFile() && isRankFile(entry.name)) found.push(path);
    else if (entry.isDirectory() && depth > 0 && !entry.name.startsWith('.')) {
      await addFolder(path, depth - 1, found);
    }
  }
}
