/** The program's own files: `vramscope FILE --source .` shows their text, and opens them in the editor. */
import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { folderText, SourceFolder } from '../../device/model/source-folder.ts';
import type { Snapshot, SourceText } from '../../format/snapshot/tables.ts';

/** A checkout has fewer. The limit stops at a whole disk, and the command says so when it starts. */
const MAX_FILES = 20_000;
const LEFT_OUT = /^(\..*|__pycache__|node_modules)$/;

export interface SourceFiles {
  /** The folder that holds the named one, without links: '/home/me'. */
  readonly above: string;
  /** From there: 'run/models/gpt.py'. */
  readonly paths: readonly string[];
  /** False if there were more. */
  readonly isComplete: boolean;
}

/**
 * All Python files in a folder and those below. Leaves out hidden folders and virtual environments, and follows no
 * link.
 * @throws LoadError 'unreadable' if it is not a folder
 */
export async function sourceFiles(folder: string): Promise<SourceFiles> {
  const root = await realpath(folder).catch((error: unknown) => {
    throw unreadable(folder, errorText(error));
  });
  if (!(await stat(root)).isDirectory()) throw unreadable(folder, 'it is not a folder');
  const above = dirname(root);
  const paths: string[] = [];
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined && paths.length < MAX_FILES; ) {
    const own = next;
    // Skip a folder that we may not read.
    const entries = await readdir(own, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(own, entry.name);
      if (entry.isFile() && entry.name.endsWith('.py')) paths.push(relative(above, path));
      const isEnvironment = () => existsSync(join(path, 'pyvenv.cfg'));
      if (entry.isDirectory() && !LEFT_OUT.test(entry.name) && !isEnvironment()) waiting.push(path);
    }
    next = waiting.pop();
  }
  const isComplete = paths.length < MAX_FILES;
  return {
    above,
    paths: paths.slice(0, MAX_FILES).map((path) => path.split(sep).join('/')),
    isComplete,
  };
}

const unreadable = (folder: string, reason: string): LoadError =>
  new LoadError({ code: 'unreadable', message: `${folder} cannot be shown as source: ${reason}.` });

/**
 * Reads a file's text by its recorded name: from the snapshot or, if that has no code, from the folder. Undefined if
 * neither has any.
 */
export async function sourceReader(
  { source }: Pick<Snapshot, 'source'>,
  folder: string | undefined,
): Promise<((filename: string) => Promise<SourceText | undefined>) | undefined> {
  const recorded = source?.files ?? [];
  if (recorded.length > 0)
    return async (filename) => recorded.find((file) => file.filename === filename);
  if (folder === undefined) return undefined;
  const { above, paths } = await sourceFiles(folder);
  const files = paths.map((path) => ({
    path,
    size: 0,
    bytes: async () => new Uint8Array(await readFile(join(above, path))),
  }));
  const found = new SourceFolder(folder, files);
  return async (filename) => {
    const file = found.find(filename);
    return file && folderText(file, filename).catch(() => undefined);
  };
}
