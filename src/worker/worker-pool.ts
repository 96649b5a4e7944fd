/**
 * Workers that each do one call at a time. A call waits for a free worker. A worker that died, or was ended with its
 * call, is replaced for the next one.
 */
import { abortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { startTimer } from '../base/task.ts';
import type { Methods, Remote } from './rpc.ts';

export interface CallLimits {
  /** Counted from the moment a worker begins. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class WorkerPool<M extends Methods<M>> {
  readonly #start: () => Remote<M>;
  readonly #size: number;
  readonly #free: Remote<M>[] = [];
  readonly #busy = new Set<Remote<M>>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(start: () => Remote<M>, size: number) {
    this.#start = start;
    this.#size = Math.max(1, size);
  }

  /**
   * A limit ends the worker, since nothing else can stop a computation.
   * @throws LoadError, also 'worker-crashed' and 'took-too-long', or an AbortError
   */
  async call<K extends keyof M>(
    method: K,
    request: M[K]['request'],
    { timeoutMs, signal }: CallLimits = {},
  ): Promise<M[K]['result']> {
    const worker = await this.#take();
    const cancel = () => worker.end(abortError('Cancelled'));
    signal?.addEventListener('abort', cancel);
    const stopTimer =
      timeoutMs === undefined
        ? undefined
        : startTimer(timeoutMs, () => worker.end(late(timeoutMs)));
    try {
      return await worker.call(method, request, signal && { signal });
    } finally {
      stopTimer?.();
      signal?.removeEventListener('abort', cancel);
      this.#busy.delete(worker);
      if (!worker.isOver) this.#free.push(worker);
      this.#waiting.shift()?.();
    }
  }

  /** Ends the workers and rejects all calls. */
  close(): void {
    this.#isClosed = true;
    for (const worker of [...this.#free, ...this.#busy]) worker.end(abortError('Closed'));
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #take(): Promise<Remote<M>> {
    while (!this.#isClosed && this.#busy.size >= this.#size) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#isClosed) throw abortError('Closed');
    const worker = this.#free.pop() ?? this.#start();
    this.#busy.add(worker);
    return worker;
  }
}

function late(ms: number): LoadError {
  const message = `This took more than ${ms / 1000} s, and was ended.`;
  return new LoadError({ code: 'took-too-long', message, advice: 'Ask for less at a time.' });
}
