/**
 * The page's handle on its files. Each file opens in its own worker, which holds it until it is closed.
 *
 *   spare  ── open(A) ──►  reading A  ── A is open ──►  current; the previous one ends
 *                             │ fails                   what was read of A stays visible until the next open
 *                             │ is cancelled            ends at once
 *
 * A spare worker is warm when a file arrives: it loads and compiles its code while the user looks for one. None waits
 * while a file just stays open.
 */
import { abortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { servePageBlob } from './page-blob.ts';
import type {
  OpenOptions,
  OpenProgress,
  SessionApi,
  SessionMethods,
  WireSource,
} from './protocol.ts';
import { connectWorker, type WorkerConnection, type WorkerLike } from './worker-connection.ts';
import { newSessionWorker } from './workers.ts';

const CRASHED = [
  'The part of vramscope that holds the snapshot has stopped',
  'Open the file again. If this happens again, your browser may be short of memory.',
] as const;

export interface SessionClient extends SessionApi {
  /** Makes a spare worker. Call the result if no file is expected any more. */
  expectFile(): () => void;
  /** Ends the workers and rejects pending calls. */
  close(): void;
}

export interface SessionClientOptions {
  /** Counts each pending query as work. */
  readonly idle?: { during<T>(work: () => Promise<T>): Promise<T> };
  readonly timings?: { start(): void; reach(stage: 'firstByte' | 'decoded'): void };
  /** Relative URLs are relative to the page, not to the worker's script. */
  readonly baseUrl?: string;
  readonly createWorker?: () => WorkerLike;
  /** Files are read in the page, not in its workers; by default in a page without an origin, such as one from disk. */
  readonly readsFiles?: boolean;
}

type Connection = WorkerConnection<SessionMethods>;

export function createSessionClient(options: SessionClientOptions = {}): SessionClient {
  const { idle, timings, createWorker = newSessionWorker } = options;
  const baseUrl = options.baseUrl ?? globalThis.document?.baseURI;
  const { readsFiles = globalThis.location?.protocol === 'file:' || globalThis.origin === 'null' } =
    options;
  const during: <T>(work: () => Promise<T>) => Promise<T> = idle?.during ?? ((work) => work());
  const start = (): Connection => connectWorker(createWorker(), { crashed: CRASHED });
  let spare: Connection | undefined = start();
  /** Holds the open file. */
  let current: Connection | undefined;
  /** Is reading the next file, or failed to. */
  let reading: Connection | undefined;
  let isClosed = false;

  function makeSpare(): Connection {
    if (spare === undefined || spare.isOver) spare = start();
    return spare;
  }

  /** A file of a page from disk is read here, since its workers may be unable to. */
  function send(
    { call }: Connection,
    source: WireSource,
    options: OpenOptions,
    onProgress: (progress: OpenProgress) => void,
  ) {
    if (source.kind !== 'blob' || !readsFiles)
      return call('open', { source, options }, { onProgress });
    const { blob, name } = source;
    const port = servePageBlob(blob);
    const onPage = { kind: 'page', port, name, size: blob.size, type: blob.type } as const;
    return call('open', { source: onPage, options }, { onProgress, transfer: [port] });
  }

  const open: SessionApi['open'] = async (source, openOptions, call = {}) => {
    timings?.start();
    reading?.end(abortError('Another file was opened'));
    const own = makeSpare();
    spare = undefined;
    reading = own;
    const cancel = () => own.end(abortError('Cancelled'));
    if (call.signal?.aborted) cancel();
    call.signal?.addEventListener('abort', cancel);
    const onProgress = (progress: OpenProgress) => {
      if (progress.readBytes > 0) timings?.reach('firstByte');
      call.onProgress?.(progress);
    };
    try {
      const info = await during(async () =>
        send(own, absolute(source, baseUrl), await withNames(openOptions, source), onProgress),
      );
      if (reading !== own) throw abortError('Another file was opened');
      reading = undefined;
      current?.end(abortError('Another file is open'));
      current = own;
      timings?.reach('decoded');
      return info;
    } catch (error) {
      if (reading === own && current === undefined && !isClosed) makeSpare();
      throw error;
    } finally {
      call.signal?.removeEventListener('abort', cancel);
    }
  };

  /** The worker with the open file. */
  async function holder(): Promise<Connection> {
    if (current !== undefined) return current;
    throw new LoadError({ code: 'nothing-open', message: 'No snapshot is open.' });
  }

  return {
    open,
    expectFile() {
      makeSpare();
      return () => {
        // Before the first file, one is always expected.
        if (current === undefined) return;
        spare?.end(abortError('No file came'));
        spare = undefined;
      };
    },
    query: (name, request, callOptions) =>
      during(async () => (await holder()).call(name, request, callOptions)),
    async partialFrame(request) {
      if (reading === undefined) throw abortError('No file is read');
      return reading.call('partialFrame', request);
    },
    async recycle(request) {
      const { buffer } = request.pixels;
      if (!(buffer instanceof ArrayBuffer) || buffer.byteLength === 0) return undefined;
      return current?.call('recycle', request, { transfer: [buffer] }).catch(() => undefined);
    },
    attachAnalysis: async (request) =>
      (await holder()).call('attachAnalysis', request, { transfer: [request.port] }),
    close() {
      isClosed = true;
      const closed = new LoadError({ code: 'closed', message: 'This session was closed.' });
      for (const connection of [spare, current, reading]) connection?.end(closed);
    },
  };
}

async function withNames(options: OpenOptions, source: WireSource): Promise<OpenOptions> {
  if (source.kind !== 'blob' || source.holders === undefined) return options;
  return { ...options, holders: await source.holders.text() };
}

function absolute(source: WireSource, baseUrl: string | undefined): WireSource {
  if (source.kind !== 'url') return source;
  try {
    return { kind: 'url', url: new URL(source.url, baseUrl).href };
  } catch {
    throw new LoadError({
      code: 'bad-url',
      message: `"${source.url}" is not a web address.`,
      advice: 'Enter the full address, such as https://example.com/snapshot.pickle.',
    });
  }
}
