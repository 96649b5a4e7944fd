/** A device, or a window of its events, as a compact snapshot for a report. */

import type { FileInfo } from '../../format/snapshot/tables.ts';
import { encodeSnapshot } from '../../format/snapshot-file/encode-snapshot.ts';
import { type PruneOptions, prune } from '../../format/snapshot-file/prune.ts';
import { type EventWindow, windowSnapshot } from '../../output/slice/window-snapshot.ts';
import type { Query, QueryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';

export interface CompactRequest extends PruneOptions {
  readonly window: EventWindow;
  /** The open file, so that the compact snapshot can name its source. */
  readonly file: FileInfo;
}

export interface CompactResult {
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

export interface ReportQueries {
  readonly compact: Query<CompactRequest, CompactResult>;
}

export const reportHandlers: QueryHandlers<ReportQueries> = {
  async compact({ context }, { window, file, ...options }) {
    const part = prune(windowSnapshot(context, window), options);
    const gzipped = await gzip(encodeSnapshot(part, file));
    return transferring({ gzipped });
  },
};

/** Uses the platform's CompressionStream, which runs in the background and exists in Node too. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
