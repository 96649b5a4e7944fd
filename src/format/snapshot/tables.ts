/**
 * What a snapshot is, whatever PyTorch version wrote it: tables of equal-length columns.
 * Every quirk of a version ends before this file; every layer above reads these tables.
 *
 * Index types are documented aliases, -1 means none. Bytes and addresses are float64 (exact below
 * 2^53; addresses above go through `AddressSpace`). Times are microseconds since `Snapshot.startUs`.
 */
import type { AddressSpace } from '../../base/address.ts';
import type { TableOf, TableSchema } from '../../base/table.ts';

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

/** The `ref` of columns here: 'string', 'frame', 'stack', 'stream', 'pool' and 'block'. */
export const FRAME_COLUMNS = {
  name: { type: 'i32', ref: 'string' },
  filename: { type: 'i32', ref: 'string' },
  /** 0 where the unwinder knew none. */
  line: { type: 'i32' },
} as const satisfies TableSchema;

/** One source line in one function. Equal frames are one row. */
export interface FrameTable extends TableOf<typeof FRAME_COLUMNS> {
  /** fx_node_op and friends, as written; only for the frames that have any. */
  readonly extras: ReadonlyMap<FrameIndex, Readonly<Record<string, string>>>;
}

export const STACK_COLUMNS = {
  frame: { type: 'i32', ref: 'frame', orNone: true },
  parent: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/**
 * A prefix tree of call stacks, callers above callees. A stack is one row: its innermost frame and
 * the row of its caller's stack. Row 0 is the empty stack (frame -1, parent -1).
 * Example: main → train → alloc is rows 1 (main, parent 0), 2 (train, parent 1), 3 (alloc, parent 2).
 * Walking `parent` from 3 gives the frames innermost first, as PyTorch writes them. parent < row.
 */
export type StackTable = TableOf<typeof STACK_COLUMNS>;

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

/**
 * Columns of a trace. One with a `pickleKey` is carried as the file has it: a text (i32, a 'string') or
 * a count (f64), undefined where every event has the default ('', 'N/A', None). To carry one more takes
 * a line here; the decoder, parts of a recording and reports then have it.
 */
export const EVENT_COLUMNS = {
  /** {@link TraceAction} */
  action: { type: 'u8', below: TraceAction.Unknown + 1 },
  /** 0 for oom and snapshot entries. */
  address: { type: 'f64', isCount: true },
  /** alloc and free: requested bytes; segment_*: real bytes; oom: rounded; snapshot: total active. */
  sizeBytes: { type: 'f64', isCount: true, mayNarrow: true },
  /** Index into {@link DeviceTrace.streams}. */
  stream: { type: 'u16', ref: 'stream' },
  stack: { type: 'i32', ref: 'stack', orNone: true },
  /** Since {@link Snapshot.startUs}; undefined when the version wrote no time_us. Not decreasing in real traces. */
  timeUs: { type: 'f64', mayNarrow: true, optional: true },
  /** Index into {@link DeviceTrace.pools}; undefined when events carry no pool_id (up to 2.11). */
  pool: { type: 'u16', ref: 'pool', optional: true },
  compileContext: carriedText('compile_context'),
  userMetadata: carriedText('user_metadata'),
  /** The profiler's word for what a tensor is: PARAMETER, ACTIVATION, … */
  category: carriedText('category'),
  /** The forward frames of anomaly mode, joined by newlines. */
  forwardFrames: carriedText('forward_frames'),
} as const satisfies TableSchema;

/** A text that most events lack: its string, or -1. */
function carriedText(pickleKey: string) {
  return { type: 'i32', ref: 'string', orNone: true, optional: true, pickleKey } as const;
}

type EventColumns = typeof EVENT_COLUMNS;

/** Columns with a `pickleKey`. */
export type CarriedColumn = {
  [K in keyof EventColumns]: EventColumns[K] extends { readonly pickleKey: string } ? K : never;
}[keyof EventColumns];

/** One device's trace. An optional column is undefined where no event says anything there. */
export interface EventTable extends TableOf<typeof EVENT_COLUMNS> {
  /** oom entries only: bytes the driver said were free on the device. */
  readonly oomDeviceFreeBytes: ReadonlyMap<EventIndex, number>;
  /** Action words that are not in ACTION_NAMES, by event. */
  readonly unknownActions: ReadonlyMap<EventIndex, string>;
  /** Keys no version we know of writes: key → (event → value as text). At most 10,000 events a key. */
  readonly unknownKeys: ReadonlyMap<string, ReadonlyMap<EventIndex, string>>;
}

export const BlockState = { Inactive: 0, Allocated: 1, PendingFree: 2 } as const;
export type BlockState = (typeof BlockState)[keyof typeof BlockState];

export const SEGMENT_COLUMNS = {
  address: { type: 'f64', isCount: true },
  totalBytes: { type: 'f64', isCount: true },
  allocatedBytes: { type: 'f64', isCount: true },
  activeBytes: { type: 'f64', isCount: true },
  requestedBytes: { type: 'f64', isCount: true },
  stream: { type: 'u16', ref: 'stream' },
  /** 1 = segment_type 'small' (2 MiB segments), 0 = 'large'. */
  isSmall: { type: 'u8' },
  pool: { type: 'u16', ref: 'pool' },
  isExpandable: { type: 'u8' },
  stack: { type: 'i32', ref: 'stack', orNone: true },
  /** Blocks of segment i are the rows firstBlock[i] to firstBlock[i + 1]; length + 1 entries. */
  firstBlock: { type: 'i32', ref: 'block', isEdges: true },
} as const satisfies TableSchema;

/** Segments at the end of the trace, sorted by address. */
export type SegmentTable = TableOf<typeof SEGMENT_COLUMNS>;

export const BLOCK_COLUMNS = {
  address: { type: 'f64', isCount: true },
  sizeBytes: { type: 'f64', isCount: true },
  /** Bytes the user asked for; 0 for inactive blocks, whose figure in the file is stale. */
  requestedBytes: { type: 'f64', isCount: true },
  /** {@link BlockState} */
  state: { type: 'u8', below: BlockState.PendingFree + 1 },
  stack: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/** Blocks of the final segments, in segment order, by address within a segment. */
export type BlockTable = TableOf<typeof BLOCK_COLUMNS>;

/**
 * The state before the first event, where a part was cut out of a recording; and what the whole
 * recording shows about its kind, which a part of it may not.
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

export const ANNOTATION_COLUMNS = {
  /** 1 = START, 0 = END. */
  isStart: { type: 'u8' },
  name: { type: 'i32', ref: 'string' },
  device: { type: 'i32' },
  timeUs: { type: 'f64' },
} as const satisfies TableSchema;

/** `record_function` ranges and the like. Points in time; pairing is up to the reader. */
export type AnnotationTable = TableOf<typeof ANNOTATION_COLUMNS>;

/** One allocator setting as recorded: numbers, booleans, strings, or a dictionary of numbers. */
export type SettingValue = number | boolean | string | Readonly<Record<string, number>>;

export type WarningCode =
  | 'ring-truncated'
  | 'unknown-key'
  | 'unknown-action'
  | 'unpaired-annotation'
  | 'no-trace'
  | 'bad-value'
  | 'contradiction'
  | 'partial-file'
  | 'general-decoder'
  | 'other-files'
  | 'window';

/** Something the reader should know that is no error. */
export interface SnapshotWarning {
  readonly code: WarningCode;
  readonly message: string;
}

/** What a program wrote of a tensor: time_us by the recorder's clock, address, class, name. */
export type LabelRow = readonly (number | string)[];

/** What a storage is to what holds it. */
export const HOLDER_KINDS = [
  'tensor',
  'parameter',
  'buffer',
  'gradient',
  'optimizer',
  'graph',
] as const;
export type HolderKind = (typeof HOLDER_KINDS)[number];

export const HOLDER_COLUMNS = {
  address: { type: 'f64', isCount: true },
  bytes: { type: 'f64', isCount: true },
  /** The whole way to it: 'losses[3]', 'the graph of losses[3]'. */
  name: { type: 'i32', ref: 'string' },
  /** Place in {@link HOLDER_KINDS}. */
  kind: { type: 'u8', below: HOLDER_KINDS.length },
  owner: { type: 'i32', ref: 'owner' },
} as const satisfies TableSchema;

/** The variable or container on the way that a person would name: `losses`, a list of 60. */
export interface HolderOwner {
  readonly name: string;
  /** Its Python class. */
  readonly type: string;
  /** Of a container. */
  readonly length?: number;
  /** 'exception', 'last exception' or 'cycle'; undefined for a variable of a running function or a module. */
  readonly via?: string;
  /** Of a cycle: `Trainer.callback`. */
  readonly through?: string;
  /** Where it is set, as far as the code says. */
  readonly file?: string;
  readonly line?: number;
}

/** A name for each storage that was live when the snapshot was taken, by vramscope.record. */
export interface HolderTable extends TableOf<typeof HOLDER_COLUMNS> {
  readonly owners: readonly HolderOwner[];
  /** Objects that were met and, for lack of time, not looked into. */
  readonly left: number;
  /** 'read', or why what autograd saved has no names. */
  readonly graphs: string;
}

export interface Snapshot {
  readonly strings: StringTable;
  readonly frames: FrameTable;
  readonly stacks: StackTable;
  readonly addresses: AddressSpace;
  /**
   * The recorder's clock where all times here begin: its microseconds at the first event, so that times
   * fit in 32 bits; 0 where the recording is longer than the 71 minutes that these hold.
   */
  readonly startUs: number;
  /** cuda devices by ordinal, then host. One for each trace in the file, also those without any event. */
  readonly devices: readonly DeviceTrace[];
  readonly annotations: AnnotationTable;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly SnapshotWarning[];
  /** Rows under the key `labels`, as they were written: see src/device/classes/recorded-labels.ts. Undefined without the key. */
  readonly labels?: readonly LabelRow[];
  /** Undefined where the program was not asked. */
  readonly holders?: HolderTable;
}

export type Container = 'pickle' | 'gzip' | 'zip' | 'zstd' | 'html' | 'json' | 'compact';

/** What kind of file a snapshot came from; part of every report. */
export interface FileInfo {
  readonly name: string;
  readonly bytes: number;
  readonly container: Container;
  /** Pickle protocol; undefined for JSON and compact ones. */
  readonly protocol: number | undefined;
  readonly decoder: 'columnar' | 'general';
  /** Set when only the part before a fault was opened: what the fault was. */
  readonly partial: string | undefined;
}
