/** A file on the user's disk as a ByteSource. */

import { LoadError } from '../core/base/load-error.ts';
import type { ByteSource } from '../core/input/types.ts';

/**
 * One slice is read ahead while the one before is decoded, and no more: how much `Blob.stream()`
 * buffers and hands out at a time is the browser's choice (0.8 MB in Chromium). For 507 MB there,
 * 8 and 16 MB slices and the stream were equally fast, 4 MB slices 5 to 15 % slower.
 */
const SLICE_BYTES = 8 * 2 ** 20;
/** A directory has a size of some kilobytes on most systems; a larger thing that fails is a file. */
const MAX_FOLDER_BYTES = 2 ** 20;

export function blobSource(blob: Blob, name: string, sliceBytes = SLICE_BYTES): ByteSource {
  return {
    name,
    size: blob.size,
    async *chunks() {
      let next = readSlice(blob, name, 0, sliceBytes);
      for (let from = 0; from === 0 || from < blob.size; from += sliceBytes) {
        const chunk = await next;
        next = readSlice(blob, name, from + sliceBytes, sliceBytes);
        // Nobody awaits the slice ahead when the reader stops early; its fault is then no one's.
        next.catch(() => undefined);
        yield chunk;
      }
    },
  };
}

async function readSlice(
  blob: Blob,
  name: string,
  from: number,
  sliceBytes: number,
): Promise<Uint8Array> {
  if (from > 0 && from >= blob.size) return new Uint8Array(0);
  try {
    return new Uint8Array(await blob.slice(from, from + sliceBytes).arrayBuffer());
  } catch (error) {
    throw unreadable(blob, name, from, error);
  }
}

function unreadable(blob: Blob, name: string, from: number, error: unknown): LoadError {
  if (from === 0 && blob.type === '' && blob.size <= MAX_FOLDER_BYTES) {
    return new LoadError({
      code: 'folder',
      message: `"${name}" cannot be read; it seems to be a folder.`,
      advice: 'Drop one snapshot file, not the folder that holds it.',
    });
  }
  const why = error instanceof DOMException || error instanceof Error ? ` (${error.message})` : '';
  return new LoadError({
    code: 'unreadable',
    message: `"${name}" could not be read any further${why}.`,
    advice: 'The file may have been changed, moved or deleted since you chose it: open it again.',
    byte: from,
  });
}
