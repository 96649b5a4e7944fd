/** One device of an open snapshot: its tables, and what drawing keeps between frames. */

import type { AllocationTable, CounterName } from '../allocator/replay/types.ts';
import { LruCache } from '../base/lru-cache.ts';
import type { Clock, Task } from '../base/task.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import type { SearchMatches } from '../device/search/types.ts';
import { type Coloring, firstColoring } from '../draw/coloring/first-colorings.ts';
import type { CounterBlocks } from '../draw/timeline/counter-blocks.ts';
import { TimelineIndex } from '../draw/timeline/timeline-index.ts';
import type { ColorBy, Viewport } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import { FrameQueue, PixelBufferPool } from './frame-queue.ts';
import { loadAnswers } from './load-answers.ts';
import { TimelineRenderer } from './timeline-renderer.ts';

/** Each view asks for the same search with each frame; two or three are typed one after the other. */
const CACHED_SEARCHES = 4;

export class OpenDevice {
  readonly context: DeviceModel;
  readonly index: TimelineIndex<AllocationTable>;
  readonly timeline: TimelineRenderer;
  readonly clock: Clock;
  readonly #frames: FrameQueue;
  readonly #pixelBuffers = new PixelBufferPool();
  readonly #made = new Map<unknown, unknown>();
  /** A byte an allocation each. */
  #matches = new LruCache<SearchMatches>(CACHED_SEARCHES);
  /** A byte an allocation each: the last used of each kind is kept. */
  readonly #colorings = new Map<ColorBy, { readonly count: number; readonly coloring: Coloring }>();

  /**
   * @param frames the session's, which draws the pictures of all its devices
   * @param counters extremes of counters that are known already
   */
  constructor(
    context: DeviceModel,
    clock: Clock,
    frames = new FrameQueue(clock),
    counters?: ReadonlyMap<CounterName, CounterBlocks>,
  ) {
    const { trace, replay } = context;
    this.context = context;
    this.index = new TimelineIndex(replay, trace.events.length, trace.events.timeUs, counters);
    this.timeline = new TimelineRenderer(this);
    this.clock = clock;
    this.#frames = frames;
  }

  /**
   * What a search finds on this device, see matchAllocations: its mask is undefined for '' and for
   * a text with a problem. `at` is the cursor of the view. The last few are cached.
   */
  async matches(search: string, at: EventIndex | undefined): Promise<SearchMatches> {
    const answers = await loadAnswers();
    if (answers.mayHoldRegex(search)) await answers.loadRegexEngine();
    // Most searches match the same wherever the cursor is.
    const state = answers.dependsOnCursor(search) ? at : undefined;
    const key = `${state ?? 'end'} ${search}`;
    const match = () => answers.matchAllocations(this.context, search, state);
    return this.#matches.getOrMake(key, match);
  }

  /** Of searches that match something else from now on. */
  forgetMatches(): void {
    this.#matches = new LruCache(CACHED_SEARCHES);
  }

  /**
   * What `make` makes of this device, made once: give a function of a module, not a new closure.
   * For what a feature keeps between queries; it lives as long as the snapshot is open.
   */
  once<T>(make: (device: OpenDevice) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }

  /**
   * A picture, drawn in slices so that messages get through: the newest of the session wins, others
   * reject with an AbortError.
   * @param begin starts to draw it, over the pixels of an earlier one if it is given any
   */
  drawFrame<F>(
    viewport: Viewport,
    begin: (out: Uint32Array | undefined) => Task<F> | Promise<Task<F>>,
    signal: AbortSignal | undefined,
  ): Promise<F> {
    return this.#pixelBuffers.draw(this.#frames, viewport, begin, signal);
  }

  /** Pixels of a picture that the page does not need any more: the next picture is drawn over them. */
  recycle(pixels: Uint32Array): void {
    this.#pixelBuffers.release(pixels);
  }

  /** The classes and their meaning in a palette of `count` colors. */
  async coloring(colorBy: ColorBy, count: number): Promise<Coloring> {
    const known = this.#colorings.get(colorBy);
    if (known?.count === count) return known.coloring;
    const isFirst = colorBy === 'stack' || colorBy === 'size';
    const coloring = isFirst
      ? firstColoring(this.context, colorBy, count)
      : (await loadAnswers()).makeColoring(this.context, colorBy, count);
    this.#colorings.set(colorBy, { count, coloring });
    return coloring;
  }

  /** Class of each allocation in a palette of `count` colors. */
  async classesBy(colorBy: ColorBy, count: number): Promise<Uint8Array> {
    return (await this.coloring(colorBy, count)).classOf;
  }
}
