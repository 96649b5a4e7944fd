import type { FileInfo, Snapshot, SnapshotWarning } from '../snapshot/tables.ts';
import { Meter, type ReadPickle, readPickle } from './read-pickle.ts';
import type { ByteSource, Platform, ReadOptions, ReadResult } from './types.ts';
import { type ArchiveChoice, unwrap } from './unwrap.ts';

/**
 * Reads a snapshot from any supported file: pickle, gzip, zip, zstd, trace_plot's HTML, JSON. The content decides,
 * never the name. No code in the file is run.
 *
 * @throws LoadError with a message to show, for anything that is not a whole snapshot
 * @throws AbortError of the source, unchanged
 */
export async function readSnapshot(
  source: ByteSource,
  platform: Platform,
  options: ReadOptions = {},
): Promise<ReadResult> {
  const meter = new Meter(source, options);
  const { payload, container, archive } = await unwrap<Payload>(
    platform,
    () => meter.open(),
    async (kind, open) => {
      if (kind === 'pickle') {
        return { ...(await readPickle(open, meter, options)), decoder: 'columnar' };
      }
      if (kind === 'compact') {
        // Only reports contain compact snapshots, so load their reader on demand.
        const { readCompact } = await import('./read-whole.ts');
        const { snapshot, origin } = await readCompact(open);
        return { snapshot, origin, decoder: 'columnar' };
      }
      const { readJson } = await import('./read-whole.ts');
      return { snapshot: await readJson(open), decoder: 'general' };
    },
  );
  const { snapshot, protocol, decoder, partial } = payload;
  const own = { name: source.name, bytes: meter.bytes, container, protocol, decoder, partial };
  return {
    snapshot: { ...snapshot, warnings: [...snapshot.warnings, ...archiveWarnings(archive)] },
    // Show a compact snapshot as the file it was made from.
    file: { ...own, ...payload.origin },
  };
}

/** `origin`: the file that a compact snapshot was made from. */
interface Payload extends Partial<ReadPickle>, Pick<FileInfo, 'decoder'> {
  readonly snapshot: Snapshot;
  readonly origin?: FileInfo | undefined;
}

/** A zip opens at its first snapshot. Warns the user about its other files. */
function archiveWarnings(archive: ArchiveChoice | undefined): SnapshotWarning[] {
  if (archive === undefined || archive.unread.length === 0) return [];
  const { opened, unread } = archive;
  const shown = unread.slice(0, 3).join(', ');
  const more = unread.length > 3 ? ` and ${unread.length - 3} more` : '';
  const message = `Only ${opened} of this zip archive was opened; it also holds ${shown}${more}.`;
  return [{ code: 'other-files', message }];
}
