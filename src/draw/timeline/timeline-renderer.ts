/** Draws a device's timeline: all allocations, with those that don't match a search dimmed, or only the matches. */

import type { AllocationIndex, CounterName } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { Task } from '../../base/task.ts';
import type { StackRange } from '../../device/model/allocation-details.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { firstColoring } from '../coloring/first-colorings.ts';
import { MAX_CLASSES, mix } from './colors.ts';
import { LiveBytes } from './live-bytes.ts';
import { type StackedAllocations, stackHits, TimelineIndex } from './timeline-index.ts';
import { type Scene, TimelinePainter } from './timeline-painter.ts';
import type { Palette, TimelineFrame } from './types.ts';

/** What matches a search. Masks are by allocation and compared by identity: pass the same one for the same search. */
export interface Matching {
  /** Undefined: there is no search, and everything matches. */
  readonly mask: Uint8Array | undefined;
  /** Leaves out what does not match, rather than dimming it. */
  readonly onlyMatches: boolean;
}

export interface TimelineScene extends Omit<Scene, 'dimmedClass'> {
  /** What keeps its color while the rest fades, if there is no search. */
  readonly highlighted: Uint8Array | undefined;
}

/** Draws the stack in one order, and finds what lies in a byte range of it. */
export interface StackRenderer {
  /** Starts a frame. An earlier unfinished frame must not continue. */
  begin(
    scene: TimelineScene,
    matching: Matching,
    out: Uint32Array | undefined,
  ): Task<TimelineFrame>;
  hits(matching: Matching, state: EventIndex, bytesFrom: number, bytesTo: number): StackRange;
}

