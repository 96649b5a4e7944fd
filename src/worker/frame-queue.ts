/**
 * Draws one frame at a time in slices, so that messages get through; the newest request wins.
 *
 * Asked for A, B, C while A is being drawn: B is dropped for C at once. A itself is given up for C
 * unless it is nearly done, or nothing was delivered for a while: a pan that asks for a frame every
 * 16 ms must not starve a frame of 200 ms forever.
 */

import type { Viewport } from '../draw/timeline/types.ts';
import type { CooperativeClock } from './cooperative-clock.ts';
import { abortError } from './errors.ts';

/** A frame under way, such as the ColumnJob of core/raster. */
export interface SlicedJob<T> {
  /** Draws on until `shouldStop()`, then gives undefined; or until done, then gives the frame. */
  run(shouldStop: () => boolean): T | undefined;
}

/** Half of what one picture of the display takes, so that a hover answers within that picture. */
const SLICE_MS = 8;
/** A frame that is done in less than this is not given up: it shows about where the user is. */
const NEARLY_DONE_MS = 50;
/** A frame is finished, however slow, when the page saw none for this long. */
const LONGEST_SILENCE_MS = 250;

/** A frame that was asked for, of whichever type. */
interface Waiting {
  readonly signal: AbortSignal | undefined;
  /** Starts the job, and gives a function that draws on: true once the frame is delivered. */
  readonly begin: () => (shouldStop: () => boolean) => boolean;
  readonly reject: (error: unknown) => void;
}

export class FrameQueue {
  readonly #clock: CooperativeClock;
  readonly #sliceMs: number;
  #waiting: Waiting | undefined;
  #isRunning = false;
  #deliveredMs = Number.NEGATIVE_INFINITY;
  /** What the last whole frame took: the best guess of what the next one will. */
  #durationMs = 0;

  /** @param sliceMs how long others wait at most, such as a frame of another queue */
  constructor(clock: CooperativeClock, sliceMs = SLICE_MS) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
  }

  /** Rejects with AbortError when a newer request comes first or `signal` is aborted. */
  request<T>(create: () => SlicedJob<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        const job = create();
        return (shouldStop: () => boolean) => {
          const frame = job.run(shouldStop);
          if (frame !== undefined) resolve(frame);
          return frame !== undefined;
        };
      };
      this.#waiting?.reject(superseded());
      this.#waiting = { signal, begin, reject };
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting !== undefined) {
      // A pan may have queued several requests: let them all in, then draw the newest.
      await this.#clock.yieldTask();
      const current: Waiting = this.#waiting;
      this.#waiting = undefined;
      try {
        await this.#draw(current);
      } catch (error) {
        current.reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #draw({ signal, begin }: Waiting): Promise<void> {
    signal?.throwIfAborted();
    const run = begin();
    const startMs = this.#clock.now();
    for (;;) {
      const sliceEndMs = this.#clock.now() + this.#sliceMs;
      if (run(() => this.#clock.now() >= sliceEndMs)) {
        this.#deliveredMs = this.#clock.now();
        this.#durationMs = this.#deliveredMs - startMs;
        return;
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

/** One frame is on screen, one is being drawn, one is on its way back. */
const POOLED_BUFFERS = 2;

/** Pixels that came back from the page, to draw in: a new array of 3 MB costs a frame 1 ms and garbage. */
export class PixelBufferPool {
  /** Newest first: after a resize the old ones fit no frame. */
  #buffers: readonly Uint32Array[] = [];

  release(pixels: Uint32Array): void {
    this.#buffers = [pixels, ...this.#buffers].slice(0, POOLED_BUFFERS);
  }

  /** A frame from a queue, drawn in a pooled buffer if one fits; the pool has it again if the frame is given up. */
  async draw<F>(
    queue: FrameQueue,
    { width, height }: Viewport,
    begin: (out: Uint32Array | undefined) => SlicedJob<F>,
    signal: AbortSignal | undefined,
  ): Promise<F> {
    let out: Uint32Array | undefined;
    const create = () => {
      out = this.#take(width * height);
      return begin(out);
    };
    try {
      return await queue.request(create, signal);
    } catch (error) {
      if (out !== undefined) this.release(out);
      throw error;
    }
  }

  #take(length: number): Uint32Array | undefined {
    const found = this.#buffers.find((buffer) => buffer.length === length);
    this.#buffers = this.#buffers.filter((buffer) => buffer !== found);
    return found;
  }
}
