import { randomBytes } from 'node:crypto';
import {
  chmod,
  type FileHandle,
  lstat,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../base/errors.ts';
import { cutUtf8 } from '../base/file-names.ts';
import { formatFileSize } from '../base/format.ts';
import { LoadError } from '../base/load-error.ts';
import { type CliIo, InterruptedError } from './cli-io.ts';

export interface OutputTarget {
  readonly path: string;
  /** The file that is read, which is never overwritten; '-' is stdin. */
  readonly input: string;
  /** Another file at `path` may be replaced. */
  readonly force: boolean;
}

/**
 * Refuses a target that must not be written, before the work starts.
 * @throws LoadError 'same-file' or 'target-exists'
 */
export async function checkTarget(io: CliIo, { path, input, force }: OutputTarget): Promise<void> {
  if ((await lstat(path).catch(() => undefined)) === undefined) return;
  const target = await stat(path).catch(() => undefined);
  if (target !== undefined) {
    const source = input === '-' ? io.stdinFile() : await stat(input).catch(() => undefined);
    if (source?.ino === target.ino && source.dev === target.dev) {
      throw new LoadError({
        code: 'same-file',
        message: `${path} is the input file, so vramscope will not overwrite it.`,
        advice: 'Choose another name with --output.',
      });
    }
  }
  if (force || isStream(target)) return;
  throw new LoadError({
    code: 'target-exists',
    message: `${path} already exists.`,
    advice: 'Choose another name with --output, or overwrite it with --force.',
  });
}

/**
 * Writes pieces to a file and returns its size. Writes a temporary file beside `path` and renames it when complete,
 * so a failure keeps the old file and leaves no partial one. A device or a pipe (`-o /dev/stdout`) is written
 * directly, and Ctrl+C ends the program as it ends any other: there is nothing to remove, and nothing of ours could end
 * a write that waits for a reader.
 * @throws LoadError 'same-file', 'target-exists' or 'unwritable'; InterruptedError; whatever making a piece throws
 */
export async function writeOutput(
  io: CliIo,
  target: OutputTarget,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const { path } = target;
  await checkTarget(io, target);
  const old = await stat(path).catch(() => undefined);
  const bytes = isStream(old)
    ? await writePieces(path, await writably(path, () => open(path, 'w')), pieces)
    : await writeBeside(io, target, old?.mode, pieces);
  io.writeOut(`${path}: ${formatFileSize(bytes)}\n`);
}

async function writeBeside(
  io: CliIo,
  target: OutputTarget,
  mode: number | undefined,
  pieces: Iterable<string | Uint8Array>,
): Promise<number> {
  const interruption = io.interruption();
  // If `path` is a link, replace the file it names, not the link.
  const path = await realpath(target.path).catch(() => target.path);
  const beside = join(dirname(path), temporaryName(basename(path)));
  await sweepLeftovers(path);
  const file = await writably(target.path, () => open(beside, 'wx'));
  try {
    const bytes = await writePieces(target.path, file, pieces, interruption);
    if (mode !== undefined) await chmod(beside, mode);
    // Another program may have created the file meanwhile.
    await checkTarget(io, target);
    await writably(target.path, () => rename(beside, path));
    return bytes;
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writePieces(
  path: string,
  file: FileHandle,
  pieces: Iterable<string | Uint8Array>,
  interruption?: AbortSignal,
): Promise<number> {
  let bytes = 0;
  try {
    for (const piece of pieces) {
      const data = typeof piece === 'string' ? Buffer.from(piece) : piece;
      bytes += data.length;
      await writably(path, () => file.writeFile(data));
      if (interruption?.aborted) throw new InterruptedError(interruption);
    }
  } finally {
    // A full disk may be reported only on close.
    await writably(path, () => file.close());
  }
  return bytes;
}

/** A device or a pipe cannot be replaced and has no content to lose. */
function isStream(
  stats: { isFile(): boolean; isDirectory(): boolean } | undefined,
): stats is { isFile(): false; isDirectory(): false } {
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function writably<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const reason = errorText(error);
    throw new LoadError({ code: 'unwritable', message: `${path} cannot be written: ${reason}.` });
  }
}

/** File names have at most 255 bytes. */
const STEM_BYTES = 100;
/** A temporary file untouched for this long was abandoned. */
const LEFT_MS = 10 * 60_000;

/** `.run.csv.5f0c….tmp` for run.csv. */
const temporaryName = (name: string): string =>
  `.${cutUtf8(name, STEM_BYTES)}.${randomBytes(6).toString('hex')}.tmp`;

/** Removes abandoned temporary files of earlier writes to `path`. */
async function sweepLeftovers(path: string): Promise<void> {
  const stem = `.${cutUtf8(basename(path), STEM_BYTES)}.`;
  const folder = dirname(path);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(stem) || !/^[0-9a-f]{12}\.tmp$/.test(name.slice(stem.length))) continue;
    const file = join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    if (stats !== undefined && Date.now() - stats.mtimeMs > LEFT_MS)
      await rm(file, { force: true }).catch(() => undefined);
  }
}
