/**
 * Asks the worker what is under the pointer, one question at a time: the newest replaces one that
 * waits, so that a fast pointer never builds a queue.
 */
import type { Crosshair, HitResult } from '../../core/query/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { HitRequest, SessionApi } from '../../engine/protocol.ts';

export interface HoverAnswer {
  readonly request: HitRequest;
  readonly hit: HitResult | undefined;
  readonly crosshair: Crosshair;
}

export class HoverQuery {
  readonly #session: Pick<SessionApi, 'hit' | 'crosshair'>;
  readonly #onAnswer: (answer: HoverAnswer) => void;
  #waiting: HitRequest | undefined;
  #latest: HitRequest | undefined;
  #isAsking = false;
  #crosshair: Crosshair | undefined;

  constructor(
    session: Pick<SessionApi, 'hit' | 'crosshair'>,
    onAnswer: (answer: HoverAnswer) => void,
  ) {
    this.#session = session;
    this.#onAnswer = onAnswer;
  }

  ask(request: HitRequest): void {
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
          this.#session.hit(next),
          this.#crosshairAt(next.device, next.state),
        ]);
        if (this.#latest !== undefined) this.#onAnswer({ request: next, hit, crosshair });
      }
    } catch {
      // The worker died or another snapshot came; the frame that fails with it tells the user.
      this.cancel();
    } finally {
      this.#isAsking = false;
    }
  }

  #take(): HitRequest | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    return next;
  }

  async #crosshairAt(device: number, event: EventIndex): Promise<Crosshair> {
    if (this.#crosshair?.event !== event) {
      this.#crosshair = await this.#session.crosshair({ device, event });
    }
    return this.#crosshair;
  }
}

function isSame(a: HitRequest, b: HitRequest): boolean {
  return a.state === b.state && a.bytesFrom === b.bytesFrom && a.bytesTo === b.bytesTo;
}
