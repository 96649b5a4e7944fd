/** A file on the user's disk as a ByteSource. */

import { LoadError } from '../core/base/load-error.ts';
import type { ByteSource } from '../core/input/types.ts';

/**
 * Slices that are read while the ones before are decoded. For 513 MB in Chromium, reading alone takes
 * 1.6 s one slice at a time, 0.8 s two at a time and 0.6 s four at a time; `Blob.stream()`, whose
 * buffering is the browser's choice, 0.75 s. Smaller slices are slower.
 */
const READ_AHEAD = 4;
const SLICE_BYTES = 8 * 2 ** 20;
/** A directory has a size of some kilobytes on most systems; a larger thing that fails is a file. */
const MAX_FOLDER_BYTES = 2 ** 20;

export function blobSource(blob: Blob, name: string, sliceBytes = SLICE_BYTES): ByteSource {
  return {
    name,
    size: blob.size,
    async *chunks() {
      const ahead: Promise<Uint8Array>[] = [];
      let from = 0;
      const readOn = () => {
        const slice = readSlice(blob, name, from, sliceBytes);
        // Nobody awaits the slices ahead when the reader stops early; their fault is then no one's.
        slice.catch(() => undefined);
        ahead.push(slice);
        from += sliceBytes;
      };
      do readOn();
      while (ahead.length < READ_AHEAD && from < blob.size);
      for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
        const chunk = await next;
        if (from < blob.size) readOn();
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
      message: `"${name}" cannot be read; it looks like a folder.`,
      advice: 'Drop one snapshot file, not the folder that holds it.',
    });
  }
  const why = error instanceof DOMException || error instanceof Error ? ` (${error.message})` : '';
  return new LoadError({
    code: 'unreadable',
    message: `"${name}" could not be read to the end${why}.`,
    advice: 'The file may have changed, moved or been deleted since you chose it. Open it again.',
    byte: from,
  });
}
