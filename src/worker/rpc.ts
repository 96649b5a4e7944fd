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
import { abortError } from '../base/errors.ts';
import { toWireError, type WireError } from './errors.ts';

/** What goes in, what comes out, and what is reported meanwhile. */
export interface Method<Request, Result, Progress = never> {
  readonly request: Request;
  readonly progress: Progress;
  readonly result: Result;
}

/** Any set of methods, by their names. */
export type Methods<M> = { readonly [K in keyof M]: Method<unknown, unknown, unknown> };

/** What a handler gets beside its request. */
export interface HandlerCall<P> {
  /** Aborted when the page no longer wants the result. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: P) => void;
}

export type Handlers<M extends Methods<M>> = {
  readonly [K in keyof M]: (
    request: M[K]['request'],
    call: HandlerCall<M[K]['progress']>,
  ) => Promise<M[K]['result']> | M[K]['result'];
};

export type ToWorker =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly method: string;
      readonly request: unknown;
    }
  | { readonly type: 'abort'; readonly id: number };
export type ToPage =
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

export function listen<T>(port: MessagePort, receive: (message: T) => void): void {
  port.addEventListener('message', (event: MessageEvent<T>) => receive(event.data));
  port.start();
}

/**
 * Big arrays of a result that move to the other side instead of being copied. The handler marks them,
 * `serve` reads the mark; in between, and in tests, the result is an ordinary object.
 *
 *   return transferring({ rows, total });   // rows has length 0 here once it is sent
 */
const marked = new WeakMap<object, readonly ArrayBufferView[]>();

/** Marks all typed arrays in `part` of a result, plain data that nobody else keeps. */
export function transferring<T extends object>(result: T, part: object = result): T {
  marked.set(result, arraysIn(part));
  return result;
}

function arraysIn(value: unknown): ArrayBufferView[] {
  if (ArrayBuffer.isView(value)) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const parts = value instanceof Map ? value.values() : Object.values(value);
  return [...parts].flatMap(arraysIn);
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
