/**
 * What a snapshot is, whatever PyTorch version wrote it: tables of equal-length columns.
 * Every quirk of a version ends before this file; every layer above reads these tables.
 *
 * Index types are documented aliases, -1 means none. Bytes and addresses are float64 (exact below
 * 2^53; addresses above go through `AddressSpace`). Times are microseconds of the recorder's clock.
 */
import type { AddressSpace } from '../base/address.ts';

export type StringIndex = number;
export type FrameIndex = number;
/** Row of {@link StackTable}; see {@link NO_STACK} and {@link EMPTY_STACK} for the special two. */
export type StackIndex = number;
/** Position in one device's trace, 0 = oldest entry kept. */
export type EventIndex = number;
export type PoolIndex = number;

/** The entry has no `frames` key: no context was recorded. */
export const NO_STACK: StackIndex = -1;
/** `frames: []`: context was recorded, the thread had no Python stack (autograd's backward threads). */
export const EMPTY_STACK: StackIndex = 0;

/** Strings, each once. Row 0 is ''. */
export interface StringTable {
  readonly length: number;
  get(index: StringIndex): string;
}

/** One source line in one function. Equal frames are one row. */
export interface FrameTable {
  readonly length: number;
  readonly name: Int32Array;
  readonly filename: Int32Array;
  /** 0 where the unwinder knew none. */
  readonly line: Int32Array;
  /** fx_node_op and friends, as written; only for the frames that have any. */
  readonly extras: ReadonlyMap<FrameIndex, Readonly<Record<string, string>>>;
}

/**
 * A prefix tree of call stacks, callers above callees. A stack is one row: its innermost frame and
 * the row of its caller's stack. Row 0 is the empty stack (frame -1, parent -1).
 * Example: main → train → alloc is rows 1 (main, parent 0), 2 (train, parent 1), 3 (alloc, parent 2).
 * Walking `parent` from 3 gives the frames innermost first, as PyTorch writes them. parent < row.
 */
export interface StackTable {
  readonly length: number;
  readonly frame: Int32Array;
  readonly parent: Int32Array;
}

/** Action of a trace entry; the numbers are ours. Unknown actions are kept, see `unknownActions`. */
export const TraceAction = {
  Alloc: 0,
  FreeRequested: 1,
  FreeCompleted: 2,
  SegmentAlloc: 3,
  SegmentFree: 4,
  SegmentMap: 5,
  SegmentUnmap: 6,
  Snapshot: 7,
  Oom: 8,
  Annotate: 9,
  UserDefined: 10,
  Unknown: 11,
} as const;
export type TraceAction = (typeof TraceAction)[keyof typeof TraceAction];

/** PyTorch's word for each {@link TraceAction}, in its order. */
export const ACTION_NAMES: readonly string[] = [
  'alloc',
  'free_requested',
  'free_completed',
  'segment_alloc',
  'segment_free',
  'segment_map',
  'segment_unmap',
  'snapshot',
  'oom',
  'annotate',
  'user_defined',
  'unknown',
];

/** A column that most snapshots lack. `undefined` in a table means that no event carries it. */
export interface EventTable {
  readonly length: number;
  /** {@link TraceAction} */
  readonly action: Uint8Array;
  /** 0 for oom and snapshot entries. */
  readonly address: Float64Array;
  /** alloc and free: requested bytes; segment_*: real bytes; oom: rounded; snapshot: total active. */
  readonly sizeBytes: Float64Array;
  /** Index into {@link DeviceTrace.streams}. */
  readonly stream: Uint16Array;
  readonly stack: Int32Array;
  /** Microseconds; undefined when the version wrote no time_us. Not decreasing in real traces. */
  readonly timeUs: Float64Array | undefined;
  /** Index into {@link DeviceTrace.pools}; undefined when events carry no pool_id (up to 2.11). */
  readonly pool: Uint16Array | undefined;
  /** StringIndex columns, each undefined when all events have the default ('N/A', '', none). */
  readonly compileContext: Int32Array | undefined;
  readonly userMetadata: Int32Array | undefined;
  readonly category: Int32Array | undefined;
  /** StringIndex of the forward frames joined by newlines. */
  readonly forwardFrames: Int32Array | undefined;
  /** oom entries only: bytes the driver said were free on the device. */
  readonly oomDeviceFreeBytes: ReadonlyMap<EventIndex, number>;
  /** Action words that are not in ACTION_NAMES, by event. */
  readonly unknownActions: ReadonlyMap<EventIndex, string>;
  /** Keys no version we know of writes: key → (event → value as text). At most 10,000 events a key. */
  readonly unknownKeys: ReadonlyMap<string, ReadonlyMap<EventIndex, string>>;
}

