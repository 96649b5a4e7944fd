/**
 * Reads zip archives by their directory at the end of the file: local headers often lack sizes and checksums (Finder
 * and every streaming writer omit them), and compressed data may contain false signatures. So the file is read once for
 * its directory and once for each entry examined. Wrapping a deflated entry in a gzip header (ten bytes) and trailer
 * (eight) lets the platform's fast decompressor read it and check its CRC.
 */
import { concatBytes, latin1 } from '../../base/bytes.ts';
import { LoadError } from '../../base/load-error.ts';
import { ByteCursor, type ByteStream, type OpenBytes } from './byte-cursor.ts';
import { cutShortError, damagedError, unsupportedError } from './failures.ts';
import { gunzip } from './gzip.ts';
import type { Platform } from './types.ts';
import { unzstd } from './zstd.ts';

/** The directory must lie within these last bytes: enough for about 10,000 entries. */
const TAIL_BYTES = 2 ** 20;
const LOCAL_HEADER_BYTES = 30;
const IN_ZIP64 = 0xffffffff;

export interface ZipEntry {
  readonly name: string;
  /** 0 stored, 8 deflate, 93 zstd; others cannot be read. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly sizeBytes: number;
  /** Position of the local header in the file. */
  readonly offset: number;
}

/**
 * The files of the archive in directory order, without folders, empty files and the copies that macOS adds. Undefined
 * when the directory is missing because the archive was cut short.
 * @throws LoadError 'zip-damaged' or 'zip-unsupported'
 */
export async function readDirectory(stream: ByteStream): Promise<readonly ZipEntry[] | undefined> {
  const { tail, size } = await tailOf(stream);
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length);
  const end = findEnd(view);
  if (end < 0) return undefined;
  const tailStart = size - tail.length;
  const { count, at } = directoryPlace(view, end, tailStart);
  if (at < tailStart) throw unsupportedError('zip', 'has a directory of more than 1 MiB');
  const entries: ZipEntry[] = [];
  let position = at - tailStart;
  for (let i = 0; i < count; i++) {
    if (position + 46 > view.byteLength || view.getUint32(position, true) !== 0x02014b50) {
      throw damagedError('zip', `directory entry ${i + 1} of ${count} is missing`, undefined);
    }
    const entry = parseEntry(view, position);
    const isOwn = !/(^|\/)(__MACOSX\/|\.DS_Store$|\._)|\/$/.test(entry.name);
    if (isOwn && entry.sizeBytes > 0) entries.push(entry);
    position +=
      46 + [28, 30, 32].reduce((sum, field) => sum + view.getUint16(position + field, true), 0);
  }
  return entries;
}

/** @throws LoadError 'truncated', 'zip-damaged' or 'zip-unsupported' */
export function openEntry(platform: Platform, open: OpenBytes, entry: ZipEntry): ByteStream {
  if (entry.isEncrypted) throw unsupportedError('zip', 'is encrypted');
  const raw = (): ByteStream => entryBytes(open(), entry);
  switch (entry.method) {
    case 0:
      return raw();
    case 8:
      return gunzip(platform, () => asGzip(raw(), entry), 'zip');
    case 93:
      return unzstd(raw());
    default:
      throw unsupportedError('zip', `is compressed by method ${entry.method}`);
  }
}

/**
 * Recovers the first file of an archive that was cut short, then throws LoadError 'truncated'. The local header gives
 * the compression method but seldom the length, so everything to the end counts as data.
 */
export async function* salvageEntry(
  platform: Platform,
  open: OpenBytes,
): AsyncGenerator<Uint8Array> {
  let produced = 0;
  try {
    const entry = await firstEntry(open());
    for await (const chunk of openEntry(platform, open, entry)) {
      produced += chunk.length;
      yield chunk;
    }
  } catch (error) {
    // After the data, the decompressor meets the next header or the end of the file. That error is expected.
    if (!(error instanceof LoadError)) throw error;
  }
  throw cutShortError('zip', produced);
}

async function firstEntry(stream: ByteStream): Promise<ZipEntry> {
  const cursor = new ByteCursor(stream);
  try {
    const view = await localHeader(cursor);
    return {
      name: '',
      ...methodAt(view, 6),
      crc32: 0,
      compressedBytes: Number.POSITIVE_INFINITY,
      sizeBytes: Number.POSITIVE_INFINITY,
      offset: 0,
    };
  } finally {
    await cursor.close();
  }
}

/** From the flags of a header, and the method after them. */
const methodAt = (view: DataView, flags: number) => ({
  isEncrypted: (view.getUint16(flags, true) & 1) !== 0,
  method: view.getUint16(flags + 2, true),
});

async function localHeader(cursor: ByteCursor): Promise<DataView> {
  const header = await cursor.read(LOCAL_HEADER_BYTES);
  if (header.length < LOCAL_HEADER_BYTES) throw cutShortError('zip', undefined);
  return new DataView(header.buffer, header.byteOffset, header.length);
}

