import { open } from 'node:fs/promises';
import { errorText } from '../core/base/error-text.ts';
import { formatBytes } from '../core/base/format.ts';
import { LoadError } from '../core/base/load-error.ts';
import type { CliIo } from './cli-io.ts';

/**
 * Writes pieces to a file, says its size, and leaves no half of one behind.
 * @throws LoadError 'unwritable'; what making a piece throws, as it is
 */
export async function writeOutput(
  io: CliIo,
  path: string,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  const file = await writably(path, () => open(path, 'w'));
  let bytes = 0;
  try {
    for (const piece of pieces) {
      const data = typeof piece === 'string' ? Buffer.from(piece) : piece;
      bytes += data.length;
      await writably(path, () => file.writeFile(data));
    }
  } finally {
    await file.close();
  }
  io.writeOut(`${path}: ${formatBytes(bytes)}\n`);
}

async function writably<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const reason = errorText(error);
    throw new LoadError({ code: 'unwritable', message: `${path} cannot be written: ${reason}.` });
  }
}
