/**
 * Asks one question at a time; the newest replaces one that waits. A key that is held down shows
 * each state that the worker can keep up with, and ends at the one that was asked for last.
 */
export interface LatestOnlyOptions<Q, A> {
  /** @param signal aborted once nobody wants the answer any more */
  readonly ask: (question: Q, signal: AbortSignal) => Promise<A>;
  readonly onAnswer: (question: Q, answer: A) => void;
  readonly onError: (question: Q, error: unknown) => void;
  /** A newer question cancels the one that is being answered: for answers that are long in coming. */
  readonly cancelsStale?: boolean;
}

export class LatestOnly<Q, A> {
  readonly #options: LatestOnlyOptions<Q, A>;
  #waiting: { readonly question: Q } | undefined;
  /** Of the question that is being answered. */
  #running: AbortController | undefined;
  #isStopped = false;

  constructor(options: LatestOnlyOptions<Q, A>) {
    this.#options = options;
  }

  want(question: Q): void {
    this.#waiting = { question };
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
      await this.#ask(next.question, this.#running.signal);
    }
    this.#running = undefined;
  }

  async #ask(question: Q, signal: AbortSignal): Promise<void> {
    const { ask, onAnswer, onError } = this.#options;
    try {
      const answer = await ask(question, signal);
      if (!signal.aborted && !this.#isStopped) onAnswer(question, answer);
    } catch (error) {
      if (!signal.aborted && !this.#isStopped) onError(question, error);
    }
  }

  #take(): { readonly question: Q } | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }
}