export const BlockState = { Inactive: 0, Allocated: 1, PendingFree: 2 } as const;
export type BlockState = (typeof BlockState)[keyof typeof BlockState];

/** Segments at the end of the trace, sorted by address. */
export interface SegmentTable {
  readonly length: number;
  readonly address: Float64Array;
  readonly totalBytes: Float64Array;
  readonly allocatedBytes: Float64Array;
  readonly activeBytes: Float64Array;
  readonly requestedBytes: Float64Array;
  readonly stream: Uint16Array;
  /** 1 = segment_type 'small' (2 MiB segments), 0 = 'large'. */
  readonly isSmall: Uint8Array;
  readonly pool: Uint16Array;
  readonly isExpandable: Uint8Array;
  readonly stack: Int32Array;
  /** Blocks of segment i are the rows firstBlock[i] to firstBlock[i + 1]; length + 1 entries. */
  readonly firstBlock: Int32Array;
}

/** Blocks of the final segments, in segment order, by address within a segment. */
export interface BlockTable {
  readonly length: number;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  /** Bytes the user asked for; 0 for inactive blocks, whose figure in the file is stale. */
  readonly requestedBytes: Float64Array;
  /** {@link BlockState} */
  readonly state: Uint8Array;
  readonly stack: Int32Array;
}

/**
 * The state before the first event, where a part was cut out of a recording; and what the whole
 * recording tells of its kind, which a part of it need not show.
 */
export interface InitialState {
  readonly segments: SegmentTable;
  readonly blocks: BlockTable;
  readonly hasFreeRequested: boolean;
  readonly hasFreeCompleted: boolean;
}

/** CUDA stream, by the handle in the file. 0 is the default stream. */
export interface Stream {
  readonly handle: bigint;
}

/** Memory pool id (capture id, handle id). (0, 0) is the default pool; all others are private. */
export interface Pool {
  readonly id: readonly [number, number];
}

export interface DeviceTrace {
  /** Device ordinal as PyTorch numbers it. */
  readonly device: number;
  /** 'host' is pinned memory (host_traces of 2.14); profiler files have a CPU device, also 'host'. */
  readonly kind: 'cuda' | 'host';
  readonly events: EventTable;
  readonly segments: SegmentTable;
  readonly blocks: BlockTable;
  readonly streams: readonly Stream[];
  readonly pools: readonly Pool[];
  /** The file says that the ring dropped entries: true/false; undefined when it does not say. */
  readonly ringOverflowed: boolean | undefined;
  /** PyTorch writes none: only parts that vramscope cut out have it. */
  readonly opening?: InitialState;
}

/** `record_function` ranges and the like. Points in time; pairing is up to the reader. */
export interface AnnotationTable {
  readonly length: number;
  /** 1 = START, 0 = END. */
  readonly isStart: Uint8Array;
  readonly name: Int32Array;
  readonly device: Int32Array;
  readonly timeUs: Float64Array;
}

/** One allocator setting as recorded: numbers, booleans, strings, or a dictionary of numbers. */
export type SettingValue = number | boolean | string | Readonly<Record<string, number>>;

export type WarningCode =
  | 'ring-truncated'
  | 'unknown-key'
  | 'unknown-action'
  | 'unpaired-annotation'
  | 'no-trace'
  | 'bad-value'
  | 'partial-file'
  | 'general-decoder'
  | 'other-files'
  | 'window';

/** Something the reader should know that is no error. */
export interface SnapshotWarning {
  readonly code: WarningCode;
  readonly message: string;
}

export interface Snapshot {
  readonly strings: StringTable;
  readonly frames: FrameTable;
  readonly stacks: StackTable;
  readonly addresses: AddressSpace;
  /** cuda devices by ordinal, then host. One for each trace in the file, also those without any event. */
  readonly devices: readonly DeviceTrace[];
  readonly annotations: AnnotationTable;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly SnapshotWarning[];
}
