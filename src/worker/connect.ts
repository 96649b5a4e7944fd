/** The side of rpc.ts that calls: the page's, and the session worker's where it has a worker of its own. */
import { assertUnreachable } from '../base/assert.ts';
import { abortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import type { WireError } from './errors.ts';
import { listen, type Methods, type ToPage, type ToWorker } from './rpc.ts';

export interface RemoteCallOptions<P> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
  /** Buffers of the request that move to the other side. */
  readonly transfer?: readonly Transferable[];
  /** The other side has answered, also where the call was aborted and nobody waits for it any more. */
  readonly onAnswered?: (() => void) | undefined;
}

export interface Remote<M extends Methods<M>> {
  /** Rejects with LoadError or an AbortError, never with anything else. */
  call<K extends keyof M>(
    method: K,
    request: M[K]['request'],
    options?: RemoteCallOptions<M[K]['progress']>,
  ): Promise<M[K]['result']>;
  /** The other side is gone: rejects all that is pending, and every later call. */
  fail(error: Error): void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly release: () => void;
}

/** The other side of `serve`. */
export function connect<M extends Methods<M>>(port: MessagePort): Remote<M> {
  const pending = new Map<number, Pending>();
  const unanswered = new Map<number, () => void>();
  let nextId = 0;
  let failure: Error | undefined;

  /** Takes a call off the list, so that it settles once; undefined if it has settled already. */
  function take(id: number): Pending | undefined {
    const call = pending.get(id);
    pending.delete(id);
    call?.release();
    return call;
  }

  listen<ToPage>(port, (message) => {
    if (message.type !== 'progress') {
      unanswered.get(message.id)?.();
      unanswered.delete(message.id);
    }
    switch (message.type) {
      case 'progress':
        return pending.get(message.id)?.onProgress?.(message.value);
      case 'done':
        return take(message.id)?.resolve(message.value);
      case 'failed':
        return take(message.id)?.reject(fromWireError(message.error));
      default:
        return assertUnreachable(message);
    }
  });

  function start(
    method: string,
    request: unknown,
    options: RemoteCallOptions<never>,
  ): Promise<unknown> {
    const { signal, onProgress, transfer = [], onAnswered } = options;
    return new Promise((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      if (signal?.aborted) return reject(abortError('Cancelled'));
      const id = nextId++;
      if (onAnswered !== undefined) unanswered.set(id, onAnswered);
      const abort = () => {
        take(id)?.reject(abortError('Cancelled'));
        port.postMessage({ type: 'abort', id } satisfies ToWorker);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const release = () => signal?.removeEventListener('abort', abort);
      pending.set(id, {
        resolve,
        reject,
        onProgress: onProgress as Pending['onProgress'],
        release,
      });
      port.postMessage({ type: 'call', id, method, request } satisfies ToWorker, [...transfer]);
    });
  }

  return {
    call: (method, request, options = {}) =>
      start(String(method), request, options) as Promise<M[typeof method]['result']>,
    fail(error) {
      failure = error;
      for (const id of [...pending.keys()]) take(id)?.reject(error);
    },
  };
}

export type WorkerLike = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

export interface WorkerConnection<M extends Methods<M>> {
  readonly remote: Remote<M>;
  /** Ends the worker; what is pending, and every later call, rejects with `error`. */
  end(error: Error): void;
}

/**
 * Talks with a worker that has just been started: its first message is `hello`, with a port to answer on and then
 * `ports`. `onCrash` is called when the worker dies, and has to end the connection.
 */
export function connectWorker<M extends Methods<M>>(
  worker: WorkerLike,
  onCrash: (event: Event) => void,
  hello = 'connect',
  ports: readonly MessagePort[] = [],
): WorkerConnection<M> {
  const { port1, port2 } = new MessageChannel();
  const remote = connect<M>(port1);
  worker.addEventListener('error', onCrash);
  worker.addEventListener('messageerror', onCrash);
  worker.postMessage(hello, [port2, ...ports]);
  return {
    remote,
    end(error) {
      worker.terminate();
      remote.fail(error);
      port1.close();
    },
  };
}

function fromWireError(error: WireError): Error {
  switch (error.kind) {
    case 'load':
      return new LoadError(error.failure);
    case 'aborted':
      return abortError(error.message);
    default:
      return assertUnreachable(error);
  }
}
