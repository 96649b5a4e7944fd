/**
 * The page's handle on the session worker. Every method rejects with LoadError or an AbortError.
 * Makes the worker at once (it loads while the user looks for a file), and a new one for the next
 * `open` after a crash.
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
  'Open the file again. If it stops again, the snapshot may need more memory than there is.';

export interface SessionClient extends SessionApi {
  /** Ends the worker; what is pending rejects. */
  close(): void;
}

export interface SessionClientOptions {
  readonly idle?: IdleCounter;
  readonly marks?: Marks;
  /** Relative URLs are meant from the page, not from the worker's script. */
  readonly baseUrl?: string;
  readonly createWorker?: () => SessionWorker;
}

/** What the client does itself; every other method of the session is passed on. */
type OwnMethods = Pick<SessionClient, 'open' | 'recycle' | 'attachAnalysis' | 'close'>;
type Asked = Omit<SessionMethods, 'open' | 'recycle' | 'attachAnalysis'>;

type SessionWorker = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

interface Connection {
  readonly worker: SessionWorker;
  readonly remote: Remote<SessionMethods>;
  /** Set when the worker died. */
  crashed: boolean;
}

export function createSessionClient(options: SessionClientOptions = {}): SessionClient {
  const {
    idle = createIdleCounter(),
    marks = createMarks(),
    createWorker = newSessionWorker,
  } = options;
  const baseUrl = options.baseUrl ?? globalThis.document?.baseURI;
  let connection = connectTo(createWorker());

  function call<K extends keyof SessionMethods>(
    method: K,
    request: SessionMethods[K]['request'],
    callOptions?: RemoteCallOptions<SessionMethods[K]['progress']>,
  ): Promise<SessionMethods[K]['result']> {
    return idle.during(() => connection.remote.call(method, request, callOptions));
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
    const request = { source: absolute(source, baseUrl), options: openOptions };
    const info = await call('open', request, { signal: callOptions.signal, onProgress });
    marks.reach('decoded');
    return info;
  }

  const own: OwnMethods = {
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
  const ask = (name: keyof Asked) => (request: never, callOptions?: CallOptions<unknown>) =>
    call(name, request, callOptions);
  return createRpcProxy<SessionClient>(own, (name) => ask(name as keyof Asked));
}

/** Hands the worker a port of its own; `error` and `messageerror` of the worker end the connection. */
function connectTo(worker: SessionWorker): Connection {
  const { port1, port2 } = new MessageChannel();
  const connection = { worker, remote: connect<SessionMethods>(port1), crashed: false };
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
      advice: 'Give the whole address, for example https://example.com/snapshot.pickle.',
    });
  }
}
