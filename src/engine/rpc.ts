/**
 * Typed calls over a MessagePort: request and response by id, progress, abort, transfer, errors.
 *
 *   page                             worker
 *   call {id 7, 'open', request}  →  handler runs
 *                                 ←  progress {id 7, …}      any number of times
 *   abort {id 7}                  →  call.signal is aborted   at most once
 *                                 ←  done {id 7, value} or failed {id 7, error}
 *
 * An aborted call rejects on the page at once; what the worker still answers to it is ignored.
 */
import { assertUnreachable } from '../core/base/assert.ts';
import { abortError, fromWireError, toWireError, type WireError } from './errors.ts';

interface Method {
  readonly request: unknown;
  readonly progress: unknown;
  readonly result: unknown;
}
/** Name → what goes in, what is reported meanwhile, what comes out. */
export type Methods<M> = { readonly [K in keyof M]: Method };

/** What a handler gets beside its request. */
export interface HandlerCall<P> {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: P) => void;
}

export type Handlers<M extends Methods<M>> = {
  readonly [K in keyof M]: (
    request: M[K]['request'],
    call: HandlerCall<M[K]['progress']>,
  ) => Promise<M[K]['result']> | M[K]['result'];
};

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

type ToWorker =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly method: string;
      readonly request: unknown;
    }
  | { readonly type: 'abort'; readonly id: number };
type ToPage =
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError };

type AnyHandler = (request: unknown, call: HandlerCall<unknown>) => unknown;

/**
 * Answers calls that arrive at `port` until it is closed. The port is where types end: a message is
 * whatever the other side, of the same build, has sent.
 */
export function serve<M extends Methods<M>>(port: MessagePort, handlers: Handlers<M>): void {
  const running = new Map<number, AbortController>();
  const send = (message: ToPage, transfer: Transferable[] = []) =>
    port.postMessage(message, transfer);

  async function run(id: number, method: string, request: unknown): Promise<void> {
    const controller = new AbortController();
    const onProgress = (value: unknown) => send({ type: 'progress', id, value });
    running.set(id, controller);
    try {
      const handler: AnyHandler | undefined = Reflect.get(handlers, method);
      if (typeof handler !== 'function') throw new Error(`No method ${method}`);
      const value = await handler(request, { signal: controller.signal, onProgress });
      send({ type: 'done', id, value }, transferablesOf(value));
    } catch (error) {
      send({ type: 'failed', id, error: toWireError(error) });
    } finally {
      running.delete(id);
    }
  }

  listen<ToWorker>(port, (message) => {
    if (message.type === 'call') void run(message.id, message.method, message.request);
    else running.get(message.id)?.abort(abortError('Cancelled'));
  });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly release: () => void;
}

/** The page's side of {@link serve}. */
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

function listen<T>(port: MessagePort, receive: (message: T) => void): void {
  port.addEventListener('message', (event: MessageEvent<T>) => receive(event.data));
  port.start();
}

/**
 * Big arrays of a result that move to the other side instead of being copied. The handler marks them,
 * `serve` reads the mark; in between, and in tests, the result is an ordinary object.
 *
 *   return transferring({ rows, total }, [rows]);   // rows has length 0 here once it is sent
 */
const marked = new WeakMap<object, readonly ArrayBufferView[]>();

/** Marks `arrays`, parts of `result` that nobody else keeps. */
export function transferring<T extends object>(
  result: T,
  arrays: readonly (ArrayBufferView | undefined)[],
): T {
  marked.set(
    result,
    arrays.filter((array) => array !== undefined),
  );
  return result;
}

/** What was marked; empty for anything else. Shared memory, which we do not make, cannot move. */
export function transferablesOf(result: unknown): Transferable[] {
  if (typeof result !== 'object' || result === null) return [];
  const buffers = (marked.get(result) ?? []).map(({ buffer }) => buffer);
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

/**
 * An API object without a list of its methods: those in `own` are as they are, every other name gives
 * what `methodOf` makes of it. `then` has none: an object with it would be taken for a promise, and
 * awaited forever.
 */
export function createRpcProxy<Api extends object>(
  own: Partial<Api>,
  methodOf: (name: string) => unknown,
): Api {
  const proxy = new Proxy(own, {
    get(target, name) {
      if (name in target || typeof name === 'symbol') return Reflect.get(target, name);
      return name === 'then' ? undefined : methodOf(name);
    },
  });
  // The names that are missing in `own` are those that `methodOf` knows.
  return proxy as Api;
}
