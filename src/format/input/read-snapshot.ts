import type { FileInfo, SnapshotWarning } from '../snapshot/tables.ts';
import { Meter } from './meter.ts';
import { type ReadPickle, readPickle } from './read-pickle.ts';
import type { ByteSource, Platform, ReadOptions, ReadResult } from './types.ts';
import { type ArchiveChoice, unwrap } from './unwrap.ts';

/**
 * Reads a snapshot from any file that may hold one: pickle, gzip, zip, zstd, the HTML that trace_plot
 * writes, JSON. The content decides, never the name. Runs nothing that a file holds.
 *
 * @throws LoadError with a sentence to show, for whatever is no whole snapshot
 * @throws AbortError of the source, as it is
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
      if (kind === 'pickle') return readPickle(open, meter, options);
      if (kind === 'compact') {
        // Only reports hold one: fetched when one does.
        const { readCompact } = await import('./read-whole.ts');
        const { snapshot, origin } = await readCompact(open);
        return { snapshot, origin, protocol: undefined, decoder: 'columnar', partial: undefined };
      }
      const { readJson } = await import('./read-whole.ts');
      const snapshot = await readJson(open);
      return { snapshot, protocol: undefined, decoder: 'general', partial: undefined };
    },
  );
  const { snapshot, protocol, decoder, partial } = payload;
  const own = { name: source.name, bytes: meter.bytes, container, protocol, decoder, partial };
  return {
    snapshot: { ...snapshot, warnings: [...snapshot.warnings, ...archiveWarnings(archive)] },
    // A compact snapshot is shown as the file that it was made from.
    file: { ...own, ...payload.origin },
  };
}

/** What was read, and of a compact snapshot the file that it was made from. */
type Payload = ReadPickle & { readonly origin?: FileInfo | undefined };

/** One file of a zip is opened, the first that is a snapshot: what of the rest, the user should know. */
function archiveWarnings(archive: ArchiveChoice | undefined): SnapshotWarning[] {
  if (archive === undefined || archive.unread.length === 0) return [];
  const { opened, unread } = archive;
  const shown = unread.slice(0, 3).join(', ');
  const more = unread.length > 3 ? ` and ${unread.length - 3} more` : '';
  const message = `Only ${opened} of this zip archive was opened; it also holds ${shown}${more}.`;
  return [{ code: 'other-files', message }];
}
