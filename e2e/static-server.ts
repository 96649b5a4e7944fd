/** A plain static host, as anyone may have: it sends files and their types, but no policy. */
import { readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

export interface StaticHost extends Host {
  /** Replaces a response from now on, to simulate a new version. */
  readonly replaced: Map<string, string>;
  /** What is gone, as if an old version had been deleted: paths that start with one of these. */
  readonly removed: Set<string>;
}

/** @param path of the site on the host: '/a/b/' */
export async function staticHost(
  folder: string,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Promise<StaticHost> {
  const replaced = new Map<string, string>();
  const removed = new Set<string>();
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').replace(/[?#].*$/s, ''));
    const inside = name.startsWith(path) ? normalize(name.slice(path.length) || 'index.html') : '';
    const file = join(folder, inside);
    const isRemoved = [...removed].some((start) => inside.startsWith(start));
    const isFile =
      !isRemoved && inside !== '' && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(isFile ? 200 : 404, { 'content-type': type, ...headers });
    response.end(isFile ? (replaced.get(inside) ?? readFileSync(file)) : 'not here');
  });
  const { url, close } = await hosted(server);
  return { url: new URL(path, url).href, replaced, removed, close };
}

interface Host {
  /** Ends with a slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** The server on loopback, at any free port. */
export async function hosted(server: Server): Promise<Host> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
