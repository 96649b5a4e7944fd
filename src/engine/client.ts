/**
 * The page's handle on the session worker. Every method rejects with LoadError or an AbortError.
 * Starts the worker at once (it loads while the user looks for a file), and a new one for the next
 * `open` after a crash.
 *
 * A worker that does not stop when an opening is cancelled, because a hostile file keeps it busy, is
 * ended and replaced. The snapshot that was open before is read once more when it is asked about.
 */
import { LoadError } from '../core/base/load-error.ts';
import { crashError } from './errors.ts';
import { createIdleCounter, createMarks, type IdleCounter, type Marks } from './instrumentation.ts';
import type {
  OpenOptions,
  OpenProgress,
  OpenSource,
  SessionApi,
  SessionMethods,
} from './protocol.ts';
import type { CallOptions } from './queries.ts';
import { connect, createRpcProxy, type Remote, type RemoteCallOptions } from './rpc.ts';
import { newSessionWorker } from './workers.ts';

const CRASHED = 'The part of vramscope that holds the snapshot has stopped';
const AFTER_CRASH =
  'Open the file again. If this happens again, your browser may be short of memory.';

/** How long a worker may take to stop an opening that was cancelled. It looks about every 50 ms. */
const STOP_TIMEOUT_MS = 1000;

export interface SessionClient extends SessionApi {
  /** Ends the worker; what is pending rejects. */
  close(): void;
}

export interface SessionClientOptions {
  readonly idle?: IdleCounter;
  readonly marks?: Marks;
  /** Relative URLs are relative to the page, not to the worker's script. */
  readonly baseUrl?: string;
  readonly createWorker?: () => SessionWorker;
}

/** What the client implements; every other method is forwarded to the worker. */
type ClientMethods = Pick<SessionClient, 'open' | 'recycle' | 'attachAnalysis' | 'close'>;
type ForwardedMethods = Omit<SessionMethods, 'open' | 'recycle' | 'attachAnalysis'>;

type SessionWorker = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

interface Connection {
  readonly worker: SessionWorker;
  readonly remote: Remote<SessionMethods>;
  /** Set when the worker died. */
  crashed: boolean;
  /** Set when the worker was ended because it did not stop: what it was asked is asked of the next. */
  replaced: boolean;
  /** The snapshot that was open before, while it is read once more. */
  restoring?: Promise<unknown>;
}

interface OpenRequest {
  readonly source: OpenSource;
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

  /** What is open, which a worker that takes the place of another does not have. */
  let opened: { readonly request: OpenRequest; in: Connection } | undefined;

  function call<K extends keyof SessionMethods>(
    method: K,
    request: SessionMethods[K]['request'],
    callOptions?: RemoteCallOptions<SessionMethods[K]['progress']>,
  ): Promise<SessionMethods[K]['result']> {
    return idle.during(async () => {
      for (;;) {
        const asked = connection;
        if (method !== 'open' && opened !== undefined && opened.in !== asked && !asked.crashed) {
          await restore(asked, opened.request);
        }
        try {
          return await asked.remote.call(method, request, callOptions);
        } catch (error) {
          const isStale = asked.replaced && connection !== asked;
          if (!isStale || callOptions?.signal?.aborted) throw error;
        }
      }
    });
  }

  async function restore(connected: Connection, request: OpenRequest): Promise<void> {
    connected.restoring ??= connected.remote.call('open', request);
    await connected.restoring;
    if (opened?.request === request) opened.in = connected;
  }

  /** Ends the worker that reads a file nobody waits for, unless it stops soon. */
  function endUnlessStopped(signal: AbortSignal | undefined): () => void {
    const busy = connection;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      if (busy !== connection || busy.crashed) return;
      busy.replaced = true;
      connection = connectTo(createWorker());
      busy.worker.terminate();
      busy.remote.fail(closedError());
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
    source: OpenSource,
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
    const info = await call('open', request, { signal, onProgress, onAnswered });
    opened = { request, in: connection };
    marks.reach('decoded');
    return info;
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
    attachAnalysis: (request) =>
      connection.remote.call('attachAnalysis', request, { transfer: [request.port] }),
    close() {
      connection.worker.terminate();
      connection.remote.fail(closedError());
    },
  };
  const forward =
    (name: keyof ForwardedMethods) => (request: never, callOptions?: CallOptions<unknown>) =>
      call(name, request, callOptions);
  return createRpcProxy<SessionClient>(own, (name) => forward(name as keyof ForwardedMethods));
}

/** Hands the worker a port of its own; `error` and `messageerror` of the worker end the connection. */
function connectTo(worker: SessionWorker): Connection {
  const { port1, port2 } = new MessageChannel();
  const connection: Connection = {
    worker,
    remote: connect<SessionMethods>(port1),
    crashed: false,
    replaced: false,
  };
  const crash = (event: Event) => {
    connection.crashed = true;
    worker.terminate();
    connection.remote.fail(crashError(event, CRASHED, AFTER_CRASH));
  };
  worker.addEventListener('error', crash);
  worker.addEventListener('messageerror', crash);
  worker.postMessage('connect', [port2]);
  return connection;
}

function closedError(): LoadError {
  return new LoadError({ code: 'closed', message: 'This session was closed.' });
}

function absolute(source: OpenSource, baseUrl: string | undefined): OpenSource {
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
