/** A file on the user's disk as a ByteSource. */

import { LoadError } from '../base/load-error.ts';
import { withinTime } from '../base/task.ts';
import type { ByteSource } from '../format/input/types.ts';
import type { ReadableBlob } from './page-blob.ts';

/** Size of one read: as much as the decoder takes at a time. */
const READ_BYTES = 2 ** 20;
/**
 * Slices read ahead of the decoder without a BYOB reader. For 513 MB in Chromium, reading alone takes 1.6 s one slice
 * at a time, 0.8 s two at a time and 0.6 s four at a time. Smaller slices are slower.
 */
const READ_AHEAD = 4;
const SLICE_BYTES = 8 * 2 ** 20;
/** A longer read hangs or comes from a slow disk, which slices can read as well. */
const STALL_MS = 2000;
/** Most systems report some kilobytes for a directory, so anything larger that fails is a file. */
const MAX_FOLDER_BYTES = 2 ** 20;

export interface BlobSourceOptions {
  readonly readBytes?: number;
  readonly sliceBytes?: number;
  readonly stallMs?: number;
}

/** Keeps reads alive: a browser may collect a stream that only its own pending read references, and the read hangs. */
const underWay = new Set<ReadableStreamBYOBReader>();

/**
 * Reads the file into one reused buffer if the browser can (a BYOB reader), else slice by slice. A chunk is valid
 * only until the next is requested.
 */
export function blobSource(
  blob: ReadableBlob,
  name: string,
  options: BlobSourceOptions = {},
): ByteSource {
  const { size } = blob;
  const { readBytes = READ_BYTES, sliceBytes = SLICE_BYTES, stallMs = STALL_MS } = options;

  async function* chunks(): AsyncGenerator<Uint8Array> {
    const reader = byobReader(blob);
    if (reader === undefined) return yield* slices(0);
    underWay.add(reader);
    try {
      // Each read takes the buffer and returns it.
      let buffer = new ArrayBuffer(Math.min(readBytes, Math.max(size, 1)));
      for (let at = 0; at < size; ) {
        const read = reader.read(new Uint8Array(buffer)).catch(unreadableFrom(at));
        const result = await withinTime(read, stallMs);
        // It hangs.
        if (result === undefined) return yield* slices(at);
        const { value } = result;
        if (result.done || value === undefined) throw changed(name, at);
        at += value.length;
        yield value;
        buffer = value.buffer;
      }
    } finally {
      underWay.delete(reader);
      // Awaiting it would wait for a read that hangs.
      reader.cancel().catch(() => undefined);
    }
  }

  async function* slices(start: number): AsyncGenerator<Uint8Array> {
    const ahead: Promise<ArrayBuffer>[] = [];
    let from = start;
    const readOn = () => {
      const slice = blob.slice(from, from + sliceBytes).arrayBuffer();
      const read = slice.catch(unreadableFrom(from));
      // If the reader stops early, nobody awaits the slices ahead, so their errors are dropped.
      read.catch(() => undefined);
      ahead.push(read);
      from += sliceBytes;
    };
    do readOn();
    while (ahead.length < READ_AHEAD && from < size);
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const chunk = new Uint8Array(await next);
      if (from < size) readOn();
      yield chunk;
    }
  }

  const unreadableFrom = (at: number) => (error: unknown) => {
    throw unreadable(blob, name, at, error);
  };
  return { name, size, chunks };
}

/** Undefined if the browser has none for files. */
function byobReader(blob: ReadableBlob): ReadableStreamBYOBReader | undefined {
  try {
    return blob.stream?.().getReader({ mode: 'byob' });
  } catch {
    return undefined;
  }
}

const fault = (name: string, what: string, advice: string, byte: number): LoadError =>
  new LoadError({ code: 'unreadable', message: `"${name}" ${what}.`, advice, byte });

/** The file is shorter than when the user chose it. */
const changed = (name: string, at: number): LoadError => {
  const advice = 'The file was changed since you chose it: open it again.';
  return fault(name, 'became shorter while it was read', advice, at);
};

function unreadable(blob: ReadableBlob, name: string, from: number, error: unknown): LoadError {
  if (from === 0 && blob.type === '' && blob.size <= MAX_FOLDER_BYTES) {
    return new LoadError({
      code: 'folder',
      message: `"${name}" cannot be read; it looks like a folder.`,
      advice: 'Drop one snapshot file, not the folder that holds it.',
    });
  }
  const why = error instanceof Error ? ` (${error.message})` : '';
  const advice =
    'The file may have changed, moved or been deleted since you chose it. Open it again.';
  return fault(name, `could not be read to the end${why}`, advice, from);
}
