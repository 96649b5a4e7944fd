/** The program's own files: `vramscope FILE --source .` shows their text, and opens them in the editor. */
import { existsSync } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';

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
