/** One device of an open snapshot: its tables, and what drawing keeps between frames. */

import type { AllocationIndex, AllocationTable, CounterName } from '../allocator/replay/types.ts';
import { LruCache, onceFor } from '../base/collections.ts';
import type { Clock } from '../base/task.ts';
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
    const { colorBy, palette, highlight } = request;
    const begin = async (out: Uint32Array | undefined) => {
      const matching = await this.matchingOf(request);
      const renderer = await this.rendererOf(request);
      const classOf = await this.classesBy(colorBy, palette.classes.length);
      const isSearched = matching.mask !== undefined;
      const highlighted = isSearched ? undefined : await this.#maskOf(highlight);
      return renderer.begin({ ...request, classOf, highlighted }, matching, out);
    };
    return this.frames.draw(request.viewport, begin, signal);
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
