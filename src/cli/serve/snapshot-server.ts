/**
 * Serves the page on loopback, with only the files named on the command line.
 *
 *   http://127.0.0.1:7878/5f0c…/?snapshot=files/0/snapshot.pickle
 *                         token: unknown to other users of this machine; the cookie is needed too
 *
 * For a folder, the page reads a list of the files that it had when the program started:
 *
 *   http://127.0.0.1:7878/5f0c…/?ranks=ranks.json
 *
 * With `--source`, it also serves the Python files of a folder, listed when the program started (`source.json`).
 *
 * Requests for another host are refused: a web page elsewhere could point its host name here.
 */
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { Doors, secret } from './doors.ts';
import { type PageFile, pageFiles, sendFile } from './send-file.ts';
import type { SourceFiles } from './source-files.ts';

const LOOPBACK = '127.0.0.1';
const HOSTS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
/** How many ports to try while they are in use. */
const MOST_PORTS = 20;

/** The page's own meta element limits what it loads (scripts/vite-plugins.mjs). Only a header can forbid framing. */
const PAGE_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** For snapshots and refusals, which run nothing. */
const NOTHING_ALLOWED = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** Says the same to a person who opens the address. */
const OPENED_BEFORE_PAGE = 'opened-before.html';
const OPENED_BEFORE =
  'This address works in one browser: the one that opened it first. Run vramscope again for a new one.';

export interface ServeOptions {
  readonly page: string;
  readonly files: readonly string[];
  /** The files belong to one job, and one address shows them together. */
  readonly areRanks?: boolean;
  /** The program's files, whose text the page may show. */
  readonly source?: SourceFiles | undefined;
  readonly port: number;
}

export interface SnapshotServer {
  readonly port: number;
  /** One per file, in order; one for all ranks; or the bare page if there are no files. */
  readonly addresses: readonly string[];
  /** A file, readable by this user only, that leads a browser to `address` once: see {@link Doors}. */
  entranceFile(address: string): Promise<string>;
  close(): Promise<void>;
}

/** @throws Error if the page is not built or no port is free */
export async function serveSnapshots(options: ServeOptions): Promise<SnapshotServer> {
  const { page, files, source, port, areRanks = false } = options;
  const token = secret();
  const built = pageFiles(page);
  // Resolved now, so that a link put in a file's place later is not followed.
  const paths = await Promise.all(files.map((file) => realpath(file)));
  const sources = source?.paths.map((path) => join(source.above, path)) ?? [];
  const doors = new Doors(token);
  const lists = new Map<string, string>();
  if (areRanks) lists.set(RANK_LIST, JSON.stringify(rankList(files)));
  if (source !== undefined)
    lists.set(SOURCE_LIST, JSON.stringify(sourceList(source, files.length)));
  const server = createServer((request, response) => {
    answer(request, response, { token, built, files: [...paths, ...sources], lists, doors }).catch(
      () => {
        if (!response.headersSent) refuse(response, 500, 'This cannot be read.');
        else response.destroy();
      },
    );
  });
  const used = await listen(server, port);
  const root = `http://${LOOPBACK}:${used}/${token}/`;
  const shownSource = source === undefined ? '' : `&source=${SOURCE_LIST}`;
  const addresses = areRanks
    ? [`${root}?ranks=${RANK_LIST}`]
    : files.map((file, i) => `${root}?snapshot=${snapshotPath(file, i)}${shownSource}`);
  const all = files.length === 0 ? [root] : addresses;
  return {
    port: used,
    addresses: all,
    entranceFile: (address) => doors.entranceFile(`http://${LOOPBACK}:${used}`, address),
    close: async () => {
      await doors.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const RANK_LIST = 'ranks.json';
const SOURCE_LIST = 'source.json';

/** For the ranks page, which takes the rank from each file's path. */
function rankList(files: readonly string[]) {
  return { files: files.map((path, i) => ({ path, url: snapshotPath(path, i) })) };
}

/** @param before files that are numbered before them */
function sourceList({ above, paths }: SourceFiles, before: number) {
  return { above, files: paths.map((path, i) => ({ path, url: snapshotPath(path, before + i) })) };
}

const snapshotPath = (file: string, i: number): string =>
  `files/${i}/${encodeURIComponent(basename(file))}`;

interface Served {
  readonly token: string;
  readonly built: ReadonlyMap<string, PageFile>;
  readonly files: readonly string[];
  /** JSON by name. */
  readonly lists: ReadonlyMap<string, string>;
  readonly doors: Doors;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { token, built, files, lists, doors }: Served,
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('content-security-policy', NOTHING_ALLOWED);
  if (!HOSTS.test(request.headers.host ?? '')) return refuse(response, 403, 'Not this host.');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(response, 405, 'This server only serves files.');
  }
  // Refuse a body, so that it is never ambiguous where one request ends and the next begins.
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if ((length ?? '0') !== '0' || coding !== undefined) {
    response.shouldKeepAlive = false;
    return refuse(response, 400, 'A request for a file has no body.');
  }
  const path = (request.url ?? '').replace(/[?#].*$/s, '');
  const target = request.method === 'GET' ? doors.take(path) : undefined;
  if (target !== undefined) {
    response.writeHead(302, { location: target, 'set-cookie': doors.cookie });
    response.end();
    return;
  }
  if (!path.startsWith(`/${token}/`)) return refuse(response, 404, 'Nothing here.');
  const name = path.slice(token.length + 2);
  if (!doors.isInside(request.headers.cookie)) {
    const isPage = name === '' && request.method === 'GET';
    if (!isPage || !doors.openOnce()) {
      const told = isPage ? built.get(OPENED_BEFORE_PAGE) : undefined;
      if (told === undefined) return refuse(response, 403, OPENED_BEFORE);
      response.setHeader(
        'content-security-policy',
        `${NOTHING_ALLOWED}; style-src 'unsafe-inline'`,
      );
      return sendFile(request, response, told.path, told.type, 403);
    }
    response.setHeader('set-cookie', doors.cookie);
  }
  const snapshot = /^files\/(\d{1,6})\//.exec(name);
  if (snapshot !== null) {
    const file = files[Number(snapshot[1])];
    return file === undefined
      ? refuse(response, 404, 'No such file was named.')
      : sendFile(request, response, file);
  }
  const list = lists.get(name);
  if (list !== undefined) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.method === 'HEAD' ? undefined : list);
    return;
  }
  const found = built.get(name === '' ? 'index.html' : name);
  if (found === undefined) return refuse(response, 404, 'Nothing here.');
  response.setHeader('content-security-policy', PAGE_POLICY);
  return sendFile(request, response, found.path, found.type);
}

function refuse(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${words}\n`);
}

/** Takes the next port if one is in use; 0 means any. */
async function listen(server: Server, wanted: number): Promise<number> {
  for (let port = wanted; port < wanted + MOST_PORTS && port < 65536; port++) {
    const used = await tryPort(server, port);
    if (used !== undefined) return used;
  }
  throw new Error(`The ports ${wanted} to ${wanted + MOST_PORTS - 1} are all in use.`);
}

async function tryPort(server: Server, port: number): Promise<number | undefined> {
  server.listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
