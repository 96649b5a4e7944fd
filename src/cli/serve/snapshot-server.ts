/**
 * The page on loopback, with the files that were named and no others.
 *
 *   http://127.0.0.1:7878/5f0c…/?snapshot=files/0/snapshot.pickle
 *                         token: other users of this machine do not know it
 *
 * Requests for another host are refused: a web page elsewhere could make its name point here.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { type PageFile, pageFiles, readPage } from './page-files.ts';
import { sendFile } from './send-file.ts';

const LOOPBACK = '127.0.0.1';
const HOSTS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
/** Ports to try when the wanted one is in use. */
const MOST_PORTS = 20;

export interface ServeOptions {
  /** Folder of the built page. */
  readonly page: string;
  readonly files: readonly string[];
  readonly port: number;
}

export interface SnapshotServer {
  readonly port: number;
  /** One for each file, in their order; that of the bare page where there is none. */
  readonly addresses: readonly string[];
  close(): Promise<void>;
}

/** @throws Error when the page is not built or no port is free */
export async function serveSnapshots({ page, files, port }: ServeOptions): Promise<SnapshotServer> {
  const token = randomBytes(16).toString('hex');
  const built = pageFiles(page);
  const server = createServer((request, response) => {
    void answer(request, response, token, built, files);
  });
  const used = await listen(server, port);
  const root = `http://${LOOPBACK}:${used}/${token}/`;
  const addresses = files.map((file, i) => `${root}?snapshot=${snapshotPath(file, i)}`);
  return {
    port: used,
    addresses: files.length === 0 ? [root] : addresses,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const snapshotPath = (file: string, i: number): string =>
  `files/${i}/${encodeURIComponent(basename(file))}`;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  built: ReadonlyMap<string, PageFile>,
  files: readonly string[],
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('x-content-type-options', 'nosniff');
  if (!HOSTS.test(request.headers.host ?? '')) return refuse(response, 403, 'Not this host.');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(response, 405, 'Files are read here, and nothing else.');
  }
  const path = (request.url ?? '').replace(/[?#].*$/s, '');
  if (!path.startsWith(`/${token}/`)) return refuse(response, 404, 'Nothing here.');
  const name = path.slice(token.length + 2);
  const snapshot = /^files\/(\d{1,6})\//.exec(name);
  if (snapshot !== null) {
    const file = files[Number(snapshot[1])];
    return file === undefined
      ? refuse(response, 404, 'No such file was named.')
      : sendFile(request, response, file);
  }
  const found = built.get(name === '' ? 'index.html' : name);
  if (found === undefined) return refuse(response, 404, 'Nothing here.');
  response.writeHead(200, { 'content-type': found.type });
  response.end(request.method === 'HEAD' ? undefined : readPage(found));
}

function refuse(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${words}\n`);
}

/** Takes the next port where one is in use; 0 is any. */
async function listen(server: Server, wanted: number): Promise<number> {
  for (let port = wanted; port < wanted + MOST_PORTS && port < 65536; port++) {
    const used = await tryPort(server, port);
    if (used !== undefined) return used;
  }
  throw new Error(`The ports ${wanted} to ${wanted + MOST_PORTS - 1} are all in use.`);
}

function tryPort(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, LOOPBACK, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
