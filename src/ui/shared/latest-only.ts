/**
 * Asks one question at a time: the newest replaces one that waits. A key that is held down shows
 * each state that the worker can keep up with, and ends at the one that was asked for last.
 */
export interface LatestOnlyOptions<Q, A> {
  readonly ask: (question: Q) => Promise<A>;
  readonly onAnswer: (question: Q, answer: A) => void;
  readonly onError: (question: Q, error: unknown) => void;
}

export class LatestOnly<Q, A> {
  readonly #options: LatestOnlyOptions<Q, A>;
  #waiting: { readonly question: Q } | undefined;
  #isAsking = false;
  #isStopped = false;

  constructor(options: LatestOnlyOptions<Q, A>) {
    this.#options = options;
  }

  want(question: Q): void {
    this.#waiting = { question };
    if (!this.#isAsking) void this.#run();
  }

  /** Nothing is asked or told any more. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = undefined;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      await this.#ask(next.question);
    }
    this.#isAsking = false;
  }

  async #ask(question: Q): Promise<void> {
    const { ask, onAnswer, onError } = this.#options;
    try {
      const answer = await ask(question);
      if (!this.#isStopped) onAnswer(question, answer);
    } catch (error) {
      if (!this.#isStopped) onError(question, error);
    }
  }

  #take(): { readonly question: Q } | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }
}
