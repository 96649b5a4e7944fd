/**
 * Runs one request at a time. The newest request replaces any that waits.
 *
 *   run(A)  A begins                 run(B)  B waits for A
 *   run(C)  B rejects, C waits       A ends, C begins
 *
 * So holding a key down shows every state that the other side can keep up with, and ends at the last one.
 */
import { abortError } from './errors.ts';

export interface LatestOnlyOptions {
  /** Whether the request just added aborts the running one. By default the running one finishes. */
  readonly isOutrun?: () => boolean;
  /** Awaited before the newest waiting request begins, so that requests on their way can arrive. */
  readonly settle?: () => Promise<void>;
}

interface Waiting {
  readonly controller: AbortController;
  readonly begin: () => Promise<void>;
}

export class LatestOnly {
  readonly #options: LatestOnlyOptions;
  #waiting: Waiting | undefined;
  #running: AbortController | undefined;
  #isLooping = false;

  constructor(options: LatestOnlyOptions = {}) {
    this.#options = options;
  }

  /**
   * Rejects with an AbortError as soon as a newer request replaces it, or `signal` or {@link cancel} ends it.
   * @param work starts when its turn comes; its signal aborts when the result is no longer wanted
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const controller = new AbortController();
      const abort = () => controller.abort(abortError('Cancelled'));
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
      signal?.addEventListener('abort', abort);
      if (signal?.aborted) return abort();
      const begin = async () => {
        try {
          if (!controller.signal.aborted) resolve(await work(controller.signal));
        } catch (error) {
          reject(error);
        } finally {
          signal?.removeEventListener('abort', abort);
        }
      };
      this.#waiting?.controller.abort(superseded());
      this.#waiting = { controller, begin };
      if (this.#options.isOutrun?.()) this.#running?.abort(superseded());
      if (!this.#isLooping) void this.#loop();
    });
  }

  cancel(): void {
    for (const controller of [this.#waiting?.controller, this.#running]) {
      controller?.abort(abortError('Cancelled'));
    }
    this.#waiting = undefined;
  }

  async #loop(): Promise<void> {
    this.#isLooping = true;
    while (this.#waiting !== undefined) {
      if (this.#options.settle !== undefined) await this.#options.settle();
      const { controller, begin }: Waiting = this.#waiting;
      this.#waiting = undefined;
      this.#running = controller;
      await begin();
      this.#running = undefined;
    }
    this.#isLooping = false;
  }
}

const superseded = () => abortError('A newer request came');
