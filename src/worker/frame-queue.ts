/**
 * Draws one frame at a time in slices, so that messages get through. The newest request wins.
 *
 * If B and then C are requested while A is drawn, C replaces B at once. A is dropped for C too, unless A is nearly
 * done or the page has seen no frame for a while: a pan that requests a frame every 16 ms must not starve a frame of
 * 200 ms.
 */
import { LatestOnly } from '../base/latest-only.ts';
import { type Clock, runTask, type Task } from '../base/task.ts';
import type { Viewport } from '../draw/timeline/types.ts';

/** A frame this close to its end is not dropped: it shows about where the user is. */
const NEARLY_DONE_MS = 50;
/** After this long without a frame, the current one is finished, however slow. */
const LONGEST_SILENCE_MS = 250;

/** One frame is on screen, one is being drawn, one is on its way back. */
const POOLED_BUFFERS = 2;

export class FrameQueue {
  readonly #clock: Clock;
  readonly #sliceMs: number | undefined;
  readonly #latest: LatestOnly;
  /** Requests that have not settled. */
  #pending = 0;
  #startedMs = 0;
  #deliveredMs = Number.NEGATIVE_INFINITY;
  /** Duration of the last whole frame: the best guess for the next one. */
  #durationMs = 0;
  /** For reuse, newest first: after a resize, old ones fit no frame. */
  #pixels: readonly Uint32Array[] = [];

  /** @param sliceMs the longest that others wait, such as a frame of another queue */
  constructor(clock: Clock, sliceMs?: number) {
    this.#clock = clock;
    this.#sliceMs = sliceMs;
    this.#latest = new LatestOnly({
      settle: clock.yieldTask,
      isOutrun: () => this.#isOutrun(),
    });
  }

  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Rejects with AbortError if a newer request comes first or `signal` is aborted. */
  request<T>(create: () => Task<T> | Promise<Task<T>>, signal?: AbortSignal): Promise<T> {
    const clock = this.#clock;
    this.#pending++;
    const request = this.#latest.run(async (signal) => {
      const task = await create();
      this.#startedMs = clock.now();
      const frame = await runTask(task, { clock, sliceMs: this.#sliceMs, signal });
      this.#deliveredMs = clock.now();
      this.#durationMs = this.#deliveredMs - this.#startedMs;
      return frame;
    }, signal);
    return request.finally(() => this.#pending--);
  }

  /**
   * Draws over the pixels of an earlier frame of this size, if there are any: a new array of 3 MB costs a frame 1 ms and
   * creates garbage.
   */
  async draw<T>(
    { width, height }: Viewport,
    begin: (out: Uint32Array | undefined) => Task<T> | Promise<Task<T>>,
    signal?: AbortSignal,
  ): Promise<T> {
    let out: Uint32Array | undefined;
    const create = () => {
      out = this.#pixels.find(({ length }) => length === width * height);
      this.#pixels = this.#pixels.filter((pixels) => pixels !== out);
      return begin(out);
    };
    try {
      return await this.request(create, signal);
    } catch (error) {
      if (out !== undefined) this.recycle(out);
      throw error;
    }
  }

  /** Takes back the pixels of a frame that is not shown any more. */
  recycle(pixels: Uint32Array): void {
    this.#pixels = [pixels, ...this.#pixels].slice(0, POOLED_BUFFERS);
  }

  #isOutrun(): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - this.#deliveredMs > LONGEST_SILENCE_MS) return false;
    return this.#startedMs + this.#durationMs - nowMs > NEARLY_DONE_MS;
  }
}
