/** Pixels that came back from the page, to draw in: a new array of 3 MB costs a frame 1 ms and garbage. */
import type { Viewport } from '../core/raster/types.ts';
import type { FrameQueue, SlicedJob } from './frame-queue.ts';

/** One frame is on screen, one is being drawn, one is on its way back. */
const MAX_SPARE_BUFFERS = 2;

export class PixelBufferPool {
  /** Newest first: after a resize the old ones fit no frame. */
  #spares: readonly Uint32Array[] = [];

  keep(pixels: Uint32Array): void {
    this.#spares = [pixels, ...this.#spares].slice(0, MAX_SPARE_BUFFERS);
  }

  /** A frame from a queue, drawn in spare pixels if there are any; these stay spare if it is given up. */
  async draw<F>(
    queue: FrameQueue<F>,
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
      if (out !== undefined) this.keep(out);
      throw error;
    }
  }

  #take(length: number): Uint32Array | undefined {
    const found = this.#spares.find((spare) => spare.length === length);
    this.#spares = this.#spares.filter((spare) => spare !== found);
    return found;
  }
}
