/**
 * What drawing needs beyond the replay. Small: 5.7 M events and 1.9 M allocations take about 0.13 MB (max-end pyramid)
 * + 0.4 MB (next ids) + 1.5 MB per counter + 0.7 MB (times).
 *
 * States are raw event indices: state t holds after event t, and an allocation is live in start <= t < end. Heights are
 * true block bytes, so the top of the stack is the active counter.
 */

import type {
  AllocationIndex,
  AllocationTable,
  CounterName,
  Replay,
} from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { getOrMake } from '../../base/collections.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { StackRange } from '../../device/model/allocation-details.ts';
import { findTimeFolds, type TimeFolds } from '../../device/model/events.ts';
import { hasWaits } from '../../device/model/waits.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { CounterBlocks } from './counter-blocks.ts';
import { type LiveBytes, NO_LAYER } from './live-bytes.ts';
import { MaxEndPyramid } from './max-end-pyramid.ts';

const CHECKPOINT_BITS = 6;

/** The columns needed to draw the stack. */
export type StackedAllocations = Pick<
  AllocationTable,
  'length' | 'preexisting' | 'start' | 'freeRequested' | 'end' | 'sizeBytes'
>;

/** A replay, or anything drawn like one. */
export interface DrawnReplay<A extends StackedAllocations = StackedAllocations>
  extends Pick<Replay, 'fillCounter'> {
  readonly allocations: A;
}

export class TimelineIndex<A extends StackedAllocations = StackedAllocations> {
  readonly eventCount: number;
  readonly allocations: A;
  readonly maxEnd: MaxEndPyramid;
  /** Undefined if the events have no times; then only the event axis can be drawn. */
  readonly times: SampledTimes | undefined;
  readonly #replay: DrawnReplay<A>;
  /** nextIds[k] allocations started before event 64 k. */
  readonly #nextIds: Int32Array;
  readonly #counters: Map<CounterName, CounterBlocks>;
  #hasWaits: boolean | undefined;

  /**
   * @param eventCount events of the device's trace
   * @param timeUs the trace's times, undefined if it has none
   * @param counters extremes of counters that are already known
   */
  constructor(
    replay: DrawnReplay<A>,
    eventCount: number,
    timeUs?: NarrowColumn,
    counters: ReadonlyMap<CounterName, CounterBlocks> = new Map(),
  ) {
    this.#replay = replay;
    this.#counters = new Map(counters);
    this.eventCount = eventCount;
    this.allocations = replay.allocations;
    this.maxEnd = new MaxEndPyramid(replay.allocations.end);
    this.times = timeUs === undefined ? undefined : new SampledTimes(timeUs);
    this.#nextIds = buildNextIds(replay.allocations, eventCount);
    this.counter('activeBytes');
  }

  /** Highest sum of the live blocks after any event; 0 without events. */
  get peakBytes(): number {
    const { eventCount } = this;
    return eventCount === 0 ? 0 : this.counter('activeBytes').highest(0, eventCount - 1);
  }

  /** Whether any block is drawn as waiting for another stream. */
  get hasWaits(): boolean {
    this.#hasWaits ??= hasWaits(this.allocations);
    return this.#hasWaits;
  }

  /** Number of allocations that started at or before event `state`; only lower ids can be live at it. */
  nextId(state: EventIndex): AllocationIndex {
    const started = state + 1;
    const block = started >> CHECKPOINT_BITS;
    const nextIds = this.#nextIds;
    return lowerBound(this.allocations.start, started, nextIds[block], nextIds[block + 1]);
  }

