/** The file that an output is written to first, beside it; and what a program that was killed has left of such. */
import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cutUtf8 } from '../base/file-names.ts';

/** A name has 255 bytes at most. */
const STEM_BYTES = 100;
/** Nothing is written to it for so long: whoever made it is gone. */
const LEFT_MS = 10 * 60_000;

/** `.run.csv.5f0c….tmp` for run.csv. */
export const temporaryName = (name: string): string =>
  `.${cutUtf8(name, STEM_BYTES)}.${randomBytes(6).toString('hex')}.tmp`;

/** Takes away what was left beside `path` by earlier writing of it. */
export async function sweepLeftovers(path: string): Promise<void> {
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
