/**
 * The figures of torch.cuda.memory_summary() after any event: what stands, the highest so far, and
 * the sums of all that went up and down, for all memory and for the small and the large pool.
 *
 * The replay's counters are for all memory. An event changes memory of one pool, that of its block or
 * segment, so its change of each counter is the change of that pool's: one walk over the events gives
 * all figures, kept every 65,536 events (0.8 kB each) and walked on from there.
 *
 * "Non-releasable allocs", a count of free pieces, is left out: it would need the free ranges of every event.
 */

import { endsWithoutFree } from '../../allocator/replay/trace-events.ts';
import type {
  AllocationIndex,
  AllocationTable,
  CounterName,
  Replay,
} from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';

/** Those that the replay counts. */
const COUNTERS = [
  'allocatedBytes',
  'activeBytes',
  'requestedBytes',
  'reservedBytes',
  'inactiveSplitBytes',
] as const satisfies readonly CounterName[];
export const STAT_NAMES = [...COUNTERS, 'allocations', 'activeAllocations', 'segments'] as const;
/** As memory_stats() counts them: segments of expandable memory are not among `segments`. */
export type StatName = (typeof STAT_NAMES)[number];

const POOL_NAMES = ['all', 'large', 'small'] as const;
export type PoolName = (typeof POOL_NAMES)[number];

/** Bytes, or a number of blocks or segments. */
export interface StatFigures {
  readonly current: number;
  readonly peak: number;
  /** Sum of all rises and of all falls so far: current = allocated - freed. */
  readonly allocated: number;
  readonly freed: number;
}

export type PoolFigures = { readonly [K in StatName]: StatFigures };

export interface MemoryFigures {
  /** The figures stand after this event; -1: before the first. */
  readonly event: EventIndex;
  /**
   * False when the trace does not begin with the process: then peak, allocated and freed are those
   * of the recorded part (what stood before counts as allocated), the least that the real ones can be.
   */
  readonly isWhole: boolean;
  readonly pools: { readonly [P in PoolName]: PoolFigures };
}

/** Places of the figures in a pool's part of a row, and of the pools in a row. */
const ALLOCATED = 0;
const ACTIVE = 1;
const REQUESTED = 2;
const RESERVED = 3;
const INACTIVE_SPLIT = 4;
const ALLOCATIONS = 5;
const ACTIVE_ALLOCATIONS = 6;
const SEGMENTS = 7;
const ALL = 0;
const LARGE = 1;
const SMALL = 2;

/** A figure's fields in a row: current, peak, allocated, freed. */
const FIELDS = 4;
const ROW = POOL_NAMES.length * STAT_NAMES.length * FIELDS;
const STEP_BITS = 16;
/** Events whose counters are filled at a time. */
const CHUNK = 1 << 12;

export class MemoryStats {
  readonly #replay: Replay;
  readonly #eventCount: number;
  readonly #isWhole: boolean;
  readonly #segmentEvents: ReadonlyMap<EventIndex, SegmentEvent>;
  /** Allocations that ended at an event which is not theirs: those of traces that contradict themselves. */
  readonly #endedBy: ReadonlyMap<EventIndex, readonly AllocationIndex[]>;
  /** Figures before event k << STEP_BITS. */
  readonly #checkpoints: Float64Array[];
  readonly #values = COUNTERS.map(() => new Float64Array(CHUNK));

  constructor({ replay, trace }: Pick<DeviceModel, 'replay' | 'trace'>) {
    this.#replay = replay;
    this.#eventCount = trace.events.length;
    this.#isWhole = replay.recording === 'complete';
    this.#segmentEvents = segmentEvents(replay);
    this.#endedBy = endsWithoutFree(replay, 'end');
    this.#checkpoints = [startRow(replay)];
  }

