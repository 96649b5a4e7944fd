/**
 * What the timeline draws of a device: all allocations, those that match a search bright and the
 * others dimmed, or the matches alone.
 */

import type { CounterName } from '../allocator/replay/types.ts';
import { assert } from '../base/assert.ts';
import type { Task } from '../base/task.ts';
import type { StackRange } from '../device/model/allocation-details.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import type { SearchMatches } from '../device/search/types.ts';
import { type MarkingPalette, withDimmedClass, withPaleClasses } from '../draw/timeline/colors.ts';
import {
  type MatchingTimeline,
  matchingRow,
  matchingTimeline,
} from '../draw/timeline/matching-timeline.ts';
import { stackHits } from '../draw/timeline/stack-hits.ts';
import type { TimelineIndex } from '../draw/timeline/timeline-index.ts';
import { type Scene, TimelinePainter } from '../draw/timeline/timeline-painter.ts';
import type { ColorBy, Palette, TimelineFrame, Viewport } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import type { BandRenderer } from './band-renderer.ts';

/** The matches of one search as a timeline of their own. */
interface Matches {
  readonly mask: Uint8Array;
  readonly timeline: MatchingTimeline;
  readonly painter: TimelinePainter;
  /** Classes of the matches, of those of all allocations. */
  classes: { readonly all: Uint8Array; readonly own: Uint8Array } | undefined;
}

type BandModule = typeof import('./band-renderer.ts');

let bandModule: BandModule | undefined;

/** To be awaited before bands are drawn: most timelines are never ordered by class. */
export async function loadBandRenderer(): Promise<void> {
  bandModule ??= await import('./band-renderer.ts');
}

/** What of an OpenDevice is needed. */
interface Drawn {
  readonly context: DeviceModel;
  readonly index: TimelineIndex;
  matches(search: string, at: EventIndex | undefined): Pick<SearchMatches, 'mask'>;
  classesBy(colorBy: ColorBy, count: number): Uint8Array;
}

export class TimelineRenderer {
  readonly #device: Drawn;
  readonly #painter: TimelinePainter;
  readonly #dimmed = new DimmedClasses();
  readonly #marked = new MarkedClasses();
  #bands: BandRenderer | undefined;
  /** Of the last search alone: up to 32 MB for 1.9 M allocations. */
  #matches: Matches | undefined;

  constructor(device: Drawn) {
    this.#device = device;
    this.#painter = new TimelinePainter(device.index);
  }

  /** Starts a frame; an earlier one that is not finished must not go on any more. */
  begin(request: FrameRequest, out: Uint32Array | undefined): Task<TimelineFrame> {
    if (request.inBands === true) return this.#beginBands(request, out);
    const { viewport, palette, lines, selected, colorBy } = request;
    const classes = palette.classes.length;
    const classOf = this.#device.classesBy(colorBy, classes);
    const scene: Scene = { viewport, classOf, palette, lines, selected };
    const mask = this.#maskOf(request);
    if (mask === undefined) return this.#painter.begin(this.#withMarks(scene, request), out);
    if (!request.onlyMatches) {
      const dimmed = this.#dimmed.of(classOf, mask, classes);
      const all = { classOf: dimmed, dimmedClass: classes, palette: withDimmedClass(palette) };
      return this.#painter.begin({ ...scene, ...all }, out);
    }
    const { painter, timeline } = this.#only(mask);
    const matches = {
      classOf: this.#classesOfMatches(classOf, mask),
      selected: matchingRow(timeline, selected),
      // The other counters are of all allocations.
      lines: lines.filter((line) => line === 'activeBytes'),
    };
    return painter.begin({ ...scene, ...matches }, out);
  }

  /** What is marked keeps its color, all else is paler. */
  #withMarks(scene: Scene, { marked = '' }: FrameRequest): Scene {
    const mask = marked === '' ? undefined : this.#device.matches(marked, undefined).mask;
    return mask === undefined ? scene : { ...scene, ...this.#marked.of(scene, mask) };
  }

