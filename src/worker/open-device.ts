/** One device of an open snapshot: its tables, and what drawing keeps between frames. */

import type { AllocationTable, CounterName } from '../allocator/replay/types.ts';
import { LruCache } from '../base/lru-cache.ts';
import { type Clock, runToEnd, type Task } from '../base/task.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import { searchMatching } from '../device/search/lazy-matching.ts';
import type { SearchMatches } from '../device/search/types.ts';
import type { Coloring } from '../draw/coloring/first-colorings.ts';
import { coloringOf } from '../draw/coloring/lazy-colorings.ts';
import type { CounterBlocks } from '../draw/timeline/counter-blocks.ts';
import { TimelineIndex } from '../draw/timeline/timeline-index.ts';
import type { ColorBy, Viewport } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import { FrameQueue, PixelBufferPool } from './frame-queue.ts';
import { ALL_ALLOCATIONS, type FrameRequest, TimelineRenderer } from './timeline-renderer.ts';

/** Enough for the compiler to see every branch, little enough to take 10 ms on 5.7 M events. */
const WARM_UP = { width: 96, height: 64, rounds: 4, share: 0.05, classes: 16 };

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
  matches(search: string, at: EventIndex | undefined): SearchMatches {
    // Most searches match the same wherever the cursor is.
    const { dependsOnCursor, matchAllocations } = searchMatching();
    const state = dependsOnCursor(search) ? at : undefined;
    const key = `${state ?? 'end'} ${search}`;
    return this.#matches.getOrMake(key, () => matchAllocations(this.context, search, state));
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

  /** Draws small frames, so that the first real one meets compiled code: cold it takes 3 to 7 times as long. */
  warmUp(): void {
    const events = this.context.trace.events.length;
    const peakBytes = this.context.replay.peaks.activeBytes.bytes;
    if (events === 0 || peakBytes === 0) return;
    const { width, height, rounds, share } = WARM_UP;
    const span = Math.max(1, events * share);
    for (let round = 0; round < rounds; round++) {
      const x0 = ((events - span) * round) / rounds;
      const viewport: Viewport = {
        axis: 'event',
        x0,
        x1: x0 + span,
        y0: 0,
        y1: peakBytes,
        width,
        height,
      };
      runToEnd(this.timeline.begin(warmUpRequest(viewport), undefined));
    }
    // Made for the warm-up's number of classes; the page's palette has another.
    this.#colorings.clear();
  }

  /** The classes and their meaning in a palette of `count` colors. */
  coloring(colorBy: ColorBy, count: number): Coloring {
    const known = this.#colorings.get(colorBy);
    if (known?.count === count) return known.coloring;
    const coloring = coloringOf(this.context, colorBy, count);
    this.#colorings.set(colorBy, { count, coloring });
    return coloring;
  }

  /** Class of each allocation in a palette of `count` colors. */
  classesBy(colorBy: ColorBy, count: number): Uint8Array {
    return this.coloring(colorBy, count).classOf;
  }
}

function warmUpRequest(viewport: Viewport): FrameRequest {
  return {
    deviceIndex: 0,
    viewport,
    colorBy: 'size',
    palette: {
      classes: new Uint32Array(WARM_UP.classes),
      background: 0,
      pending: 0,
      thin: 0,
    },
    lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'],
    selected: -1,
    ...ALL_ALLOCATIONS,
  };
}
