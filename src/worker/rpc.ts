/**
 * Typed calls over a MessagePort: requests and responses by id, progress, abort, transfer, errors.
 *
 *   caller                           server
 *   call {id 7, 'open', request}  →  handler runs
 *                                 ←  progress {id 7, …}      any number of times
 *   abort {id 7}                  →  call.signal is aborted   at most once
 *                                 ←  done {id 7, value} or failed {id 7, error}
 *
 * An aborted call rejects at once; later answers to it are ignored.
 */
import { abortError, assertUnreachable } from '../base/errors.ts';
import { fromWireError, toWireError, type WireError } from './errors.ts';

export interface Method<Request, Result, Progress = never> {
  readonly request: Request;
  readonly progress: Progress;
  readonly result: Result;
}

export type Methods<M> = { readonly [K in keyof M]: Method<unknown, unknown, unknown> };

/** What a handler gets besides its request. */
export interface HandlerCall<P> {
  /** Aborted when the caller no longer wants the result. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: P) => void;
}

export type Handlers<M extends Methods<M>> = {
  readonly [K in keyof M]: (
    request: M[K]['request'],
    call: HandlerCall<M[K]['progress']>,
  ) => Promise<M[K]['result']> | M[K]['result'];
};

type ToServer =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly method: string;
      readonly request: unknown;
    }
  | { readonly type: 'abort'; readonly id: number };
type ToCaller =
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError };

/**
 * Answers calls that arrive at `port` until it is closed. Types end at the port: messages are trusted to come from
 * the same build.
 * @param others answers the methods that have no handler
 */
export function serve<M extends Methods<M>>(
  port: MessagePort,
  handlers: Handlers<M>,
  others?: (method: string, request: unknown, call: HandlerCall<unknown>) => unknown,
): void {
  const running = new Map<number, AbortController>();
  const send = (message: ToCaller, transfer: Transferable[] = []) =>
    port.postMessage(message, transfer);

  async function run(id: number, method: string, request: unknown): Promise<void> {
    const controller = new AbortController();
    const onProgress = (value: unknown) => send({ type: 'progress', id, value });
    const call: HandlerCall<unknown> = { signal: controller.signal, onProgress };
    running.set(id, controller);
    try {
      const handle = Reflect.get(handlers, method);
      const value = await (handle ? handle(request, call) : others?.(method, request, call));
      send({ type: 'done', id, value }, transferablesOf(value));
    } catch (error) {
      send({ type: 'failed', id, error: toWireError(error) });
    } finally {
      running.delete(id);
    }
  }

  listen<ToServer>(port, (message) => {
    if (message.type === 'call') void run(message.id, message.method, message.request);
    else running.get(message.id)?.abort(abortError('Cancelled'));
  });
}

function listen<T>(port: MessagePort, receive: (message: T) => void): void {
  port.addEventListener('message', (event: MessageEvent<T>) => receive(event.data));
  port.start();
}

/**
 * Big arrays of a result that are moved instead of copied. The handler names them and `serve` moves them; until then,
 * and in tests, the result is an ordinary object.
 *
 *   return transferring({ rows, total });   // rows has length 0 here once it is sent
 */
const moving = new WeakMap<object, readonly ArrayBufferView[]>();

/** Marks all typed arrays in `part` of a result to be moved. They must be plain data that nobody else keeps. */
export function transferring<T extends object>(result: T, part: object = result): T {
  moving.set(result, arraysIn(part));
  return result;
}

function arraysIn(value: unknown): ArrayBufferView[] {
  if (ArrayBuffer.isView(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const parts = value instanceof Map ? value.values() : Object.values(value);
  return [...parts].flatMap(arraysIn);
}

/** The buffers marked for moving, if any. Excludes shared memory, which cannot move. */
export function transferablesOf(result: unknown): Transferable[] {
  if (typeof result !== 'object' || result === null) return [];
  const buffers = (moving.get(result) ?? []).map(({ buffer }) => buffer);
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
  /** Buffers and ports of the request to move to the other side. */
  readonly transfer?: readonly Transferable[];
}

/** Rejects only with LoadError or an AbortError. */
export type Call<M extends Methods<M>> = <K extends keyof M>(
  method: K,
  request: M[K]['request'],
  options?: CallOptions<M[K]['progress']>,
) => Promise<M[K]['result']>;

export interface Remote<M extends Methods<M>> {
  readonly call: Call<M>;
  /** The other side is gone: rejects all pending and later calls. */
  fail(error: Error): void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly release: () => void;
}

/** The other side of {@link serve}. */
export function connect<M extends Methods<M>>(port: MessagePort): Remote<M> {
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let failure: Error | undefined;

  /** Removes a call from the list, so that it settles once; undefined if it already has. */
  function take(id: number): Pending | undefined {
    const call = pending.get(id);
    pending.delete(id);
    call?.release();
    return call;
  }

  listen<ToCaller>(port, (message) => {
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
    { signal, onProgress, transfer = [] }: CallOptions<never>,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      if (signal?.aborted) return reject(abortError('Cancelled'));
      const id = nextId++;
      const abort = () => {
        take(id)?.reject(abortError('Cancelled'));
        port.postMessage({ type: 'abort', id } satisfies ToServer);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const release = () => signal?.removeEventListener('abort', abort);
      const report = onProgress as Pending['onProgress'];
      pending.set(id, { resolve, reject, onProgress: report, release });
      port.postMessage({ type: 'call', id, method, request } satisfies ToServer, [...transfer]);
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
