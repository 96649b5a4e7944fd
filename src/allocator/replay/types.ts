/**
 * The results of replaying a device's trace: allocations with lifetimes and true block sizes, and the five counters at
 * any event, equal to torch.cuda.memory_stats() to the byte.
 */
import { pick, type TableOf, type TableSchema } from '../../base/table.ts';
import {
  EVENT_COLUMNS,
  type EventIndex,
  type EventTable,
  type Pool,
} from '../../format/snapshot/tables.ts';

export const REPLAYED_COLUMNS = pick(EVENT_COLUMNS, [
  'action',
  'address',
  'sizeBytes',
  'stream',
  'stack',
  'pool',
]);
export type ReplayedEvents = Pick<EventTable, keyof typeof REPLAYED_COLUMNS>;

/** Row of {@link AllocationTable}: allocations from before the trace come first, then in order of alloc event. */
export type AllocationIndex = number;

/** `end` and `freeRequested` of an allocation that still exists when the trace ends. */
export const NEVER: EventIndex = 2 ** 31 - 1;
/** `start` of an allocation that existed before the first event. */
export const BEFORE_TRACE: EventIndex = -1;

export const ALLOCATION_COLUMNS = {
  /** Alloc event, or {@link BEFORE_TRACE}. Not decreasing. */
  start: { type: 'i32' },
  /** free_requested event, or NEVER. Allocated bytes fall here. */
  freeRequested: { type: 'i32' },
  /** free_completed event, or NEVER. Active and requested bytes fall here. */
  end: { type: 'i32' },
  address: { type: 'f64' },
  /** Requested bytes; NaN if unknown (a pre-trace allocation freed in the trace by an event without the size). */
  requestedBytes: { type: 'f64', mayNarrow: true },
  /** True bytes of the block, including rounding and unsplit remainder. */
  sizeBytes: { type: 'f64', mayNarrow: true },
  stream: { type: 'u16', ref: 'stream' },
  pool: { type: 'u16', ref: 'pool' },
  /** 1 = in a small-pool segment. */
  isSmall: { type: 'u8' },
  /** Stack of the allocation; NO_STACK, never an empty one, if allocated before recording and unknown. */
  stack: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/** The lifetime of one block. State t is the state after event t. The block is live in states start <= t < end. */
export interface AllocationTable extends TableOf<typeof ALLOCATION_COLUMNS> {
  /** Number of allocations from before the trace; they come first. */
  readonly preexisting: number;
}

export const SEGMENT_SPAN_COLUMNS = {
  start: { type: 'i32' },
  end: { type: 'i32' },
  address: { type: 'f64' },
  sizeBytes: { type: 'f64' },
  stream: { type: 'u16', ref: 'stream' },
  pool: { type: 'u16', ref: 'pool' },
  isSmall: { type: 'u8' },
  isExpandable: { type: 'u8' },
  stack: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/** The life of a segment or expandable mapping. Expandable memory has one row per mapped piece. */
export type SegmentSpanTable = TableOf<typeof SEGMENT_SPAN_COLUMNS>;

export const COUNTER_NAMES = [
  'requestedBytes',
  'allocatedBytes',
  'activeBytes',
  'reservedBytes',
  'inactiveSplitBytes',
] as const;
export type CounterName = (typeof COUNTER_NAMES)[number];

export type PerCounter<V> = { readonly [K in CounterName]: V };

/** Calls `make` for each counter, with its index in {@link COUNTER_NAMES}. */
export function perCounter<V>(make: (name: CounterName, place: number) => V): PerCounter<V> {
  const values = COUNTER_NAMES.map((name, place) => [name, make(name, place)]);
  return Object.fromEntries(values);
}

export type Counters = PerCounter<number>;

/** Highest value of one counter and the first event after which it was reached (-1: before the trace). */
export interface Peak {
  readonly bytes: number;
  readonly event: EventIndex;
}

/**
 * How much of the process the trace shows.
 * complete: nothing existed before. preexisting: blocks or segments existed before the first event (recording began
 * late). truncated: the ring dropped the oldest entries. none: no events at all.
 * Late and truncated look alike unless the file says that the ring overflowed; see `recordingReason`.
 */
export type Recording = 'complete' | 'preexisting' | 'truncated' | 'none';

/** An event that contradicts the state. It is kept and counted, and replay continues. */
export interface Anomaly {
  readonly event: EventIndex;
  readonly message: string;
}

export interface Replay {
  readonly allocations: AllocationTable;
  readonly segmentSpans: SegmentSpanTable;
  readonly recording: Recording;
  /** One sentence for the user: why `recording` has this value. */
  readonly recordingReason: string;
  readonly start: Counters;
  readonly end: Counters;
  readonly peaks: PerCounter<Peak>;
  /** The count of all anomalies, and the first 100 of them. */
  readonly anomalyCount: number;
  readonly anomalies: readonly Anomaly[];
  /** Allocation of an alloc, free_requested or free_completed event; -1 for others. */
  readonly allocationOfEvent: Int32Array;
  /** Counters after event t; t = -1 gives `start`. Reads one checkpoint and at most 63 events. */
  countersAt(event: EventIndex): Counters;
  /** Sets out[i] to one counter after event from + i, for whole ranges (lines on the timeline). */
  fillCounter(name: CounterName, from: EventIndex, out: Float64Array): void;
}

/** The columns of a replay that are copied to another thread: everything that findings and the simulator read. */
export type ReplayColumns = Pick<
  Replay,
  | 'allocations'
  | 'segmentSpans'
  | 'recording'
  | 'recordingReason'
  | 'start'
  | 'end'
  | 'peaks'
  | 'anomalyCount'
  | 'allocationOfEvent'
>;

/** Whether it belongs to a CUDA graph or a MemPool. Undefined (a file without pools) is the default pool. */
export const isPrivatePool = (pool: Pool | undefined): boolean =>
  pool !== undefined && (pool.id[0] !== 0 || pool.id[1] !== 0);
