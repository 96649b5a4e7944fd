/**
 * The figures of torch.cuda.memory_summary() after any event: current, peak so far, and total allocated and freed, for
 * all memory and for the small and the large pool.
 *
 * The replay's counters cover all memory. Each event changes only one pool (its block's or segment's), so its change of
 * a counter is that pool's change. One walk over the events gives all figures; checkpoints every 65,536 events (0.8 kB
 * each) let later queries start nearby.
 *
 * "Non-releasable allocs", a count of free pieces, is omitted: it would need the free ranges at every event.
 */

import { endsWithoutFree } from '../../allocator/replay/trace-events.ts';
import type {
  AllocationIndex,
  AllocationTable,
  CounterName,
  Replay,
} from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import type { Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';

/** Counted by the replay. */
const COUNTERS = [
  'allocatedBytes',
  'activeBytes',
  'requestedBytes',
  'reservedBytes',
  'inactiveSplitBytes',
] as const satisfies readonly CounterName[];
export const STAT_NAMES = [...COUNTERS, 'allocations', 'activeAllocations', 'segments'] as const;
/** As memory_stats() counts them: `segments` excludes expandable segments. */
export type StatName = (typeof STAT_NAMES)[number];

const POOL_NAMES = ['all', 'large', 'small'] as const;
export type PoolName = (typeof POOL_NAMES)[number];

/** Bytes, or a number of blocks or segments. */
export interface StatFigures {
  readonly current: number;
  readonly peak: number;
  /** Sum of all increases and of all decreases so far: current = allocated - freed. */
  readonly allocated: number;
  readonly freed: number;
}

export type PoolFigures = { readonly [K in StatName]: StatFigures };

export interface MemoryFigures {
  /** The figures hold after this event; -1: before the first. */
  readonly event: EventIndex;
  /**
   * False if the trace starts after the process: peak, allocated and freed then cover only the recorded part (memory
   * held at its start counts as allocated), so the real values may be higher.
   */
  readonly isWhole: boolean;
  readonly pools: { readonly [P in PoolName]: PoolFigures };
}

/** Offsets of the figures within a pool's part of a row, and of the pools within a row. */
const AT = Object.fromEntries(STAT_NAMES.map((name, place) => [name, place])) as {
  readonly [K in StatName]: number;
};
const LARGE = POOL_NAMES.indexOf('large');
const SMALL = POOL_NAMES.indexOf('small');

/** A figure's fields in a row: current, peak, allocated, freed. */
const FIELDS = 4;
const ROW = POOL_NAMES.length * STAT_NAMES.length * FIELDS;
const STEP_BITS = 16;
/** Number of events for which counters are filled at a time. */
const CHUNK = 1 << 12;

export class MemoryStats {
  readonly #replay: Replay;
  readonly #eventCount: number;
  /** Row of the segment that an event reserves or releases. */
  readonly #spanOf = new Map<EventIndex, number>();
  /** Allocations ended by an event that is not theirs; only in traces that contradict themselves. */
  readonly #endedBy: ReadonlyMap<EventIndex, readonly AllocationIndex[]>;
  /** Figures before event k << STEP_BITS. */
  readonly #checkpoints: Float64Array[];
  readonly #values = COUNTERS.map(() => new Float64Array(CHUNK));

  constructor({ replay, trace }: Pick<DeviceModel, 'replay' | 'trace'>) {
    this.#replay = replay;
    this.#eventCount = trace.events.length;
    const { length, start, end } = replay.segmentSpans;
    for (let span = 0; span < length; span++) {
      this.#spanOf.set(start[span], span).set(end[span], span);
    }
    this.#endedBy = endsWithoutFree(replay, 'end');
    this.#checkpoints = [startRow(replay)];
  }

  /** Figures after an event; events outside the trace are clamped to -1 and the last. */
  *at(event: EventIndex): Task<MemoryFigures> {
    const last = Math.max(-1, Math.min(event, this.#eventCount - 1));
    const step = Math.max(0, last) >>> STEP_BITS;
    for (let next = this.#checkpoints.length; next <= step; next++) {
      const row = this.#checkpoints[next - 1].slice();
      this.#walk(row, (next - 1) << STEP_BITS, next << STEP_BITS);
      this.#checkpoints.push(row);
      yield;
    }
    const row = this.#checkpoints[step].slice();
    this.#walk(row, step << STEP_BITS, last + 1);
    const isWhole = this.#replay.recording === 'complete';
    return { event: last, isWhole, pools: figuresOf(row) };
  }

  #walk(row: Float64Array, from: EventIndex, to: EventIndex): void {
    for (let first = from; first < to; first += CHUNK) {
      this.#walkChunk(row, first, Math.min(to, first + CHUNK));
    }
  }

  #walkChunk(row: Float64Array, from: EventIndex, to: EventIndex): void {
    const { allocationOfEvent, allocations, segmentSpans: spans } = this.#replay;
    COUNTERS.forEach((name, c) => {
      this.#replay.fillCounter(name, from, this.#values[c].subarray(0, to - from));
    });
    for (let t = from; t < to; t++) {
      const id = allocationOfEvent[t];
      const span = id < 0 ? (this.#spanOf.get(t) ?? -1) : -1;
      const pool = id < 0 ? poolOf(spans, span) : poolOf(allocations, id);
      for (let c = 0; c < COUNTERS.length; c++) {
        const change = this.#values[c][t - from] - row[c * FIELDS];
        if (change !== 0) add(row, pool, c, change);
      }
      if (id >= 0) countBlock(row, allocations, id, t);
      else if (spans.isExpandable[span] === 0) {
        add(row, pool, AT.segments, spans.start[span] === t ? 1 : -1);
      }
      if (this.#endedBy.size === 0) continue;
      for (const other of this.#endedBy.get(t) ?? []) countBlock(row, allocations, other, t);
    }
  }
}

/** LARGE for a row of -1. */
const poolOf = ({ isSmall }: Pick<AllocationTable, 'isSmall'>, row: number): number =>
  isSmall[row] === 1 ? SMALL : LARGE;

/** An event's effect on the number of blocks: an allocation begins, is requested to be freed, or ends. */
function countBlock(
  row: Float64Array,
  allocations: AllocationTable,
  id: AllocationIndex,
  event: EventIndex,
): void {
  const { start, freeRequested, end } = allocations;
  const pool = poolOf(allocations, id);
  if (start[id] === event) {
    add(row, pool, AT.allocations, 1);
    add(row, pool, AT.activeAllocations, 1);
  }
  const freed = Math.min(freeRequested[id], end[id]);
  if (freed === event) add(row, pool, AT.allocations, -1);
  if (end[id] === event) add(row, pool, AT.activeAllocations, -1);
}

/** Changes a figure for one pool and for all memory. */
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

/** Before the first event: existing memory counts as allocated once and as the peak. */
function startRow({ allocations, segmentSpans: spans }: Replay): Float64Array {
  const row = new Float64Array(ROW);
  const reserved: number[] = [];
  for (let span = 0; span < spans.length; span++) if (spans.start[span] < 0) reserved.push(span);
  reserved.sort((a, b) => spans.address[a] - spans.address[b]);
  const addresses = Float64Array.from(reserved, (span) => spans.address[span]);
  const activeBytes = new Float64Array(spans.length);
  for (let id = 0; id < allocations.preexisting; id++) {
    const pool = poolOf(allocations, id);
    const bytes = allocations.sizeBytes[id];
    if (allocations.freeRequested[id] >= 0) {
      add(row, pool, AT.allocations, 1);
      add(row, pool, AT.allocatedBytes, bytes);
    }
    add(row, pool, AT.activeAllocations, 1);
    add(row, pool, AT.activeBytes, bytes);
    add(row, pool, AT.requestedBytes, allocations.requestedBytes[id] || 0);
    const span = reserved[upperBound(addresses, allocations.address[id]) - 1] ?? -1;
    const isInside = allocations.address[id] < spans.address[span] + spans.sizeBytes[span];
    if (isInside) activeBytes[span] += bytes;
  }
  for (const span of reserved) {
    const pool = poolOf(spans, span);
    add(row, pool, AT.reservedBytes, spans.sizeBytes[span]);
    if (spans.isExpandable[span] === 1) continue;
    add(row, pool, AT.segments, 1);
    // Free bytes of a partly used segment.
    const freeBytes = spans.sizeBytes[span] - activeBytes[span];
    if (activeBytes[span] > 0) add(row, pool, AT.inactiveSplitBytes, freeBytes);
  }
  return row;
}

function figuresOf(row: Float64Array): MemoryFigures['pools'] {
  const figures = POOL_NAMES.map((pool, p) => {
    const stats = STAT_NAMES.map((name, s) => {
      const at = (p * STAT_NAMES.length + s) * FIELDS;
      const [current, peak, allocated, freed] = row.subarray(at, at + FIELDS);
      return [name, { current, peak, allocated, freed }];
    });
    return [pool, Object.fromEntries(stats)];
  });
  return Object.fromEntries(figures);
}
