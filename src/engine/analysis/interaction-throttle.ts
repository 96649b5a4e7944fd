/**
 * The user's movements go first: while they zoom or pan, the analysis waits at its pauses, for on two
 * cores it would take one from the frames. It does not wait for ever: no longer than half of what
 * it has worked, and half a second.
 *
 * Example: a user zooms for ten seconds while detectors work that take 0.9 s. They wait for
 * 0.5 s + 0.45 s, and have ended after less than 2 s.
 */
import type { CooperativeClock } from '../cooperative-reader.ts';

/** From one movement to the next of a slow hand. */
const QUIET_MS = 120;
const TIMEOUT_MS = 500;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class InteractionThrottle {
  readonly #clock: CooperativeClock;
  #movedMs = -Infinity;

  constructor(clock: CooperativeClock) {
    this.#clock = clock;
  }

  noteInteraction(): void {
    this.#movedMs = this.#clock.now();
  }

  /** A pause for one piece of work: lets messages in, and waits while the user moves. */
  pauses(): () => Promise<void> {
    const clock = this.#clock;
    const startedMs = clock.now();
    let waitedMs = 0;
    return async () => {
      await clock.yieldTask();
      while (true) {
        const nowMs = clock.now();
        const restMs = this.#movedMs + QUIET_MS - nowMs;
        const workedMs = nowMs - startedMs - waitedMs;
        if (restMs <= 0 || waitedMs >= TIMEOUT_MS + workedMs / 2) return;
        await sleep(restMs);
        waitedMs += clock.now() - nowMs;
      }
    };
  }
}
