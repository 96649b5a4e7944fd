/**
 * The page's handle on the session worker. Every method rejects with LoadError or an AbortError.
 * Starts the worker at once (it loads while the user looks for a file), and a new one for the next
 * `open` after a crash.
 *
 * A worker that does not stop when an opening is cancelled, because a hostile file keeps it busy, is
 * ended and replaced. The snapshot that was open before is read once more when it is asked about.
 */
import { isAbortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import {
  connectWorker,
  type RemoteCallOptions,
  type WorkerConnection,
  type WorkerLike,
} from './connect.ts';
import { crashError } from './errors.ts';
import { createIdleCounter, createMarks, type IdleCounter, type Marks } from './instrumentation.ts';
import { servePageBlob } from './page-blob.ts';
import type {
  OpenOptions,
  OpenProgress,
  SessionApi,
  SessionMethods,
  WireSource,
} from './protocol.ts';
import type { CallOptions } from './queries.ts';
import { createRpcProxy } from './rpc.ts';
import { newSessionWorker } from './workers.ts';

const CRASHED = 'The part of vramscope that holds the snapshot has stopped';
const AFTER_CRASH =
  'Open the file again. If this happens again, your browser may be short of memory.';

/** How long a worker may take to stop an opening that was cancelled. It looks about every 50 ms. */
const STOP_TIMEOUT_MS = 1000;

export interface SessionClient extends SessionApi {
  /** Calls back when another worker has taken the place of one, until the returned function is called. */
  onReplaced(listener: () => void): () => void;
  /** Ends the worker; what is pending rejects. */
  close(): void;
}

export interface SessionClientOptions {
  readonly idle?: IdleCounter;
  readonly marks?: Marks;
  /** Relative URLs are relative to the page, not to the worker's script. */
  readonly baseUrl?: string;
  readonly createWorker?: () => WorkerLike;
}

/** What the client implements; every other method is forwarded to the worker. */
type ClientMethods = Pick<
  SessionClient,
  'open' | 'recycle' | 'attachAnalysis' | 'onReplaced' | 'close'
>;
type ForwardedMethods = Omit<SessionMethods, 'open' | 'recycle' | 'attachAnalysis'>;

interface Connection extends WorkerConnection<SessionMethods> {
  /** Set when the worker died. */
  crashed: boolean;
  /** Set when the worker was ended because it did not stop: what it was asked is asked of the next. */
  replaced: boolean;
  /** The snapshot that was open before, while it is read once more. */
  restoring: Promise<unknown> | undefined;
}

interface OpenRequest {
  readonly source: WireSource;
  readonly options: OpenOptions;
}

export function createSessionClient(options: SessionClientOptions = {}): SessionClient {
  const {
    idle = createIdleCounter(),
    marks = createMarks(),
    createWorker = newSessionWorker,
  } = options;
  const baseUrl = options.baseUrl ?? globalThis.document?.baseURI;
  let connection = connectTo(createWorker());

  const onReplaced = new Set<() => void>();

  /** What is open, which a worker that takes the place of another does not have. */
  let opened: { readonly request: OpenRequest; in: Connection } | undefined;
  /** Settles when the file that is being opened is open or has failed; never rejects. */
  let opening: Promise<void> | undefined;
  /** Workers cannot read files here: the page does. */
  let isReadHere = false;

  /** Sends until a worker answers that is not replaced meanwhile. */
  function ask<T>(
    send: (asked: Connection) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return idle.during(async () => {
      for (;;) {
        const asked = connection;
        try {
          return await send(asked);
        } catch (error) {
          const isStale = asked.replaced && connection !== asked;
          if (!isStale || signal?.aborted) throw error;
        }
      }
    });
  }

  /** Asks about what is open, which is read once more where the worker does not have it. */
  function call<K extends Exclude<keyof SessionMethods, 'open'>>(
    method: K,
    request: SessionMethods[K]['request'],
    options: RemoteCallOptions<SessionMethods[K]['progress']> = {},
  ): Promise<SessionMethods[K]['result']> {
    return ask(async (asked) => {
      await restore(asked);
      return asked.remote.call(method, request, options);
    }, options.signal);
  }

  async function restore(asked: Connection): Promise<void> {
    while (opened !== undefined && opened.in !== asked && !asked.crashed && !asked.replaced) {
      // The file that is being opened comes first: a session reads one at a time.
      if (opening !== undefined) await opening;
      else await restoreIn(asked, opened.request);
    }
  }

  async function restoreIn(asked: Connection, request: OpenRequest): Promise<void> {
    asked.restoring ??= sendOpen(asked, request).finally(() => {
      asked.restoring = undefined;
    });
    try {
      await asked.restoring;
    } catch (error) {
      // Another file is being opened.
      if (opening !== undefined && isAbortError(error)) return;
      throw error;
    }
    if (opened?.request === request) opened.in = asked;
  }

  /** A port goes once: each sending of a file that the page reads has one of its own. */
  function sendOpen(
    { remote }: Connection,
    request: OpenRequest,
    callOptions: RemoteCallOptions<OpenProgress> = {},
  ): Promise<SessionInfo> {
    const { source, options } = request;
    if (source.kind !== 'blob' || !isReadHere) return remote.call('open', request, callOptions);
    const { blob, name } = source;
    const { size, type } = blob;
    const port = servePageBlob(blob);
    const onPage = { kind: 'page', port, name, size, type } as const;
    return remote.call('open', { source: onPage, options }, { ...callOptions, transfer: [port] });
  }

  async function sendReadably(
    asked: Connection,
    request: OpenRequest,
    callOptions: RemoteCallOptions<OpenProgress>,
  ): Promise<SessionInfo> {
    try {
      return await sendOpen(asked, request, callOptions);
    } catch (error) {
      if (isReadHere || request.source.kind !== 'blob' || !isUnreadable(error)) throw error;
    }
    isReadHere = true;
    try {
      return await sendOpen(asked, request, callOptions);
    } catch (error) {
      // It is the file that cannot be read, whoever tries.
      if (isUnreadable(error)) isReadHere = false;
      throw error;
    }
  }

  /** Ends the worker that reads a file nobody waits for, unless it stops soon. */
  function endUnlessStopped(signal: AbortSignal | undefined): () => void {
    const busy = connection;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      if (busy !== connection || busy.crashed) return;
      busy.replaced = true;
      connection = connectTo(createWorker());
      busy.end(closedError());
      for (const listener of onReplaced) listener();
    };
    const wait = () => {
      timer = setTimeout(end, STOP_TIMEOUT_MS);
    };
    signal?.addEventListener('abort', wait, { once: true });
    return () => {
      signal?.removeEventListener('abort', wait);
      clearTimeout(timer);
    };
  }

  async function open(
    source: WireSource,
    openOptions: OpenOptions,
    callOptions: CallOptions<OpenProgress> = {},
  ) {
    marks.start();
    if (connection.crashed) connection = connectTo(createWorker());
    const onProgress = (progress: OpenProgress) => {
      if (progress.readBytes > 0) marks.reach('firstByte');
      callOptions.onProgress?.(progress);
    };
    const { signal } = callOptions;
    const request = { source: absolute(source, baseUrl), options: openOptions };
    const onAnswered = endUnlessStopped(signal);
    const info = await openIn(request, { signal, onProgress, onAnswered });
    marks.reach('decoded');
    return info;
  }

  async function openIn(request: OpenRequest, callOptions: RemoteCallOptions<OpenProgress>) {
    const reading = ask(async (asked) => {
      const info = await sendReadably(asked, request, callOptions);
      opened = { request, in: asked };
      return info;
    }, callOptions.signal);
    const settled = () => {
      if (opening === ended) opening = undefined;
    };
    const ended: Promise<void> = reading.then(settled, settled);
    opening = ended;
    return reading;
  }

  const own: ClientMethods = {
    open,
    recycle: (request) => {
      const { buffer } = request.pixels;
      const transfer = buffer instanceof ArrayBuffer && buffer.byteLength > 0 ? [buffer] : [];
      return transfer.length === 0
        ? Promise.resolve(undefined)
        : connection.remote.call('recycle', request, { transfer }).catch(() => undefined);
    },
    attachAnalysis: (request) => call('attachAnalysis', request, { transfer: [request.port] }),
    onReplaced(listener) {
      onReplaced.add(listener);
      return () => onReplaced.delete(listener);
    },
    close() {
      connection.end(closedError());
    },
  };
  const forward =
    (name: keyof ForwardedMethods) => (request: never, callOptions?: CallOptions<unknown>) =>
      call(name, request, callOptions);
  return createRpcProxy<SessionClient>(own, (name) => forward(name as keyof ForwardedMethods));
}

function connectTo(worker: WorkerLike): Connection {
  const connected = connectWorker<SessionMethods>(worker, (event) => {
    connection.crashed = true;
    connection.end(crashError(event, CRASHED, AFTER_CRASH));
  });
  const connection: Connection = {
    ...connected,
    crashed: false,
    replaced: false,
    restoring: undefined,
  };
  return connection;
}

function closedError(): LoadError {
  return new LoadError({ code: 'closed', message: 'This session was closed.' });
}

/** The first byte could not be read already. */
function isUnreadable(error: unknown): boolean {
  if (!(error instanceof LoadError)) return false;
  const { code, byte } = error.failure;
  return code === 'folder' || (code === 'unreadable' && byte === 0);
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
