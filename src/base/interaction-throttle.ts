import { type Clock, sleep } from './task.ts';

/** Pause between two movements of a slow hand. */
const QUIET_MS = 120;
/** `firstMs`: work that never waits; `timeoutMs`: the longest wait in all, besides half of the working time. */
const SHORT_WORK = { firstMs: 250, timeoutMs: 500 };
/** Work of seconds on two cores would slow down each frame until it ends, and nobody reads findings while zooming. */
const LONG_WORK = { firstMs: 0, timeoutMs: 10_000 };
/** Work on a trace of so many events is long. */
const LONG_EVENTS = 1_000_000;

/**
 * Interaction goes first: while the user zooms or pans, long work in another thread waits at its pauses, because on two
 * cores it would slow down frames. Short work does not wait in its first quarter second: it holds up few frames, and
 * waiting would make it four times as long. Later it waits at most half a second plus half of its working time since.
 *
 * Example: a user zooms for ten seconds while detectors need 0.9 s. They work for 0.25 s, then wait for
 * 0.5 s + 0.33 s in all, and end in less than 2 s. Detectors on a small file take 0.15 s. Work on a long trace waits
 * from the start, for up to 10 s and half of its working time.
 */
export class InteractionThrottle {
  readonly #clock: Clock;
  #interactedMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  noteInteraction(): undefined {
    this.#interactedMs = this.#clock.now();
  }

  /**
   * Returns a function that one piece of work awaits regularly. It lets messages in, and waits while the user
   * interacts.
   *
   * @param events of the trace that the work is on
   */
  createPause(events = 0): () => Promise<void> {
    const clock = this.#clock;
    const { firstMs, timeoutMs } = events < LONG_EVENTS ? SHORT_WORK : LONG_WORK;
    const startedMs = clock.now();
    let waitedMs = 0;
    return async () => {
      await clock.yieldTask();
      while (true) {
        const nowMs = clock.now();
        const restMs = this.#interactedMs + QUIET_MS - nowMs;
        const workedMs = nowMs - startedMs - waitedMs - firstMs;
        if (restMs <= 0 || workedMs < 0 || waitedMs >= timeoutMs + workedMs / 2) return;
        await sleep(restMs);
        waitedMs += clock.now() - nowMs;
      }
    };
  }
}
