/** A file on the user's disk as a ByteSource. */

import { LoadError } from '../base/load-error.ts';
import { withinTime } from '../base/task.ts';
import type { ByteSource } from '../format/input/types.ts';
import type { ReadableBlob } from './page-blob.ts';

/** What one read asks for: as much as the decoder is given at a time. */
const READ_BYTES = 2 ** 20;
/**
 * Slices that are read while the ones before are decoded, where there is no BYOB reader. For 513 MB
 * in Chromium, reading alone takes 1.6 s one slice at a time, 0.8 s two at a time and 0.6 s four at a
 * time. Smaller slices are slower.
 */
const READ_AHEAD = 4;
const SLICE_BYTES = 8 * 2 ** 20;
/** A read that takes longer hangs, or comes from a slow disk, which slices read as well. */
const STALL_MS = 2000;
/** A directory has a size of some kilobytes on most systems; a larger thing that fails is a file. */
const MAX_FOLDER_BYTES = 2 ** 20;

export interface BlobSourceOptions {
  readonly readBytes?: number;
  readonly sliceBytes?: number;
  readonly stallMs?: number;
}

/**
 * The file, read into one buffer over and over where the browser can (a BYOB reader), else slice by
 * slice. A chunk is gone when the next one is asked for.
 */
export function blobSource(
  blob: ReadableBlob,
  name: string,
  options: BlobSourceOptions = {},
): ByteSource {
  return {
    name,
    size: blob.size,
    chunks: () => new BlobReading(blob, name, options).chunks(),
  };
}

/** Readings under way. A browser may collect a stream that only its own pending read knows, and the read hangs. */
const underWay = new Set<BlobReading>();

class BlobReading {
  readonly #blob: ReadableBlob;
  readonly #name: string;
  readonly #readBytes: number;
  readonly #sliceBytes: number;
  readonly #stallMs: number;
  #reader: ReadableStreamBYOBReader | undefined;

  constructor(blob: ReadableBlob, name: string, options: BlobSourceOptions) {
    const { readBytes = READ_BYTES, sliceBytes = SLICE_BYTES, stallMs = STALL_MS } = options;
    this.#blob = blob;
    this.#name = name;
    this.#readBytes = readBytes;
    this.#sliceBytes = sliceBytes;
    this.#stallMs = stallMs;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    this.#reader = byobReader(this.#blob);
    if (this.#reader === undefined) {
      yield* this.#slices(0);
      return;
    }
    underWay.add(this);
    try {
      yield* this.#reads(this.#reader);
    } finally {
      underWay.delete(this);
      // Awaiting it would wait for a read that hangs.
      this.#reader.cancel().catch(() => undefined);
    }
  }

  /** Reads into one buffer, which each read takes and gives back; a read that hangs is left to slices. */
  async *#reads(reader: ReadableStreamBYOBReader): AsyncGenerator<Uint8Array> {
    let buffer = new ArrayBuffer(Math.min(this.#readBytes, Math.max(this.#blob.size, 1)));
    let at = 0;
    while (at < this.#blob.size) {
      const read = reader.read(new Uint8Array(buffer)).catch((error: unknown) => {
        throw unreadable(this.#blob, this.#name, at, error);
      });
      const result = await withinTime(read, this.#stallMs);
      if (result === undefined) {
        yield* this.#slices(at);
        return;
      }
      const { value } = result;
      if (result.done || value === undefined) throw changed(this.#name, at);
      at += value.length;
      yield value;
      buffer = value.buffer;
    }
  }

  async *#slices(start: number): AsyncGenerator<Uint8Array> {
    const { size } = this.#blob;
    const ahead: Promise<Uint8Array>[] = [];
    let from = start;
    const readOn = () => {
      const slice = readSlice(this.#blob, this.#name, from, this.#sliceBytes);
      // Nobody awaits the slices ahead when the reader stops early; their fault is then no one's.
      slice.catch(() => undefined);
      ahead.push(slice);
      from += this.#sliceBytes;
    };
    do readOn();
    while (ahead.length < READ_AHEAD && from < size);
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const chunk = await next;
      if (from < size) readOn();
      yield chunk;
    }
  }
}

/** Undefined where the browser has none for files. */
function byobReader(blob: ReadableBlob): ReadableStreamBYOBReader | undefined {
  try {
    return blob.stream?.().getReader({ mode: 'byob' });
  } catch {
    return undefined;
  }
}

async function readSlice(
  blob: ReadableBlob,
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

function unreadable(blob: ReadableBlob, name: string, from: number, error: unknown): LoadError {
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

/** The file ends before the size that it had when it was chosen. */
function changed(name: string, at: number): LoadError {
  return new LoadError({
    code: 'unreadable',
    message: `"${name}" became shorter while it was read.`,
    advice: 'The file was changed since you chose it: open it again.',
    byte: at,
  });
}