async function tailOf(stream: ByteStream): Promise<{ tail: Uint8Array; size: number }> {
  let pieces: Uint8Array[] = [];
  let kept = 0;
  let size = 0;
  for await (const chunk of stream) {
    pieces.push(chunk.slice());
    kept += chunk.length;
    size += chunk.length;
    // Compact only at twice the length, so that one-byte chunks cost no more than big ones.
    if (kept > 2 * TAIL_BYTES) {
      pieces = [concatBytes(pieces).slice(-TAIL_BYTES)];
      kept = TAIL_BYTES;
    }
  }
  return { tail: concatBytes(pieces), size };
}

/** Index of the end-of-directory record, which a comment of up to 64 kB may follow; -1 if there is none. */
function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - 22 - 0xffff);
  for (let at = view.byteLength - 22; at >= lowest; at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  return -1;
}

/** Number of entries and position of the first. Above 4 GB or 65,535 entries, a second record holds them. */
function directoryPlace(
  view: DataView,
  end: number,
  tailStart: number,
): { count: number; at: number } {
  const locator = end - 20;
  if (locator >= 0 && view.getUint32(locator, true) === 0x07064b50) {
    const record = uint64(view, locator + 8) - tailStart;
    if (record < 0 || record + 56 > locator || view.getUint32(record, true) !== 0x06064b50) {
      throw damagedError('zip', 'the zip64 directory is not where it should be', undefined);
    }
    return { count: uint64(view, record + 32), at: uint64(view, record + 48) };
  }
  return { count: view.getUint16(end + 10, true), at: view.getUint32(end + 16, true) };
}

function parseEntry(view: DataView, at: number): ZipEntry {
  const nameLength = view.getUint16(at + 28, true);
  const extra = at + 46 + nameLength;
  const extraEnd = Math.min(extra + view.getUint16(at + 30, true), view.byteLength);
  const nameBytes = new Uint8Array(
    view.buffer,
    view.byteOffset + at + 46,
    Math.max(0, Math.min(nameLength, view.byteLength - at - 46)),
  );
  const wide = zip64Fields(view, extra, extraEnd);
  const field = (offset: number): number => {
    const value = view.getUint32(at + offset, true);
    return value === IN_ZIP64 ? (wide.shift() ?? value) : value;
  };
  // In this order: the zip64 field holds only the values that did not fit, original size first.
  const sizeBytes = field(24);
  const compressedBytes = field(20);
  const offset = field(42);
  return {
    name: latin1(nameBytes),
    ...methodAt(view, at + 8),
    crc32: view.getUint32(at + 16, true),
    compressedBytes,
    sizeBytes,
    offset,
  };
}

/** The 64-bit numbers of the extra field with id 1. */
function zip64Fields(view: DataView, from: number, to: number): number[] {
  for (let at = from; at + 4 <= to; ) {
    const end = at + 4 + view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) {
      const numbers: number[] = [];
      for (let i = at + 4; i + 8 <= Math.min(end, to); i += 8) numbers.push(uint64(view, i));
      return numbers;
    }
    at = end;
  }
  return [];
}

/** Exact below 2^53, which no file reaches. */
function uint64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

/** The entry's stored bytes; fewer than its size if the archive is cut short. */
async function* entryBytes(stream: ByteStream, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  const cursor = new ByteCursor(stream);
  try {
    await cursor.skip(entry.offset);
    const view = await localHeader(cursor);
    if (view.getUint32(0, true) !== 0x04034b50) {
      throw damagedError('zip', `no file begins at byte ${entry.offset}`, undefined);
    }
    await cursor.skip(view.getUint16(26, true) + view.getUint16(28, true));
    yield* cursor.take(entry.compressedBytes);
  } finally {
    await cursor.close();
  }
}

/** Omits the trailer if bytes are missing, so that the decompressor reports it. */
async function* asGzip(deflated: ByteStream, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  let left = entry.compressedBytes;
  for await (const chunk of deflated) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) return;
  const trailer = new DataView(new ArrayBuffer(8));
  trailer.setUint32(0, entry.crc32, true);
  trailer.setUint32(4, entry.sizeBytes % 2 ** 32, true);
  yield new Uint8Array(trailer.buffer);
}

/** Whether the file names look like those of a checkpoint. */
export function hasCheckpoint(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => /(^|\/)data\.pkl$/.test(name));
}

export function hasOnlyArrays(entries: readonly ZipEntry[]): boolean {
  return entries.length > 0 && entries.every(({ name }) => name.endsWith('.npy'));
}

export function zipWithoutSnapshot(entries: readonly ZipEntry[]): LoadError {
  const names = entries.slice(0, 3).map(({ name }) => name);
  const more = entries.length > 3 ? ` and ${entries.length - 3} more` : '';
  const holds = entries.length === 0 ? 'is empty' : `holds ${names.join(', ')}${more}`;
  return new LoadError({
    code: 'zip-without-snapshot',
    message: `No memory snapshot in this zip archive: it ${holds}.`,
    advice: 'Open the archive that holds the snapshot, or the snapshot itself.',
  });
}
