import { type Clock, sleep } from './task.ts';

/** Pause between two movements of a slow hand. */
const QUIET_MS = 120;
const TIMEOUT_MS = 500;
/** Work that never waits. */
const FIRST_MS = 250;

/**
 * Interaction goes first: while the user zooms or pans, long work in another thread waits at its pauses, because on two
 * cores it would slow down frames. It does not wait in its first quarter second: short work holds up few frames, and
 * waiting would make it four times as long. Later it waits at most half a second plus half of its working time since.
 *
 * Example: a user zooms for ten seconds while detectors need 0.9 s. They work for 0.25 s, then wait for
 * 0.5 s + 0.33 s in all, and end in less than 2 s. Detectors on a small file take 0.15 s.
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
   */
  createPause(): () => Promise<void> {
    const clock = this.#clock;
    const startedMs = clock.now();
    let waitedMs = 0;
    return async () => {
      await clock.yieldTask();
      while (true) {
        const nowMs = clock.now();
        const restMs = this.#interactedMs + QUIET_MS - nowMs;
        const workedMs = nowMs - startedMs - waitedMs - FIRST_MS;
        if (restMs <= 0 || workedMs < 0 || waitedMs >= TIMEOUT_MS + workedMs / 2) return;
        await sleep(restMs);
        waitedMs += clock.now() - nowMs;
      }
    };
  }
}
