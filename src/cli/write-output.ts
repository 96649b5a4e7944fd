import { chmod, type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorText } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import { LoadError } from '../base/load-error.ts';
import type { CliIo } from './cli-io.ts';
import { InterruptedError } from './exit-codes.ts';
import { sweepLeftovers, temporaryName } from './leftovers.ts';
import { writePipe } from './write-pipe.ts';

export interface OutputTarget {
  readonly path: string;
  /** The file that is read, which is never written over; '-' is stdin. */
  readonly input: string;
  /** Another file at `path` may be replaced. */
  readonly force: boolean;
}

/**
 * Refuses what must not be written, before the work is done.
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
 * Writes pieces to a file and says its size. They go to a file beside it, which takes the place of
 * `path` when it is whole: whatever fails, the old file stays and no half of a new one is left.
 * A device or a pipe (`-o /dev/stdout`) is written as it is.
 * @throws LoadError 'same-file', 'target-exists' or 'unwritable'; InterruptedError; what making a piece throws, as it is
 */
export async function writeOutput(
  io: CliIo,
  target: OutputTarget,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const { path } = target;
  await checkTarget(io, target);
  const old = await stat(path).catch(() => undefined);
  const interruption = io.interruption();
  const bytes = old?.isFIFO()
    ? await writably(path, () => writePipe(path, pieces, interruption))
    : isStream(old)
      ? await writePieces(path, await writably(path, () => open(path, 'w')), pieces, interruption)
      : await writeBeside(io, target, old?.mode, pieces, interruption);
  io.writeOut(`${path}: ${formatBytes(bytes)}\n`);
}

async function writeBeside(
  io: CliIo,
  target: OutputTarget,
  mode: number | undefined,
  pieces: Iterable<string | Uint8Array>,
  interruption: AbortSignal,
): Promise<number> {
  // Where `path` is a link, the file that it names is replaced and not the link.
  const path = await realpath(target.path).catch(() => target.path);
  const beside = join(dirname(path), temporaryName(basename(path)));
  await sweepLeftovers(path);
  const file = await writably(target.path, () => open(beside, 'wx'));
  try {
    const bytes = await writePieces(target.path, file, pieces, interruption);
    if (mode !== undefined) await chmod(beside, mode);
    // Another program may have made one meanwhile.
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
  interruption: AbortSignal,
): Promise<number> {
  let bytes = 0;
  try {
    for (const piece of pieces) {
      const data = typeof piece === 'string' ? Buffer.from(piece) : piece;
      bytes += data.length;
      await writably(path, () => file.writeFile(data));
      if (interruption.aborted) throw new InterruptedError(interruption);
    }
  } finally {
    // A full disk may say so only now; what it lacks is then missed by writeFile's caller.
    await writably(path, () => file.close());
  }
  return bytes;
}

/** A device or a pipe holds nothing that could be lost, and cannot be replaced. */
function isStream(
  stats: { isFile(): boolean; isDirectory(): boolean } | undefined,
): stats is { isFile(): false; isDirectory(): false } {
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
}

async function writably<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    const reason = errorText(error);
    throw new LoadError({ code: 'unwritable', message: `${path} cannot be written: ${reason}.` });
  }
}