/** In the order of allocation. */
export class TimelineRenderer implements StackRenderer {
  readonly #context: DeviceModel;
  readonly #index: TimelineIndex;
  readonly #painter: TimelinePainter;
  readonly #dimmed = lastOnly(dimClasses);
  readonly #highlighted = lastOnly(highlightClasses);
  /** The matches as a timeline of their own, for the last search only: up to 32 MB for 1.9 M allocations. */
  readonly #only = lastOnly((mask: Uint8Array) => {
    const { replay, trace } = this.#context;
    const { length, timeUs } = trace.events;
    const timeline = matchingTimeline(replay.allocations, mask, length, timeUs);
    return { ...timeline, painter: new TimelinePainter(timeline.index) };
  });
  readonly #classesOf = lastOnly((ids: Int32Array, classOf: Uint8Array) =>
    new Uint8Array(ids.length).map((_, row) => classOf[ids[row]]),
  );

  constructor(context: DeviceModel, index: TimelineIndex) {
    this.#context = context;
    this.#index = index;
    this.#painter = new TimelinePainter(index);
  }

  /** Draws small frames, so that the first real one meets compiled code: cold, it takes 3 to 7 times as long. */
  warmUp(): void {
    const { trace, replay } = this.#context;
    const events = trace.events.length;
    const y1 = replay.peaks.activeBytes.bytes;
    if (events === 0 || y1 === 0) return;
    // Enough for the compiler to see every branch, and only 10 ms of work on 5.7 M events.
    const [width, height, rounds, share] = [96, 64, 4, 0.05];
    const palette = { classes: new Uint32Array(16), background: 0, pending: 0, thin: 0 };
    const lines: CounterName[] = ['allocatedBytes', 'activeBytes', 'reservedBytes'];
    const { classOf } = firstColoring(this.#context, 'size', palette.classes.length);
    const span = Math.max(1, events * share);
    for (let round = 0; round < rounds; round++) {
      const x0 = ((events - span) * round) / rounds;
      const viewport = { axis: 'event', x0, x1: x0 + span, y0: 0, y1, width, height } as const;
      this.#painter.draw({ viewport, classOf, palette, lines, selected: -1 });
    }
  }

  begin(
    { highlighted, ...scene }: TimelineScene,
    { mask, onlyMatches }: Matching,
    out: Uint32Array | undefined,
  ): Task<TimelineFrame> {
    const { classOf, palette, selected, lines } = scene;
    if (mask === undefined) {
      const faded = highlighted && this.#highlighted(classOf, palette, highlighted);
      return this.#painter.begin({ ...scene, ...faded }, out);
    }
    if (!onlyMatches) {
      const dimmedClass = palette.classes.length;
      const dimmed = this.#dimmed(classOf, mask, dimmedClass);
      const all = { classOf: dimmed, dimmedClass, palette: withDimmedClass(palette) };
      return this.#painter.begin({ ...scene, ...all }, out);
    }
    const only = this.#only(mask);
    const matches = {
      classOf: this.#classesOf(only.ids, classOf),
      selected: rowIn(only.ids, selected),
      lines: linesOfMatches(lines),
    };
    return only.painter.begin({ ...scene, ...matches }, out);
  }

  hits(matching: Matching, state: EventIndex, bytesFrom: number, bytesTo: number): StackRange {
    const { mask, onlyMatches } = matching;
    if (mask === undefined || !onlyMatches)
      return stackHits(this.#index, state, bytesFrom, bytesTo);
    const { index, ids } = this.#only(mask);
    const hits = stackHits(index, state, bytesFrom, bytesTo);
    const main = hits.main < 0 ? -1 : ids[hits.main];
    return { ...hits, ids: hits.ids.map((row) => ids[row]), main };
  }

  /** The index of what is stacked. */
  indexOf({ mask, onlyMatches }: Matching): TimelineIndex {
    return mask === undefined || !onlyMatches ? this.#index : this.#only(mask).index;
  }
}

/** The other counters cover all allocations. */
export const linesOfMatches = (lines: readonly CounterName[]): CounterName[] =>
  lines.filter((line) => line === 'activeBytes');

/**
 * A timeline of only some allocations: only these are stacked, and the top of the stack is the sum of their blocks at
 * every event. Memory: 20 B per allocation for its columns, 4 B for the order of ends, 8 B per 64 events.
 * @param mask by AllocationIndex, 1 = included
 * @returns `ids`: row of the index → allocation, ascending
 */
export function matchingTimeline(
  allocations: StackedAllocations,
  mask: Uint8Array,
  eventCount: number,
  timeUs: NarrowColumn | undefined,
): { readonly index: TimelineIndex; readonly ids: Int32Array } {
  const ids = idsOf(mask);
  const matching: StackedAllocations = {
    length: ids.length,
    preexisting: lowerBound(ids, allocations.preexisting),
    start: ids.map((id) => allocations.start[id]),
    freeRequested: ids.map((id) => allocations.freeRequested[id]),
    end: ids.map((id) => allocations.end[id]),
    sizeBytes: new Float64Array(ids).map((id) => allocations.sizeBytes[id]),
  };
  const bytes = new LiveBytes(matching, new Uint8Array(ids.length), 1, eventCount);
  const index = new TimelineIndex(
    {
      allocations: matching,
      fillCounter(name, from, out) {
        if (name !== 'activeBytes') throw new RangeError(`No ${name} of some allocations`);
        bytes.fill(from, out);
      },
    },
    eventCount,
    timeUs,
  );
  return { index, ids };
}

/** Row of an allocation in `ids`, which ascend; -1 if it is not among them. */
export function rowIn(ids: Int32Array, id: AllocationIndex): number {
  const row = lowerBound(ids, id);
  return ids[row] === id ? row : -1;
}

function idsOf(mask: Uint8Array): Int32Array {
  const ids = new Int32Array(mask.reduce((count, matches) => count + matches, 0));
  let row = 0;
  for (let id = 0; id < mask.length; id++) if (mask[id] === 1) ids[row++] = id;
  return ids;
}

/** Non-matching blocks: how far the "thin" color goes towards the background. */
const DIMMED_SHARE = 0.55;
/** Blocks that are not highlighted: how far their own color goes towards the background. */
const PALE_SHARE = 0.6;

/** The palette plus a last class for dimmed blocks. */
export function withDimmedClass<P extends Palette>(palette: P): P {
  const dimmed = mix(palette.thin, palette.background, DIMMED_SHARE);
  return { ...palette, classes: Uint32Array.of(...palette.classes, dimmed) };
}

/** Keeps the last result: for the same inputs a panned frame gets the same array, and can reuse its columns. */
export function lastOnly<A extends readonly unknown[], R>(
  make: (...args: A) => R,
): (...args: A) => R {
  let last: { readonly args: A; readonly made: R } | undefined;
  return (...args) => {
    if (last?.args.every((arg, i) => arg === args[i]) !== true)
      last = { args, made: make(...args) };
    return last.made;
  };
}

/** Keeps the classes of matching blocks; the others get the class `dim`. */
export const dimClasses = (classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array =>
  classOf.map((of, id) => (mask[id] === 1 ? of : dim));

/**
 * Classes for highlighted blocks and pale ones for the others, which keep their hue, with a palette for both. Classes of
 * one color are merged to make room.
 */
function highlightClasses(classOf: Uint8Array, palette: Palette, mask: Uint8Array) {
  const colors = [...new Set(palette.classes)].slice(0, MAX_CLASSES >> 1);
  const pale = colors.map((color) => mix(color, palette.background, PALE_SHARE));
  const bright = Uint8Array.from(palette.classes, (color) => Math.max(0, colors.indexOf(color)));
  return {
    classOf: classOf.map((of, id) => (bright[of] ?? 0) + (mask[id] === 1 ? 0 : colors.length)),
    palette: { ...palette, classes: Uint32Array.of(...colors, ...pale) },
  };
}
