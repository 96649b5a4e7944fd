/**
 * Draws one frame at a time in slices, so that messages get through; the newest request wins.
 *
 * Requests A, B, C come while A is drawn: C takes B's place at once. A itself is given up for C unless it is
 * nearly done, or no frame was delivered for a while: a pan that asks for a frame every 16 ms must not starve
 * a frame of 200 ms.
 */
import { LatestOnly } from '../base/latest-only.ts';
import { type Clock, runTask, type Task } from '../base/task.ts';
import type { Viewport } from '../draw/timeline/types.ts';

/** A frame that is done in less than this is not given up: it shows about where the user is. */
const NEARLY_DONE_MS = 50;
/** A frame is finished, however slow, when the page saw none for this long. */
const LONGEST_SILENCE_MS = 250;

export class FrameQueue {
  readonly #clock: Clock;
  readonly #sliceMs: number | undefined;
  readonly #latest: LatestOnly;
  #startedMs = 0;
  #deliveredMs = Number.NEGATIVE_INFINITY;
  /** What the last whole frame took: the best guess for the next one. */
  #durationMs = 0;

  /** @param sliceMs how long others wait at most, such as a frame of another queue */
  constructor(clock: Clock, sliceMs?: number) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#latest = new LatestOnly({
      settle: clock.yieldTask,
      isOutrun: () => this.#isOutrun(),
    });
  }

  /** Rejects with AbortError when a newer request comes first or `signal` is aborted. */
  request<T>(create: () => Task<T> | Promise<Task<T>>, signal?: AbortSignal): Promise<T> {
    const clock = this.#clock;
    return this.#latest.run(async (signal) => {
      const task = await create();
      this.#startedMs = clock.now();
      const frame = await runTask(task, { clock, sliceMs: this.#sliceMs, signal });
      this.#deliveredMs = clock.now();
      this.#durationMs = this.#deliveredMs - this.#startedMs;
      return frame;
    }, signal);
  }

  #isOutrun(): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - this.#deliveredMs > LONGEST_SILENCE_MS) return false;
    return this.#startedMs + this.#durationMs - nowMs > NEARLY_DONE_MS;
  }
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
    begin: (out: Uint32Array | undefined) => Task<F> | Promise<Task<F>>,
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
