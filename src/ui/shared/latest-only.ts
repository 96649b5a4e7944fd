/**
 * Sends one request at a time; the newest replaces one that waits. A key that is held down shows
 * every state that the worker can keep up with, and ends at the last one requested.
 */
export interface LatestOnlyOptions<Request, Result> {
  /** @param signal aborted when the result is no longer wanted */
  readonly ask: (request: Request, signal: AbortSignal) => Promise<Result>;
  readonly onResult: (request: Request, result: Result) => void;
  readonly onError: (request: Request, error: unknown) => void;
  /** A newer request cancels the running one: for requests that take long. */
  readonly cancelsStale?: boolean;
}

export class LatestOnly<Request, Result> {
  readonly #options: LatestOnlyOptions<Request, Result>;
  #waiting: { readonly request: Request } | undefined;
  /** Of the request that is running. */
  #running: AbortController | undefined;
  #isStopped = false;

  constructor(options: LatestOnlyOptions<Request, Result>) {
    this.#options = options;
  }

  want(request: Request): void {
    this.#waiting = { request };
    if (this.#running === undefined) void this.#run();
    else if (this.#options.cancelsStale === true) this.#running.abort();
  }

  /** Cancels what is under way and what waits: neither is reported. */
  cancel(): void {
    this.#waiting = undefined;
    this.#running?.abort();
  }

  /** Cancels, and asks and reports nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.cancel();
  }

  async #run(): Promise<void> {
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      this.#running = new AbortController();
      await this.#ask(next.request, this.#running.signal);
    }
    this.#running = undefined;
  }

  async #ask(request: Request, signal: AbortSignal): Promise<void> {
    const { ask, onResult, onError } = this.#options;
    try {
      const result = await ask(request, signal);
      if (!signal.aborted && !this.#isStopped) onResult(request, result);
    } catch (error) {
      if (!signal.aborted && !this.#isStopped) onError(request, error);
    }
  }

  #take(): { readonly request: Request } | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }
}
