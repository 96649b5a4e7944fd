/**
 * Asks the worker what is under the pointer, one question at a time: the newest replaces one that
 * waits, so that a fast pointer never builds a queue.
 */
import type { Crosshair } from '../../core/device/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { PlotHit, PlotPlace } from './plot-source.ts';

export interface HoverAnswer {
  readonly hit: PlotHit | undefined;
  readonly crosshair: Crosshair;
}

export interface HoverQuestions {
  hit(place: PlotPlace): Promise<PlotHit | undefined>;
  crosshair(event: EventIndex): Promise<Crosshair>;
}

export class HoverQuery {
  readonly #questions: HoverQuestions;
  readonly #onAnswer: (answer: HoverAnswer) => void;
  #waiting: PlotPlace | undefined;
  #latest: PlotPlace | undefined;
  #isAsking = false;
  #crosshair: Crosshair | undefined;

  constructor(questions: HoverQuestions, onAnswer: (answer: HoverAnswer) => void) {
    this.#questions = questions;
    this.#onAnswer = onAnswer;
  }

  ask(request: PlotPlace): void {
    if (this.#latest !== undefined && isSame(this.#latest, request)) return;
    this.#latest = request;
    this.#waiting = request;
    if (!this.#isAsking) void this.#run();
  }

  /** The pointer has left: answers that are still to come are dropped. */
  cancel(): void {
    this.#latest = undefined;
    this.#waiting = undefined;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    try {
      for (let next = this.#take(); next !== undefined; next = this.#take()) {
        const [hit, crosshair] = await Promise.all([
          this.#questions.hit(next),
          this.#crosshairAt(next.state),
        ]);
        if (this.#latest !== undefined) this.#onAnswer({ hit, crosshair });
      }
    } catch {
      // The worker died or another snapshot came; the frame that fails with it tells the user.
      this.cancel();
    } finally {
      this.#isAsking = false;
    }
  }

  #take(): PlotPlace | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }

  async #crosshairAt(event: EventIndex): Promise<Crosshair> {
    if (this.#crosshair?.event !== event) {
      this.#crosshair = await this.#questions.crosshair(event);
    }
    return this.#crosshair;
  }
}

function isSame(a: PlotPlace, b: PlotPlace): boolean {
  return a.state === b.state && a.bytesFrom === b.bytesFrom && a.bytesTo === b.bytesTo;
}
