/** Sends a file from disk as a stream, and fails visibly if the file changes meanwhile. */
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
  status = 200,
): Promise<void> {
  const file = await openRegular(path);
  if (file === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The file is gone or cannot be read.\n');
    return;
  }
  try {
    const { size, mtimeMs } = await file.stat();
    // The page asks for it again and again, to say when the file has changed.
    const etag = `"${size}-${mtimeMs}"`;
    response.writeHead(status, { 'content-type': type, 'content-length': size, etag });
    if (request.method === 'HEAD' || size === 0) {
      response.end();
      return;
    }
    await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response);
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
