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
  Beside,
  Idle,
  OpenProgress,
  SessionApi,
  SessionMethods,
  WireSource,
} from './protocol.ts';
import { connect, type Endpoint, type Remote, transferring } from './rpc.ts';
import { newSessionWorker } from './workers.ts';

const CRASHED = [
  'The part of vramscope that holds the snapshot has stopped',
  'Open the file again. If this happens again, your browser may be short of memory.',
] as const;

async function textsOf(beside: Beside<Blob> = {}): Promise<Beside<string>> {
  const texts = Object.entries(beside).map(async ([kind, file]) => [kind, await file?.text()]);
  return Object.fromEntries(await Promise.all(texts));
}

export interface SessionClient extends SessionApi {
  /** Makes a spare worker. Call the result if no file is expected any more. */
  expectFile(): () => void;
  /** Ends the workers and rejects pending calls. */
  close(): void;
}

export interface SessionClientOptions {
  readonly idle: Idle;
  readonly timings?: { start(): void; reach(stage: 'firstByte' | 'decoded'): void };
  /** Relative URLs are relative to the page, not to the worker's script. */
  readonly baseUrl?: string;
  readonly createWorker?: () => Endpoint;
  /** Files are read in the page, not in its workers; by default in a page without an origin, such as one from disk. */
  readonly readsFiles?: boolean;
}

export function createSessionClient(given: SessionClientOptions): SessionClient {
  const { idle, timings, createWorker = newSessionWorker } = given;
  const { readsFiles = globalThis.location?.protocol === 'file:' || globalThis.origin === 'null' } =
    given;
  const start = (): Remote<SessionMethods> => connect(createWorker(), CRASHED);
  let spare: Remote<SessionMethods> | undefined = start();
  /** Holds the open file. */
  let current: Remote<SessionMethods> | undefined;
  /** Is reading the next file, or failed to. */
  let reading: Remote<SessionMethods> | undefined;
  let isClosed = false;

  function makeSpare(): Remote<SessionMethods> {
    if (spare === undefined || spare.isOver) spare = start();
    return spare;
  }

  /** As the worker reads it. A file of a page from disk is read here, since its workers may be unable to. */
  function wireSource(source: WireSource): WireSource {
    if (source.kind === 'url') return { ...source, url: absoluteUrl(source.url, given.baseUrl) };
    if (source.kind === 'page' || !readsFiles) return source;
    const { blob, name } = source;
    return { kind: 'page', port: servePageBlob(blob), name, size: blob.size, type: blob.type };
  }

  const open: SessionApi['open'] = async ({ source, ...options }, call = {}) => {
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
      const info = await idle.during(async () => {
        const beside = source.kind === 'blob' ? await textsOf(source.beside) : undefined;
        const wire = wireSource(source);
        const request = { ...options, source: wire, beside };
        return own.call('open', transferring(request, wire), { onProgress });
      });
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
  async function holder(): Promise<Remote<SessionMethods>> {
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
      idle.during(async () => (await holder()).call(name, request, callOptions)),
    async partialFrame(request) {
      if (reading === undefined) throw abortError('No file is read');
      return reading.call('partialFrame', request);
    },
    async recycle(request) {
      if (request.pixels.length === 0) return undefined;
      return current?.call('recycle', transferring(request)).catch(() => undefined);
    },
    attachAnalysis: async (request) =>
      (await holder()).call('attachAnalysis', transferring(request)),
    close() {
      isClosed = true;
      const closed = new LoadError({ code: 'closed', message: 'This session was closed.' });
      for (const connection of [spare, current, reading]) connection?.end(closed);
    },
  };
}

/** @throws LoadError 'bad-url' */
export function absoluteUrl(url: string, baseUrl = globalThis.document?.baseURI): string {
  try {
    return new URL(url, baseUrl).href;
  } catch {
    throw new LoadError({
      code: 'bad-url',
      message: `"${url}" is not a web address.`,
      advice: 'Enter the full address, such as https://example.com/snapshot.pickle.',
    });
  }
}
