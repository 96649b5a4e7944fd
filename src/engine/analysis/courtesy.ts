/**
 * The user's movements go first: while they zoom or pan, the analysis waits at its pauses, for on two
 * cores it would take one from the frames. It does not wait for ever: no longer than it has worked,
 * and a second.
 *
 * Example: a user zooms for ten seconds while detectors work that take 0.9 s. They wait for 1 s + what they
 * have worked, and have ended after less than 3 s.
 */
import type { PaceClock } from '../pace.ts';

/** From one movement to the next of a slow hand. */
const QUIET_MS = 120;
const PATIENCE_MS = 1000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Courtesy {
  readonly #clock: PaceClock;
  #movedMs = -Infinity;

  constructor(clock: PaceClock) {
    this.#clock = clock;
  }

  noteMovement(): void {
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
        if (restMs <= 0 || waitedMs >= PATIENCE_MS + workedMs) return;
        await sleep(restMs);
        waitedMs += clock.now() - nowMs;
      }
    };
  }
}