  /** Events still to be counted before an event can be answered; `count` lowers it by 65,536. */
  missing(event: EventIndex): number {
    const step = this.#clamp(event) >>> STEP_BITS;
    return Math.max(0, step + 1 - this.#checkpoints.length) << STEP_BITS;
  }

  /** Counts the next 65,536 events, for those who answer in slices. At the end it does nothing. */
  count(): void {
    const next = this.#checkpoints.length;
    if (next << STEP_BITS > this.#eventCount) return;
    const row = this.#checkpoints[next - 1].slice();
    this.#walk(row, (next - 1) << STEP_BITS, next << STEP_BITS);
    this.#checkpoints.push(row);
  }

  /** Figures after an event; events beyond the ends are taken as -1 and the last. */
  at(event: EventIndex): MemoryFigures {
    const last = this.#clamp(event);
    while (this.missing(last) > 0) this.count();
    const from = Math.max(0, last) >>> STEP_BITS;
    const row = this.#checkpoints[from].slice();
    this.#walk(row, from << STEP_BITS, last + 1);
    return { event: last, isWhole: this.#isWhole, pools: figuresOf(row) };
  }

  #clamp(event: EventIndex): EventIndex {
    return Math.max(-1, Math.min(event, this.#eventCount - 1));
  }

  #walk(row: Float64Array, from: EventIndex, to: EventIndex): void {
    for (let first = from; first < to; first += CHUNK) {
      this.#walkChunk(row, first, Math.min(to, first + CHUNK));
    }
  }

  #walkChunk(row: Float64Array, from: EventIndex, to: EventIndex): void {
    const { allocationOfEvent, allocations } = this.#replay;
    const { isSmall } = allocations;
    const hasOthers = this.#endedBy.size > 0;
    COUNTERS.forEach((name, c) => {
      this.#replay.fillCounter(name, from, this.#values[c].subarray(0, to - from));
    });
    for (let t = from; t < to; t++) {
      const id = allocationOfEvent[t];
      const segment = id < 0 ? this.#segmentEvents.get(t) : undefined;
      const pool = (id < 0 ? segment?.isSmall : isSmall[id] === 1) ? SMALL : LARGE;
      for (let c = 0; c < COUNTERS.length; c++) {
        const change = this.#values[c][t - from] - row[c * FIELDS];
        if (change !== 0) add(row, pool, c, change);
      }
      if (id >= 0) countBlock(row, allocations, id, t);
      else if (segment !== undefined && segment.segments !== 0) {
        add(row, pool, SEGMENTS, segment.segments);
      }
      if (!hasOthers) continue;
      for (const other of this.#endedBy.get(t) ?? []) countBlock(row, allocations, other, t);
    }
  }
}

/** What an event means to the number of blocks: one allocation's begin, its request to be freed, its end. */
function countBlock(
  row: Float64Array,
  { isSmall, start, freeRequested, end }: AllocationTable,
  id: AllocationIndex,
  event: EventIndex,
): void {
  const pool = isSmall[id] === 1 ? SMALL : LARGE;
  if (start[id] === event) addBlock(row, pool, 1, 1);
  if (freeRequested[id] === event) addBlock(row, pool, -1, 0);
  if (end[id] === event) {
    const wasAllocated = freeRequested[id] > event;
    addBlock(row, pool, wasAllocated ? -1 : 0, -1);
  }
}

function addBlock(row: Float64Array, pool: number, allocated: number, active: number): void {
  if (allocated !== 0) add(row, pool, ALLOCATIONS, allocated);
  if (active !== 0) add(row, pool, ACTIVE_ALLOCATIONS, active);
}

/** A change of one pool's figure, and of that for all memory. */
function add(row: Float64Array, pool: number, stat: number, change: number): void {
  addTo(row, stat * FIELDS, change);
  addTo(row, (pool * STAT_NAMES.length + stat) * FIELDS, change);
}

function addTo(row: Float64Array, at: number, change: number): void {
  row[at] += change;
  if (change < 0) {
    row[at + 3] -= change;
    return;
  }
  row[at + 2] += change;
  if (row[at] > row[at + 1]) row[at + 1] = row[at];
}

interface SegmentEvent {
  readonly isSmall: boolean;
  /** Segments more, or less; 0 for pages of an expandable segment. */
  readonly segments: number;
}

function segmentEvents({ segmentSpans }: Replay): Map<EventIndex, SegmentEvent> {
  const { length, start, end, isSmall, isExpandable } = segmentSpans;
  const events = new Map<EventIndex, SegmentEvent>();
  for (let row = 0; row < length; row++) {
    const one = isExpandable[row] === 1 ? 0 : 1;
    events.set(start[row], { isSmall: isSmall[row] === 1, segments: one });
    events.set(end[row], { isSmall: isSmall[row] === 1, segments: -one });
  }
  return events;
}

/** Before the first event: what stood counts as allocated once, and is the highest so far. */
function startRow(replay: Replay): Float64Array {
  const row = new Float64Array(ROW);
  const { allocations, segmentSpans: spans } = replay;
  for (let id = 0; id < allocations.preexisting; id++) {
    const pool = allocations.isSmall[id] === 1 ? SMALL : LARGE;
    const isAllocated = allocations.freeRequested[id] >= 0;
    addBlock(row, pool, isAllocated ? 1 : 0, 1);
    if (isAllocated) add(row, pool, ALLOCATED, allocations.sizeBytes[id]);
    add(row, pool, ACTIVE, allocations.sizeBytes[id]);
    add(row, pool, REQUESTED, allocations.requestedBytes[id] || 0);
  }
  for (let i = 0; i < spans.length; i++) {
    if (spans.start[i] >= 0) continue;
    const pool = spans.isSmall[i] === 1 ? SMALL : LARGE;
    add(row, pool, RESERVED, spans.sizeBytes[i]);
    if (spans.isExpandable[i] === 0) add(row, pool, SEGMENTS, 1);
  }
  for (const { isSmall, bytes } of splitSegmentsAtStart(replay)) {
    add(row, isSmall ? SMALL : LARGE, INACTIVE_SPLIT, bytes);
  }
  return row;
}

/** Free bytes in segments from before the trace that are partly in use; expandable ones do not count. */
function splitSegmentsAtStart({ allocations, segmentSpans: spans }: Replay) {
  const rows: number[] = [];
  for (let i = 0; i < spans.length; i++) {
    if (spans.start[i] < 0 && spans.isExpandable[i] === 0) rows.push(i);
  }
  rows.sort((a, b) => spans.address[a] - spans.address[b]);
  const addresses = Float64Array.from(rows, (row) => spans.address[row]);
  const activeBytes = new Float64Array(rows.length);
  for (let id = 0; id < allocations.preexisting; id++) {
    const at = upperBound(addresses, allocations.address[id]) - 1;
    if (at < 0) continue;
    const row = rows[at];
    const isInside = allocations.address[id] < spans.address[row] + spans.sizeBytes[row];
    if (isInside) activeBytes[at] += allocations.sizeBytes[id];
  }
  return rows.flatMap((row, at) => {
    const bytes = spans.sizeBytes[row] - activeBytes[at];
    return activeBytes[at] === 0 ? [] : [{ isSmall: spans.isSmall[row] === 1, bytes }];
  });
}

function figuresOf(row: Float64Array): MemoryFigures['pools'] {
  const stat = (pool: number, name: number): StatFigures => {
    const at = (pool * STAT_NAMES.length + name) * FIELDS;
    return { current: row[at], peak: row[at + 1], allocated: row[at + 2], freed: row[at + 3] };
  };
  const pool = (of: number): PoolFigures => ({
    allocatedBytes: stat(of, ALLOCATED),
    activeBytes: stat(of, ACTIVE),
    requestedBytes: stat(of, REQUESTED),
    reservedBytes: stat(of, RESERVED),
    inactiveSplitBytes: stat(of, INACTIVE_SPLIT),
    allocations: stat(of, ALLOCATIONS),
    activeAllocations: stat(of, ACTIVE_ALLOCATIONS),
    segments: stat(of, SEGMENTS),
  });
  return { all: pool(ALL), large: pool(LARGE), small: pool(SMALL) };
}