  /** Extremes of a counter. The first call for a counter other than active reads the whole trace. */
  counter(name: CounterName): CounterBlocks {
    const make = () => new CounterBlocks(this.#replay, name, this.eventCount);
    return getOrMake(this.#counters, name, make);
  }
}

/** One entry per 64 events, and a last one with all allocations. */
function buildNextIds(allocations: StackedAllocations, eventCount: number): Int32Array {
  const { start, length } = allocations;
  const nextIds = new Int32Array((eventCount >> CHECKPOINT_BITS) + 2);
  let id = 0;
  for (let k = 0; k < nextIds.length - 1; k++) {
    const event = k << CHECKPOINT_BITS;
    while (id < length && start[id] < event) id++;
    nextIds[k] = id;
  }
  nextIds[nextIds.length - 1] = length;
  return nextIds;
}

/**
 * The allocations that overlap bytes `bytesFrom` to `bytesTo` (from the bottom of the stack) at a state. Computed from
 * the pyramid rather than from pixels, so it finds even what they cannot show. Cost grows with the number of live
 * allocations: 10 us for 1,000.
 * @param layers where the stack is ordered by layer
 */
export function stackHits(
  index: TimelineIndex,
  state: EventIndex,
  bytesFrom: number,
  bytesTo: number,
  layers?: LiveBytes,
): StackRange {
  const { sizeBytes } = index.allocations;
  const bottoms = layers?.bottomsAt(Math.max(0, state)) ?? new Float64Array(1);
  const ids: AllocationIndex[] = [];
  const found = { ids, totalBytes: 0, main: -1, mainBottomBytes: 0 };
  let most = 0;
  for (const live of index.maxEnd.live(state, state < 0 ? 0 : index.nextId(state))) {
    for (const id of live) {
      const layer = layers?.layerOf[id] ?? 0;
      if (layer === NO_LAYER) continue;
      const bottom = bottoms[layer];
      if (layers === undefined && bottom >= bytesTo) return found;
      bottoms[layer] += sizeBytes[id];
      const overlap = Math.min(bottoms[layer], bytesTo) - Math.max(bottom, bytesFrom);
      if (overlap > 0) {
        ids.push(id);
        found.totalBytes += sizeBytes[id];
      }
      if (overlap > most) {
        most = overlap;
        found.main = id;
        found.mainBottomBytes = bottom;
      }
    }
  }
  return found;
}

const SAMPLE_BITS = 6;
const SAMPLE = 1 << SAMPLE_BITS;

/**
 * Finds events by time. A plain binary search over 5.7 M times misses the CPU cache at each step, so we first search
 * every 64th time (0.7 MB) and then inside one block of 64. Times on the axis are microseconds since the first event.
 */
export class SampledTimes {
  /** From the first to the last event; 0 without events. */
  readonly durationUs: number;
  readonly #timeUs: NarrowColumn;
  readonly #originUs: number;
  /** Time of the last event of each whole block of 64. */
  readonly #samples: Float64Array;
  #folds: TimeFolds | undefined;

  constructor(timeUs: NarrowColumn) {
    this.#timeUs = timeUs;
    this.#originUs = timeUs.length > 0 ? timeUs[0] : 0;
    this.durationUs = timeUs.length > 0 ? timeUs[timeUs.length - 1] - timeUs[0] : 0;
    this.#samples = new Float64Array(timeUs.length >> SAMPLE_BITS);
    for (let i = 0; i < this.#samples.length; i++) {
      this.#samples[i] = timeUs[i * SAMPLE + SAMPLE - 1];
    }
  }

  /** Its idle gaps; the first call reads the whole trace. */
  get folds(): TimeFolds {
    this.#folds ??= findTimeFolds(this.#timeUs);
    return this.#folds;
  }

  /** Time of an event since the first one. */
  of(event: EventIndex): number {
    return this.#timeUs[event] - this.#originUs;
  }

  /** Number of events before `sinceFirstUs`; also the first event at or after it. */
  countBefore(sinceFirstUs: number): number {
    const timeUs = this.#originUs + sinceFirstUs;
    const from = lowerBound(this.#samples, timeUs) * SAMPLE;
    return lowerBound(this.#timeUs, timeUs, from, Math.min(from + SAMPLE, this.#timeUs.length));
  }

  /** The event whose state holds at a time: the last one at or before it; -1 before the first. */
  eventAt(sinceFirstUs: number): EventIndex {
    const timeUs = this.#originUs + sinceFirstUs;
    const from = upperBound(this.#samples, timeUs) * SAMPLE;
    return upperBound(this.#timeUs, timeUs, from, Math.min(from + SAMPLE, this.#timeUs.length)) - 1;
  }
}
