/** The built page, as a server gives it out. */
import { readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { openRegular } from './send-file.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

/** A service worker would outlive this server and answer for the next one at its port. */
const LEFT_OUT = /^(sw|workbox-[\w-]+)\.js$/;

export interface PageFile {
  readonly type: string;
  readonly path: string;
}

/**
 * Files by their path in the address: 'index.html', 'assets/index-abc.js'. Only these are served:
 * no path of a request is ever looked up on the disk.
 * @throws Error where the page is not built
 */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || LEFT_OUT.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[extname(entry.name)] ?? 'application/octet-stream';
    files.set(relative(folder, path).split(sep).join('/'), { type, path });
  }
  if (!files.has('index.html')) throw new Error(`No page in ${folder}`);
  return files;
}

/** Its bytes; undefined where it is gone, or something else was put in its place. */
export async function readPage({ path }: PageFile): Promise<Buffer | undefined> {
  const file = await openRegular(path);
  try {
    return await file?.readFile();
  } finally {
    await file?.close();
  }
}
