/**
 * Draws one frame at a time in slices, so that messages get through, and the newest request wins.
 *
 * Asked for A, B, C while A is being drawn: B is dropped for C at once. A itself is given up for C
 * unless it is nearly done, or nothing was delivered for a while: a pan that asks for a frame every
 * 16 ms must not starve a frame of 200 ms for ever.
 */
import { abortError } from './abort.ts';

/** A frame under way, such as core/raster's FrameJob. */
export interface SlicedJob<T> {
  /** Draws on until `shouldStop()`, then gives undefined; or until done, then gives the frame. */
  run(shouldStop: () => boolean): T | undefined;
}

export interface FrameQueueClock {
  readonly now: () => number;
  /** Lets waiting messages in. */
  readonly yieldTask: () => Promise<void>;
}

/** Half of what one picture of the display takes, so that a hover answers within that picture. */
const SLICE_MS = 8;
/** A frame that is done in less than this is not given up: it shows about where the user is. */
const NEARLY_DONE_MS = 50;
/** A frame is finished, however slow, when the page saw none for this long. */
const LONGEST_SILENCE_MS = 250;

interface Waiting<T> {
  readonly create: () => SlicedJob<T>;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (frame: T) => void;
  readonly reject: (error: unknown) => void;
}

export class FrameQueue<T> {
  readonly #clock: FrameQueueClock;
  readonly #sliceMs: number;
  #waiting: Waiting<T> | undefined;
  #isRunning = false;
  #deliveredMs = Number.NEGATIVE_INFINITY;
  /** What the last whole frame took: the best guess of what the next one will. */
  #durationMs = 0;

  /** @param sliceMs how long others wait at most, such as a frame of another queue */
  constructor(clock: FrameQueueClock, sliceMs = SLICE_MS) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Rejects with AbortError when a newer request comes first or `signal` is aborted. */
  request(create: () => SlicedJob<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting?.reject(superseded());
      this.#waiting = { create, signal, resolve, reject };
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting !== undefined) {
      // A pan may have queued several requests: let them all in, then draw the newest.
      await this.#clock.yieldTask();
      const current: Waiting<T> = this.#waiting;
      this.#waiting = undefined;
      try {
        current.resolve(await this.#draw(current));
      } catch (error) {
        current.reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #draw({ create, signal }: Waiting<T>): Promise<T> {
    signal?.throwIfAborted();
    const job = create();
    const startMs = this.#clock.now();
    for (;;) {
      const sliceEndMs = this.#clock.now() + this.#sliceMs;
      const frame = job.run(() => this.#clock.now() >= sliceEndMs);
      if (frame !== undefined) {
        this.#deliveredMs = this.#clock.now();
        this.#durationMs = this.#deliveredMs - startMs;
        return frame;
      }
      await this.#clock.yieldTask();
      if (signal?.aborted || this.#isOutrun(startMs)) throw superseded();
    }
  }

  #isOutrun(startMs: number): boolean {
    if (this.#waiting === undefined) return false;
    const nowMs = this.#clock.now();
    if (nowMs - this.#deliveredMs > LONGEST_SILENCE_MS) return false;
    return startMs + this.#durationMs - nowMs > NEARLY_DONE_MS;
  }
}

function superseded(): DOMException {
  return abortError('A newer frame was asked for');
}
