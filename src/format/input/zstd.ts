/**
 * Zstandard, frame by frame and block by block (RFC 8878). fzstd decompresses the blocks. Walking them here limits the
 * output at any moment to one block (128 kB), whatever the file, and refuses windows that would cost gigabytes before
 * they are allocated.
 */
import { concatBytes } from '../../base/bytes.ts';
import { errorText } from '../../base/errors.ts';
import { ByteCursor, type ByteStream } from './byte-cursor.ts';
import { cutShortError, damagedError, unsupportedError } from './failures.ts';

/** The `zstd` program's own decompression limit; `--ultra` and `--long` up to 27 stay below it. */
const MAX_WINDOW_BYTES = 2 ** 27;
const FRAME_MAGIC = 0xfd2fb528;

interface FrameHeader {
  readonly bytes: Uint8Array;
  readonly hasChecksum: boolean;
}

/** @throws LoadError 'truncated', 'zstd-damaged' or 'zstd-unsupported' */
export async function* unzstd(input: ByteStream): AsyncGenerator<Uint8Array> {
  const cursor = new ByteCursor(input);
  const output = { bytes: 0 };
  try {
    for (;;) {
      const start = await cursor.read(4);
      if (start.length === 0) return;
      const magic = uint(start, 0, 4);
      if (start.length === 4 && magic >>> 4 === 0x184d2a5) await skipFrame(cursor, output.bytes);
      else if (magic === FRAME_MAGIC) yield* readFrame(cursor, start, output);
      else throw damagedError('zstd', 'no frame where one should begin', output.bytes);
    }
  } finally {
    await cursor.close();
  }
}

async function* readFrame(
  cursor: ByteCursor,
  magic: Uint8Array,
  output: { bytes: number },
): AsyncGenerator<Uint8Array> {
  // Few files need it, so load it on demand.
  const { Decompress } = await import('fzstd');
  const header = await readHeader(cursor, magic, output.bytes);
  const chunks: Uint8Array[] = [];
  const decompress = new Decompress((chunk) => chunks.push(chunk));
  const push = (bytes: Uint8Array, isLast: boolean): void => {
    try {
      decompress.push(bytes, isLast);
    } catch (error) {
      throw damagedError('zstd', errorText(error), output.bytes);
    }
  };
  push(header.bytes, false);
  for (let isLast = false; !isLast; ) {
    const head = await readExactly(cursor, 3, output.bytes);
    isLast = (head[0] & 1) === 1;
    const isRunLength = ((head[0] >> 1) & 3) === 1;
    const size = isRunLength ? 1 : uint(head, 0, 3) >>> 3;
    const checksum = isLast && header.hasChecksum ? 4 : 0;
    const body = await readExactly(cursor, size + checksum, output.bytes);
    push(concatBytes([head, body]), isLast);
    for (const chunk of chunks.splice(0)) {
      output.bytes += chunk.length;
      if (chunk.length > 0) yield chunk;
    }
  }
}

/** Descriptor byte: content size (2 bits), single segment, 0, 0, checksum, dictionary id (2 bits). */
async function readHeader(
  cursor: ByteCursor,
  magic: Uint8Array,
  atByte: number,
): Promise<FrameHeader> {
  const descriptor = await readExactly(cursor, 1, atByte);
  const flags = descriptor[0];
  const isSingleSegment = (flags & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6];
  const dictionaryBytes = [0, 1, 2, 4][flags & 3];
  if (dictionaryBytes > 0) throw unsupportedError('zstd', 'needs a dictionary');
  const rest = await readExactly(cursor, (isSingleSegment ? 0 : 1) + sizeBytes, atByte);
  const windowBytes = isSingleSegment
    ? uint(rest, 0, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
    : 2 ** (10 + (rest[0] >> 3)) * (1 + (rest[0] & 7) / 8);
  if (windowBytes > MAX_WINDOW_BYTES) {
    throw unsupportedError('zstd', `needs a window of ${Math.round(windowBytes / 2 ** 20)} MiB`);
  }
  return { bytes: concatBytes([magic, descriptor, rest]), hasChecksum: (flags & 4) !== 0 };
}

async function skipFrame(cursor: ByteCursor, atByte: number): Promise<void> {
  const size = uint(await readExactly(cursor, 4, atByte), 0, 4);
  if ((await cursor.skip(size)) < size) throw cutShortError('zstd', atByte);
}

async function readExactly(cursor: ByteCursor, count: number, atByte: number): Promise<Uint8Array> {
  const bytes = await cursor.read(count);
  if (bytes.length < count) throw cutShortError('zstd', atByte);
  return bytes;
}

/** Little-endian; exact up to 2^53. */
function uint(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}
