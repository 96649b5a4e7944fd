/** Sends a file from disk, streamed and by ranges, and fails visibly if the file changes meanwhile. */
import { constants, readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';

const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Sends a growing file up to the announced length. If the file shrinks, the connection breaks off, so that the page
 * sees that the file is incomplete.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  type = UNKNOWN_TYPE,
): Promise<void> {
  const file = await openRegular(path);
  if (file === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The file is gone or cannot be read.\n');
    return;
  }
  try {
    const { size, mtimeMs } = await file.stat();
    const etag = `"${size.toString(36)}-${mtimeMs.toString(36)}"`;
    const isSame =
      request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
    const range = isSame ? byteRange(request.headers.range, size) : undefined;
    if (range === 'unsatisfiable') {
      response.writeHead(416, { 'content-range': `bytes */${size}` });
      response.end();
      return;
    }
    const { from, to } = range ?? { from: 0, to: size };
    response.writeHead(range === undefined ? 200 : 206, {
      'content-type': type,
      'content-length': to - from,
      'accept-ranges': 'bytes',
      etag,
      ...(range !== undefined && { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
    });
    if (request.method === 'HEAD' || from === to) {
      response.end();
      return;
    }
    await pipeline(file.createReadStream({ start: from, end: to - 1, autoClose: false }), response);
  } catch {
    // The reader left, or the file ended early. Closing the connection early says so.
    response.destroy();
  } finally {
    await file.close();
  }
}

/**
 * Opens the file at exactly this path; undefined if there is none. Follows no link and waits for no pipe: anyone who
 * can write to the folder could have put one there since.
 */
async function openRegular(path: string): Promise<FileHandle | undefined> {
  // Windows has neither flag, and such links or pipes need administrator rights there.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * One range of a `Range` header on a file of `size` bytes: 'bytes=0-99' is 0 to 100, 'bytes=-5' the last five.
 * 'unsatisfiable' if it starts beyond the end; undefined (send all) for several ranges or any other header.
 * @source RFC 9110, 14.1.2
 */
export function byteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'unsatisfiable' : { from: size - count, to: size };
  }
  const from = Number(first);
  const to = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'unsatisfiable' : { from, to };
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

/** A service worker would outlive this server and answer for the next one on its port. */
const LEFT_OUT = /^(sw|workbox-[\w-]+)\.js$/;

export interface PageFile {
  readonly type: string;
  readonly path: string;
}

/**
 * The page's files by URL path: 'index.html', 'assets/index-abc.js'. Only these are served: no request's path is ever
 * looked up on disk.
 * @throws Error if the page is not built
 */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || LEFT_OUT.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[extname(entry.name)] ?? UNKNOWN_TYPE;
    files.set(relative(folder, path).split(sep).join('/'), { type, path });
  }
  if (!files.has('index.html')) throw new Error(`No page in ${folder}`);
  return files;
}
