import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { LoadError } from '../base/load-error.ts';
import type { ByteSource, Platform } from '../format/input/types.ts';

/** Large enough that reading costs little beside decoding, small enough not to matter in memory. */
const CHUNK_BYTES = 4 * 2 ** 20;

/**
 * Opens a file by path and reads the next chunk while the last one is decoded.
 * @throws LoadError 'missing', 'no-permission', 'folder' or 'unreadable'
 */
export async function fileSource(path: string): Promise<ByteSource> {
  const stats = await readably(path, () => stat(path));
  if (stats.isFile() || stats.isDirectory()) return regularSource(path);
  // A pipe such as bash's <(zcat x.gz) has no size and can be read only once, so its bytes are kept.
  const handle = await readably(path, () => open(path));
  return streamSource(basename(path), handle.createReadStream());
}

/**
 * Like {@link fileSource}, but for regular files only.
 * @throws LoadError also 'not-a-file'
 */
export async function regularSource(path: string): Promise<ByteSource> {
  const handle = await openRegular(path);
  const { size } = await handle.stat();
  await handle.close();
  return {
    name: basename(path),
    size,
    async *chunks() {
      yield* pieces(await openRegular(path), size);
    },
  };
}

/** Never waits for a pipe: anyone who can write to the folder could swap one in between two checks. */
async function openRegular(path: string): Promise<FileHandle> {
  // Windows has neither the flag nor such pipes.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await readably(path, () => open(path, flags));
  const stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  if (stats.isDirectory()) {
    throw new LoadError({
      code: 'folder',
      message: `${path} is a folder, not a snapshot.`,
      advice: 'Name one of the files in it.',
    });
  }
  throw new LoadError({
    code: 'not-a-file',
    message: `${path} is a pipe or a device, not a file.`,
    advice: 'Save its content to a file first.',
  });
}

/**
 * Alternates two buffers, since a chunk is lent only until the next is requested. New buffers would cost as many page
 * faults as the file has pages. `size` is the file's, so a thousand small files need only small buffers.
 */
async function* pieces(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  const pieceBytes = Math.min(CHUNK_BYTES, Math.max(size, 1));
  let [lent, free] = [new Uint8Array(pieceBytes), new Uint8Array(pieceBytes)];
  try {
    let next = readInto(free, file);
    for (;;) {
      const piece = await next;
      if (piece.length === 0) return;
      [lent, free] = [free, lent];
      next = readInto(free, file);
      // A failed read-ahead is thrown where it is awaited; until then it must not count as an unhandled rejection.
      next.catch(() => undefined);
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readInto(buffer: Uint8Array, file: FileHandle): Promise<Uint8Array> {
  const { bytesRead } = await file.read(buffer, 0, buffer.length);
  return buffer.subarray(0, bytesRead);
}

/** @throws LoadError for what the system refuses */
export async function readably<T>(path: string, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    throw fileError(path, error) ?? error;
  }
}

function fileError(path: string, error: unknown): LoadError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new LoadError({
        code: 'missing',
        message: `No such file: ${path}.`,
        advice: 'Check the path and your working directory.',
      });
    case 'EACCES':
    case 'EPERM':
      return new LoadError({
        code: 'no-permission',
        message: `You don't have permission to read ${path}.`,
        advice: 'Check the file permissions.',
      });
    case undefined:
      return undefined;
    default:
      return new LoadError({ code: 'unreadable', message: `${path} cannot be read (${code}).` });
  }
}

/** Bytes kept for a second read, which only odd pickles (up to 64 MB) and zip archives need. */
const KEPT_BYTES = 64 * 2 ** 20;

/** Makes a one-time stream (stdin, a pipe) readable again by keeping up to `keptBytes` of it. */
export function streamSource(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  keptBytes = KEPT_BYTES,
): ByteSource {
  const iterator = stream[Symbol.asyncIterator]();
  /** All chunks so far; undefined once they are too many to keep. */
  let kept: Uint8Array[] | undefined = [];
  let bytes = 0;
  return {
    name,
    size: undefined,
    /** Iterates by hand: `for await` would close the stream when a reader stops early. */
    async *chunks() {
      if (kept === undefined) throw onlyOnce(name, keptBytes);
      yield* kept;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        bytes += value.length;
        if (bytes > keptBytes) kept = undefined;
        else kept?.push(value);
        yield value;
      }
    },
  };
}

function onlyOnce(name: string, keptBytes: number): LoadError {
  return new LoadError({
    code: 'read-once',
    message: `${name} has to be read twice, but a stream larger than ${keptBytes / 2 ** 20} MiB can be read only once.`,
    advice: 'Save it to a file first.',
  });
}

/** zlib's output chunk size: each chunk costs a turn of the event loop, so small ones are slow. */
const OUTPUT_BYTES = 1 << 20;

export const nodePlatform: Platform = {
  async *gunzip(chunks) {
    const inflater = createGunzip({ chunkSize: OUTPUT_BYTES });
    // An error from the source destroys the inflater with that error, and the loop throws it.
    pipeline(Readable.from(copies(chunks)), inflater, () => undefined);
    for await (const chunk of inflater) yield toBytes(chunk);
  },
};

/** Copies each chunk, because the inflater reads ahead and a chunk is lent only until the next is requested. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new TypeError('A byte stream gave something other than bytes');
}
