/** One device of an open snapshot: its tables, and what drawing keeps between frames. */

import type { AllocationIndex, AllocationTable, CounterName } from '../allocator/replay/types.ts';
import { LruCache, onceFor } from '../base/collections.ts';
import { isAbortError } from '../base/errors.ts';
import type { Clock, Task } from '../base/task.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import type { SearchMatches } from '../device/search/types.ts';
import { type Coloring, firstColoring } from '../draw/coloring/first-colorings.ts';
import type { CounterBlocks } from '../draw/timeline/counter-blocks.ts';
import { TimelineIndex } from '../draw/timeline/timeline-index.ts';
import {
  type Matching,
  type StackRenderer,
  TimelineRenderer,
} from '../draw/timeline/timeline-renderer.ts';
import type { ColorBy, Palette, TimelineFrame, Viewport } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import { FrameQueue } from './frame-queue.ts';
import { loadAnswers } from './load-answers.ts';
import type { DeviceRequest } from './queries.ts';

/** Selects allocations. */
export interface MatchingRequest {
  /** The view's search; an empty or invalid one means all. */
  readonly search: string;
  /** Stacks only the matches; otherwise the others are dimmed in place. */
  readonly onlyMatches: boolean;
  /** The cursor, at which states and ages are evaluated; undefined means the end. */
  readonly at: EventIndex | undefined;
  /** By time of allocation, or by class with one layer each. */
  readonly stackOrder?: 'time' | 'class' | undefined;
}

export const ALL_ALLOCATIONS: MatchingRequest = { search: '', onlyMatches: false, at: undefined };

export interface FrameRequest extends DeviceRequest, MatchingRequest {
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to highlight, -1 for none. */
  readonly selected: AllocationIndex;
  /** A search whose blocks stand out if there is no other search. Ignored if the stack is ordered by class. */
  readonly highlight?: string | undefined;
}

/** A trace of so many events has windows whose frames take longer than a display frame while code is compiled. */
const LONG_EVENTS = 1_000_000;
/**
 * The windows of a rehearsed zoom, as shares of the first one: from and to. Not around one place, because nobody knows
 * where the pointer will be; the first one comes last, so that its columns are still there.
 */
const REHEARSED_WINDOWS = [
  [0, 0.8],
  [0.36, 1],
  [0.1, 0.6],
  [0.6, 1],
  [0.2, 0.5],
  [0.45, 0.5],
  [0.7, 0.701],
  [0, 1],
] as const;
/** Each view repeats the same search with each frame, and users type two or three in turn. */
const CACHED_SEARCHES = 4;

export class OpenDevice {
  readonly context: DeviceModel;
  readonly index: TimelineIndex<AllocationTable>;
  readonly timeline: TimelineRenderer;
  readonly clock: Clock;
  /** For data that a feature keeps between queries; it lives as long as the snapshot is open. */
  readonly once = onceFor<OpenDevice>(this);
  /** The session's queue: the newest picture of any device and view wins, others reject with an AbortError. */
  readonly frames: FrameQueue;
  #latest: FrameRequest | undefined;
  /** A zoom or a pan was drawn, or a rehearsal of one. */
  #isWarm = false;
  #rehearsal = new AbortController();
  /** One byte an allocation each. */
  #matches = new LruCache<SearchMatches>(CACHED_SEARCHES);
  /** One byte an allocation each. Keeps the latest of each kind. */
  readonly #colorings = new Map<ColorBy, { readonly count: number; readonly coloring: Coloring }>();

  /** @param counters extremes of counters that are already known */
  constructor(
    context: DeviceModel,
    clock: Clock,
    frames = new FrameQueue(clock),
    counters?: ReadonlyMap<CounterName, CounterBlocks>,
  ) {
    const { trace, replay } = context;
    this.context = context;
    this.index = new TimelineIndex(replay, trace.events.length, trace.events.timeUs, counters);
    this.timeline = new TimelineRenderer(context, this.index);
    this.clock = clock;
    this.frames = frames;
  }

  /**
   * The matches of a search on this device, see matchAllocations. The mask is undefined for '' and for an invalid
   * search. `at` is the view's cursor. Caches the last few searches.
   */
  async matches(search: string, at: EventIndex | undefined): Promise<SearchMatches> {
    const answers = await loadAnswers();
    if (answers.mayHoldRegex(search)) await answers.loadRegexEngine();
    // Most searches match the same allocations wherever the cursor is.
    const state = answers.dependsOnCursor(search) ? at : undefined;
    const key = `${state ?? 'end'} ${search}`;
    const match = () => answers.matchAllocations(this.context, search, state);
    return this.#matches.getOrMake(key, match);
  }

  /** Call this when searches match something else from now on. */
  forgetMatches(): void {
    this.#matches = new LruCache(CACHED_SEARCHES);
  }

  async matchingOf({ search, at, onlyMatches }: MatchingRequest): Promise<Matching> {
    return { mask: await this.#maskOf(search, at), onlyMatches };
  }

  async #maskOf(search = '', at?: EventIndex): Promise<Uint8Array | undefined> {
    return search === '' ? undefined : (await this.matches(search, at)).mask;
  }

  /** For the order in which the request stacks allocations. */
  async rendererOf({ stackOrder }: MatchingRequest): Promise<StackRenderer> {
    return stackOrder === 'class' ? this.once((await loadAnswers()).layersOf) : this.timeline;
  }

  frame(request: FrameRequest, signal?: AbortSignal): Promise<TimelineFrame> {
    this.#rehearsal.abort();
    const before = this.#latest?.viewport;
    this.#isWarm ||= before !== undefined && before.x0 !== request.viewport.x0;
    this.#latest = request;
    const begin = (out: Uint32Array | undefined) => this.#begin(request, out);
    return this.frames.draw(request.viewport, begin, signal);
  }

  async #begin(request: FrameRequest, out: Uint32Array | undefined): Promise<Task<TimelineFrame>> {
    const { colorBy, palette, highlight } = request;
    const matching = await this.matchingOf(request);
    const renderer = await this.rendererOf(request);
    const classOf = await this.classesBy(colorBy, palette.classes.length);
    const isSearched = matching.mask !== undefined;
    const highlighted = isSearched ? undefined : await this.#maskOf(highlight);
    return renderer.begin({ ...request, classOf, highlighted }, matching, out);
  }

  /**
   * Draws windows as a zoom would, once, and until somebody asks for a frame. Code that has drawn only one picture is
   * compiled again once a zoom takes other branches, on the cores that its first frames need. Call it when the page has
   * shown its first picture and settled.
   * @param leastEvents of a trace that needs it
   */
  async rehearseZoom(leastEvents = LONG_EVENTS): Promise<void> {
    const { frames } = this;
    const latest = this.#latest;
    const isLong = this.index.eventCount >= leastEvents;
    if (latest === undefined || this.#isWarm || !isLong || !frames.isIdle) return;
    this.#isWarm = true;
    this.#rehearsal = new AbortController();
    const { signal } = this.#rehearsal;
    const { x0, x1 } = latest.viewport;
    try {
      for (const [from, to] of REHEARSED_WINDOWS) {
        const x = { x0: x0 + from * (x1 - x0), x1: x0 + to * (x1 - x0) };
        const request = { ...latest, viewport: { ...latest.viewport, ...x } };
        const begin = (out: Uint32Array | undefined) => this.#begin(request, out);
        const { pixels } = await frames.draw(request.viewport, begin, signal);
        frames.recycle(pixels);
      }
    } catch (error) {
      // The frame of another view may have replaced it.
      if (!isAbortError(error)) throw error;
    }
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