  #beginBands(request: FrameRequest, out: Uint32Array | undefined): Task<TimelineFrame> {
    const { onlyMatches } = request;
    const mask = this.#maskOf(request);
    const all = this.#device.index;
    if (mask === undefined || !onlyMatches) {
      return this.#bandRenderer().begin(all, { mask, onlyMatches }, request, out);
    }
    const { index } = this.#only(mask).timeline;
    const lines = request.lines.filter((line) => line === 'activeBytes');
    return this.#bandRenderer().begin(index, { mask, onlyMatches }, { ...request, lines }, out);
  }

  #bandRenderer(): BandRenderer {
    assert(bandModule !== undefined, 'loadBandRenderer was awaited');
    this.#bands ??= new bandModule.BandRenderer(this.#device.context);
    return this.#bands;
  }

  /** What lies in a range of bytes of the stack that is drawn. */
  hits(
    request: MatchingRequest,
    state: EventIndex,
    bytesFrom: number,
    bytesTo: number,
  ): StackRange {
    if (request.inBands === true) {
      const matching = { mask: this.#maskOf(request), onlyMatches: request.onlyMatches };
      const { index } = this.#device;
      return this.#bandRenderer().hits(index, matching, state, bytesFrom, bytesTo);
    }
    const mask = request.onlyMatches ? this.#maskOf(request) : undefined;
    if (mask === undefined) return stackHits(this.#device.index, state, bytesFrom, bytesTo);
    const { index, ids } = this.#only(mask).timeline;
    const hits = stackHits(index, state, bytesFrom, bytesTo);
    const main = hits.main < 0 ? -1 : (ids[hits.main] ?? -1);
    return { ...hits, ids: hits.ids.map((row) => ids[row] ?? -1), main };
  }

  /** Height of the stack that is drawn after an event. */
  bytesAt(request: MatchingRequest, state: EventIndex): number {
    const mask = request.onlyMatches ? this.#maskOf(request) : undefined;
    const index: TimelineIndex =
      mask === undefined ? this.#device.index : this.#only(mask).timeline.index;
    return index.counter('activeBytes').highest(state, state);
  }

  #maskOf({ search, at }: MatchingRequest): Uint8Array | undefined {
    return search === '' ? undefined : this.#device.matches(search, at).mask;
  }

  #only(mask: Uint8Array): Matches {
    if (this.#matches?.mask === mask) return this.#matches;
    const { replay, trace } = this.#device.context;
    const { length, timeUs } = trace.events;
    const timeline = matchingTimeline(replay.allocations, mask, length, timeUs);
    const painter = new TimelinePainter(timeline.index);
    this.#matches = { mask, timeline, painter, classes: undefined };
    return this.#matches;
  }

  /** The same array as long as both are the same: a panned frame keeps its columns by it. */
  #classesOfMatches(all: Uint8Array, mask: Uint8Array): Uint8Array {
    const matches = this.#only(mask);
    if (matches.classes?.all !== all) {
      const { ids } = matches.timeline;
      const own = new Uint8Array(ids.length);
      for (let row = 0; row < own.length; row++) own[row] = all[ids[row] ?? 0] ?? 0;
      matches.classes = { all, own };
    }
    return matches.classes.own;
  }
}

/** Which allocations are meant. */
export interface MatchingRequest {
  /** The view's search; '' and one with a problem mean all. */
  readonly search: string;
  /** The matches alone are stacked; else the others are dimmed in their place. */
  readonly onlyMatches: boolean;
  /** The cursor, at which states and ages are taken; undefined: the end. */
  readonly at: EventIndex | undefined;
  /** Ordered by class, one band each; else by time of allocation. */
  readonly inBands?: boolean | undefined;
}

/** For those who look at all allocations. */
export const ALL_ALLOCATIONS: MatchingRequest = { search: '', onlyMatches: false, at: undefined };

/** A picture of the timeline. */
export interface FrameRequest extends MatchingRequest {
  /** Position in SessionInfo.devices. */
  readonly deviceIndex: number;
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted, -1 for none. */
  readonly selected: number;
  /** A search whose blocks are marked where nothing is searched for; not in bands. */
  readonly marked?: string | undefined;
}

/** The marked blocks' classes and those of the others, in a palette that has both. */
class MarkedClasses {
  #of: readonly [classOf: Uint8Array, mask: Uint8Array, palette: Palette] | undefined;
  #made: Pick<Scene, 'classOf' | 'palette'> | undefined;

  /** The same arrays as long as what they are made of is the same: a panned frame keeps its columns by them. */
  of({ classOf, palette }: Scene, mask: Uint8Array): Pick<Scene, 'classOf' | 'palette'> {
    const made = this.#made;
    const isSame = this.#of?.[0] === classOf && this.#of[1] === mask && this.#of[2] === palette;
    if (made !== undefined && isSame) return made;
    const { bright, pale, palette: both }: MarkingPalette<Palette> = withPaleClasses(palette);
    const classes = classOf.map((of, id) => (mask[id] === 1 ? bright : pale)[of] ?? 0);
    this.#of = [classOf, mask, palette];
    this.#made = { classOf: classes, palette: both };
    return this.#made;
  }
}

/** The classes of those that match; the others have the class after the last. */
export class DimmedClasses {
  #classOf: Uint8Array | undefined;
  #mask: Uint8Array | undefined;
  #dimmed = new Uint8Array(0);

  /** The same array as long as both are the same: a panned frame keeps its columns by it. */
  of(classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array {
    if (classOf === this.#classOf && mask === this.#mask) return this.#dimmed;
    this.#classOf = classOf;
    this.#mask = mask;
    this.#dimmed = classOf.map((of, id) => (mask[id] === 1 ? of : dim));
    return this.#dimmed;
  }
}
