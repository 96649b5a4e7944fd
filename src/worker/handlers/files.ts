/** A device as a file, made in the worker: for other programs, or as a compact snapshot for a report. */
import { createPause, type SliceOptions } from '../../base/task.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { type PruneOptions, prune } from '../../format/snapshot-file/prune.ts';
import type { ExportChoice, ExportKind } from '../../output/export/exports.ts';
import { type EventWindow, windowSnapshot } from '../../output/slice/window-snapshot.ts';
import { queryHandlers } from '../queries.ts';
import { type HandlerCall, transferring } from '../rpc.ts';

export interface CompactRequest extends PruneOptions {
  readonly window: EventWindow;
  /** The open file, so that the compact snapshot can name its source. */
  readonly file: FileInfo;
}

/** Loaded on demand: the export code is as large as all other handlers together, and rarely used. */
const loadExports = async () => (await import('../../output/export/exports.ts')).EXPORTS;

export const fileHandlers = queryHandlers({
  async exportChoices(): Promise<Readonly<Record<ExportKind, ExportChoice>>> {
    // A copy without functions, which cannot be sent.
    return JSON.parse(JSON.stringify(await loadExports()));
  },

  /** Reports the bytes made so far. */
  async exportFile(
    { context, clock },
    { kind }: { readonly kind: ExportKind },
    { signal, onProgress }: HandlerCall<number>,
  ) {
    const { make, mime } = (await loadExports())[kind];
    return fileOf(make(context), mime, { clock, signal }, onProgress);
  },

  async compact({ context }, { window, file, ...options }: CompactRequest) {
    const part = prune(windowSnapshot(context, window), options);
    return transferring({ gzipped: await gzip(encodeSnapshot(part, file)) });
  },
});

/** A file of pieces, made in slices. The browser may keep a Blob on disk, so it can be larger than memory. */
export async function fileOf(
  pieces: Iterable<string | Uint8Array<ArrayBuffer>>,
  mime: string,
  slices: SliceOptions,
  onBytes?: (bytes: number) => void,
): Promise<Blob> {
  const parts: Blob[] = [];
  let bytes = 0;
  const pause = createPause(slices);
  for (const piece of pieces) {
    const part = new Blob([piece]);
    parts.push(part);
    bytes += part.size;
    onBytes?.(bytes);
    await pause();
  }
  return new Blob(parts, { type: mime });
}

/** Uses the platform's CompressionStream, which runs in the background and exists in Node too. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
