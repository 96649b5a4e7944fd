import { LoadError } from '../../base/load-error.ts';
import { type DecodedSnapshot, decodeSnapshot } from '../snapshot-file/decode-snapshot.ts';
import { collectBytes, type OpenBytes } from './byte-cursor.ts';

/** Made of some ten times as much pickle: what a tab can hold of it ends before this does. */
const MAX_COMPACT_BYTES = 2 ** 30;

/**
 * What a report of vramscope holds.
 * @throws LoadError 'compact-too-big', 'compact-damaged' or 'compact-newer'
 */
export async function readCompact(open: OpenBytes): Promise<DecodedSnapshot> {
  const bytes = await collectBytes(open(), MAX_COMPACT_BYTES);
  if (bytes !== undefined) return decodeSnapshot(bytes);
  throw new LoadError({
    code: 'compact-too-big',
    message: `This compact snapshot is larger than ${MAX_COMPACT_BYTES / 2 ** 20} MiB, too large to read at once.`,
    advice: 'Open the original pickle instead: vramscope reads pickles of any size.',
  });
}
