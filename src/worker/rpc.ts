/**
 * Typed calls between threads: requests and responses by id, progress, abort, transfer, errors.
 *
 *   caller                           server
 *   call {id 7, 'open', request}  →  handler runs
 *                                 ←  progress {id 7, …}      any number of times
 *   abort {id 7}                  →  call.signal is aborted   at most once
 *                                 ←  done {id 7, value} or failed {id 7, error}
 *
 * An aborted call rejects at once; later answers to it are ignored. Types end at the thread: messages are trusted to
 * come from the same build.
 */
import { abortError, assertUnreachable, errorText, isAbortError } from '../base/errors.ts';
import { failureOf, LoadError, type LoadFailure } from '../base/load-error.ts';

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

/** One side of a connection: a worker, a thread or a port, and inside a worker its global scope. */
export interface Endpoint {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(
    type: 'message' | 'messageerror' | 'error',
    listener: (event: object) => void,
  ): void;
  /** Only ports need it: they deliver nothing before. */
  start?(): void;
  close?(): void;
  /** Only workers and threads have it. */
  terminate?(): unknown;
}

/** The page, seen from inside a worker. */
export const outside = globalThis as unknown as Endpoint;

type ToServer =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly method: string;
      readonly request: unknown;
    }
  | { readonly type: 'abort'; readonly id: number };
type ToCaller =
  | { readonly type: 'progress' | 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: WireError };

/**
 * An error as plain data, because structured clone keeps neither the class nor our fields: a cancelled call, or what to
 * tell the user. A bug of ours arrives as a LoadError with code 'internal'.
 */
type WireError = { readonly aborted: string } | { readonly failure: LoadFailure };

function toWireError(error: unknown): WireError {
  if (isAbortError(error)) return { aborted: errorText(error) };
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  // "at replayDevice (replay.ts:120:7)"
  const place = lines.find((line) => /:\d+:\d+/.test(line))?.trim() ?? 'unknown';
  const advice = `Please report this text as a bug, with the snapshot if you can share it. Place: ${place}`;
  return { failure: failureOf(error, 'Internal error in vramscope', advice, 'internal') };
}

const fromWireError = (error: WireError): Error =>
  'aborted' in error ? abortError(error.aborted) : new LoadError(error.failure);

/**
 * Answers the other side's calls until it is gone.
 * @param others answers the methods that have no handler
 */
export function serve<M extends Methods<M>>(
  caller: Endpoint,
  handlers: Handlers<M>,
  others?: (method: never, request: never, call: HandlerCall<unknown>) => unknown,
): void {
  const running = new Map<number, AbortController>();
  const send = (message: ToCaller, transfer: Transferable[] = []) =>
    caller.postMessage(message, transfer);

  async function run(id: number, method: string, request: unknown): Promise<void> {
    const controller = new AbortController();
    const onProgress = (value: unknown) => send({ type: 'progress', id, value });
    const call: HandlerCall<unknown> = { signal: controller.signal, onProgress };
    running.set(id, controller);
    try {
      const handle = Reflect.get(handlers, method);
      const value = await (handle
        ? handle(request, call)
        : others?.(method as never, request as never, call));
      send({ type: 'done', id, value }, transferablesOf(value));
    } catch (error) {
      send({ type: 'failed', id, error: toWireError(error) });
    } finally {
      running.delete(id);
    }
  }

  listen<ToServer>(caller, (message) => {
    if (message.type === 'call') void run(message.id, message.method, message.request);
    else running.get(message.id)?.abort(abortError('Cancelled'));
  });
}

/** Serves a caller in this thread: the port is its side. */
export function inThisThread(serveOn: (caller: Endpoint) => void): MessagePort {
  const { port1, port2 } = new MessageChannel();
  serveOn(port2);
  return port1;
}

function listen<T>(from: Endpoint, receive: (message: T) => void): void {
  from.addEventListener('message', (event) => receive((event as MessageEvent<T>).data));
  from.start?.();
}

/**
 * Arrays and ports of a request or result that are moved instead of copied. Its maker names them; until it is sent,
 * and in tests, it is an ordinary object.
 *
 *   return transferring({ rows, total });   // rows has length 0 here once it is sent
 */
const moving = new WeakMap<object, readonly Transferable[]>();

/** Marks all typed arrays and ports in `part` of a message to be moved. They must be plain data that nobody else keeps. */
export function transferring<T extends object>(message: T, part: object = message): T {
  moving.set(message, movableIn(part));
  return message;
}

function movableIn(value: unknown): Transferable[] {
  if (value instanceof MessagePort) return [value];
  // Shared memory cannot move.
  if (ArrayBuffer.isView(value)) return value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
  if (typeof value !== 'object' || value === null) return [];
  const parts = value instanceof Map ? value.values() : Object.values(value);
  return [...parts].flatMap(movableIn);
}

export const transferablesOf = (message: unknown): Transferable[] => [
  ...new Set(moving.get(message as object)),
];

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
}

/** Rejects only with LoadError or an AbortError. */
export type Call<M extends Methods<M>> = <K extends keyof M>(
  method: K,
  request: M[K]['request'],
  options?: CallOptions<M[K]['progress']>,
) => Promise<M[K]['result']>;

/** The same calls, with one function per method. */
export type Calls<M extends Methods<M>> = {
  readonly [K in keyof M]: (
    request: M[K]['request'],
    options?: CallOptions<M[K]['progress']>,
  ) => Promise<M[K]['result']>;
};

/** The other side of {@link serve}. */
export interface Remote<M extends Methods<M>> {
  readonly call: Call<M>;
  /** Ends the worker or port, and rejects pending and later calls with `error`. The first end counts. */
  end(error: Error): void;
  readonly isOver: boolean;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  readonly release: () => void;
}

/** @param crashed what to tell the user if a worker dies: a sentence without its full stop, and advice */
export function connect<M extends Methods<M>>(
  server: Endpoint,
  crashed: readonly [message: string, advice: string] = ['It has stopped', ''],
): Remote<M> {
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

  function end(error: Error): void {
    if (failure !== undefined) return;
    failure = error;
    if (server.terminate) server.terminate();
    else server.close?.();
    for (const id of [...pending.keys()]) take(id)?.reject(error);
  }

  const onCrash = (event: object) => end(crashError(event, ...crashed));
  server.addEventListener('error', onCrash);
  server.addEventListener('messageerror', onCrash);
  listen<ToCaller>(server, (message) => {
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

  const call: Call<M> = (method, request, { signal, onProgress } = {}) =>
    new Promise((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      if (signal?.aborted) return reject(abortError('Cancelled'));
      const id = nextId++;
      const send = (message: ToServer, transfer: Transferable[] = []) =>
        server.postMessage(message, transfer);
      const abort = () => {
        take(id)?.reject(abortError('Cancelled'));
        send({ type: 'abort', id });
      };
      signal?.addEventListener('abort', abort, { once: true });
      const release = () => signal?.removeEventListener('abort', abort);
      pending.set(id, { resolve, reject, onProgress, release } as Pending);
      send({ type: 'call', id, method: String(method), request }, transferablesOf(request));
    });

  return {
    call,
    end,
    get isOver() {
      return failure !== undefined;
    },
  };
}

function crashError(event: object, message: string, advice: string): LoadError {
  // An ErrorEvent has a message; the event for a worker that the browser killed may not.
  const reason = 'message' in event ? event.message : undefined;
  const text = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  return new LoadError({ code: 'worker-crashed', message: `${message}${text}.`, advice });
}
