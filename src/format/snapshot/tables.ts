/**
 * A snapshot of any PyTorch version: tables of equal-length columns. Quirks of versions end before this file;
 * everything above reads these tables.
 *
 * Index types are aliases; -1 means none. Bytes and addresses are float64 (exact below 2^53; higher addresses go
 * through `AddressSpace`). Times are microseconds since `Snapshot.startUs`.
 */
import type { AddressSpace } from '../../base/address.ts';
import type { TableOf, TableSchema } from '../../base/table.ts';
import type { Accelerator } from './accelerator.ts';

export type StringIndex = number;
export type FrameIndex = number;
/** Row of {@link StackTable}; {@link NO_STACK} and {@link EMPTY_STACK} are special. */
export type StackIndex = number;
/** Position in one device's trace; 0 is the oldest entry kept. */
export type EventIndex = number;
export type PoolIndex = number;

/** The entry has no `frames` key: no context was recorded. */
export const NO_STACK: StackIndex = -1;
/** `frames: []`: context was recorded, but the thread had no Python stack (autograd's backward threads). */
export const EMPTY_STACK: StackIndex = 0;

/** Each string once. Row 0 is ''. */
export interface StringTable {
  readonly length: number;
  get(index: StringIndex): string;
}

/** Columns here use these values of `ref`: 'string', 'frame', 'stack', 'stream', 'pool' and 'block'. */
export const FRAME_COLUMNS = {
  name: { type: 'i32', ref: 'string' },
  filename: { type: 'i32', ref: 'string' },
  /** 0 if the unwinder knew none. */
  line: { type: 'i32' },
} as const satisfies TableSchema;

/** One source line in one function. Equal frames share a row. */
export interface FrameTable extends TableOf<typeof FRAME_COLUMNS> {
  /** fx_node_op and similar keys, as written; only for frames that have any. */
  readonly extras: ReadonlyMap<FrameIndex, Readonly<Record<string, string>>>;
}

export const STACK_COLUMNS = {
  frame: { type: 'i32', ref: 'frame', orNone: true },
  parent: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/**
 * A prefix tree of call stacks, callers above callees. A stack is one row: its innermost frame and the row of its
 * caller's stack. Row 0 is the empty stack (frame -1, parent -1). Example: main → train → alloc is rows 1 (main, parent
 * 0), 2 (train, parent 1), 3 (alloc, parent 2). Walking `parent` from 3 gives the frames innermost first, as PyTorch
 * writes them. parent < row.
 */
export type StackTable = TableOf<typeof STACK_COLUMNS>;

/** Action of a trace entry, with our own numbers. Unknown actions are kept in `unknownActions`. */
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
 * Columns of a trace. A column with a `pickleKey` is carried as it is in the file: a text (i32, a 'string') or a count
 * (f64), undefined if every event has the default ('', 'N/A', None). To carry another key, add a line here; the
 * decoder, parts of a recording and reports then include it.
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
  /** The profiler's tensor category: PARAMETER, ACTIVATION, … */
  category: carriedText('category'),
  /** The forward frames of anomaly mode, joined by newlines. */
  forwardFrames: carriedText('forward_frames'),
} as const satisfies TableSchema;

/** A text that most events lack: a string row, or -1. */
function carriedText(pickleKey: string) {
  return { type: 'i32', ref: 'string', orNone: true, optional: true, pickleKey } as const;
}

type EventColumns = typeof EVENT_COLUMNS;

export type CarriedColumn = {
  [K in keyof EventColumns]: EventColumns[K] extends { readonly pickleKey: string } ? K : never;
}[keyof EventColumns];

/** One device's trace. An optional column is undefined if no event has a value for it. */
export interface EventTable extends TableOf<typeof EVENT_COLUMNS> {
  /** oom entries only: free bytes on the device, according to the driver. */
  readonly oomDeviceFreeBytes: ReadonlyMap<EventIndex, number>;
  /** Action words that are not in ACTION_NAMES, by event. */
  readonly unknownActions: ReadonlyMap<EventIndex, string>;
  /** Keys that no known version writes: key → (event → value as text). At most 10,000 events per key. */
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

/** At the end of the trace, sorted by address. */
export type SegmentTable = TableOf<typeof SEGMENT_COLUMNS>;

export const BLOCK_COLUMNS = {
  address: { type: 'f64', isCount: true },
  sizeBytes: { type: 'f64', isCount: true },
  /** Bytes the user asked for; 0 for inactive blocks, whose value in the file is stale. */
  requestedBytes: { type: 'f64', isCount: true },
  /** {@link BlockState} */
  state: { type: 'u8', below: BlockState.PendingFree + 1 },
  stack: { type: 'i32', ref: 'stack', orNone: true },
} as const satisfies TableSchema;

/** Blocks of the final segments, in segment order, by address within a segment. */
export type BlockTable = TableOf<typeof BLOCK_COLUMNS>;

/** The state before the first event of a part cut out of a recording, with facts from the whole recording. */
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
  /** 'host' is pinned memory (host_traces of 2.14), or the CPU device of profiler files; 'cuda' any other device. */
  readonly kind: 'cuda' | 'host';
  /** Undefined for CUDA's devices, and where the file does not tell. */
  readonly accelerator?: Accelerator | undefined;
  readonly events: EventTable;
  readonly segments: SegmentTable;
  readonly blocks: BlockTable;
  readonly streams: readonly Stream[];
  readonly pools: readonly Pool[];
  /** Whether the ring dropped entries; undefined when the file does not say. */
  readonly ringOverflowed: boolean | undefined;
  /** Only in parts that vramscope cut out; PyTorch writes none. */
  readonly opening?: InitialState;
}

export const ANNOTATION_COLUMNS = {
  /** 1 = START, 0 = END. */
  isStart: { type: 'u8' },
  name: { type: 'i32', ref: 'string' },
  device: { type: 'i32' },
  timeUs: { type: 'f64' },
} as const satisfies TableSchema;

/** `record_function` ranges and similar marks. Each row is a point in time; readers pair them. */
export type AnnotationTable = TableOf<typeof ANNOTATION_COLUMNS>;

/** One allocator setting as recorded: a number, boolean, string, or dictionary of numbers. */
export type SettingValue = number | boolean | string | Readonly<Record<string, number>>;

export type WarningCode =
  | 'ring-truncated'
  | 'unknown-key'
  | 'unknown-action'
  | 'unpaired-annotation'
  | 'no-trace'
  | 'bad-value'
  | 'contradiction'
  | 'device'
  | 'partial-file'
  | 'holds-code'
  | 'other-files'
  | 'window';

/** Something the reader should know that is not an error. */
export interface SnapshotWarning {
  readonly code: WarningCode;
  readonly message: string;
}

/** A program's label for a tensor: time_us by the recorder's clock, address, class, name. */
export type LabelRow = readonly (number | string)[];

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
  /** The whole path to it: 'losses[3]', 'the graph of losses[3]'. */
  name: { type: 'i32', ref: 'string' },
  /** Index into {@link HOLDER_KINDS}. */
  kind: { type: 'u8', below: HOLDER_KINDS.length },
  owner: { type: 'i32', ref: 'owner' },
} as const satisfies TableSchema;

/** The variable or container on the path that a person would name: `losses`, a list of 60. */
export interface HolderOwner {
  readonly name: string;
  readonly type: string;
  /** For a container. */
  readonly length?: number;
  /** 'exception', 'last exception' or 'cycle'; undefined for a variable of a running function or a module. */
  readonly via?: string;
  /** For a cycle: `Trainer.callback`. */
  readonly through?: string;
  /** Where it is set, if known from the code. */
  readonly file?: string;
  readonly line?: number;
}

/** Names from vramscope.record for each storage that was live when the snapshot was taken. */
export interface HolderTable extends TableOf<typeof HOLDER_COLUMNS> {
  readonly owners: readonly HolderOwner[];
  /** Objects found but not examined, for lack of time. */
  readonly left: number;
  /** 'read', or why storages saved by autograd have no names. */
  readonly graphs: string;
}

export const LEDGER_MOMENTS = ['start', 'init', 'interval', 'step', 'oom', 'dump'] as const;
export type LedgerMoment = (typeof LEDGER_MOMENTS)[number];

/** The whole card at one moment. Optional fields are missing if the recorder could not know them. See docs/outside.md. */
export interface LedgerSample {
  /** Since {@link Snapshot.startUs}; negative before the first event. */
  readonly timeUs: number;
  readonly device: number;
  readonly moment: LedgerMoment;
  /** For 'step': its number. */
  readonly step?: number;
  /** According to the driver, for all processes. */
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Of this process's caching allocator. */
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** What the driver counts for this process. */
  readonly processBytes?: number;
  readonly others?: readonly { readonly pid: number; readonly bytes: number }[];
  /** What starting CUDA took. */
  readonly contextBytes?: number;
  readonly communicators?: readonly {
    readonly group: string;
    readonly backend: string;
    readonly bytes: number;
  }[];
  /** Private pools. */
  readonly pools?: readonly {
    readonly id: readonly [number, number];
    readonly reservedBytes: number;
    readonly allocatedBytes?: number;
  }[];
}

/** Samples of the card's memory that vramscope.record took. */
export interface MemoryLedger {
  /** By time. */
  readonly samples: readonly LedgerSample[];
  /** What could not be sampled ('process', 'others', 'communicators', …), and why. */
  readonly missing: Readonly<Record<string, string>>;
}

/** One of the program's own files, or some of its lines. */
export interface SourceText {
  /** As in its frames. */
  readonly filename: string;
  /** Of the whole file's bytes, in hexadecimal digits. */
  readonly sha256: string;
  /** 'folder': read when a report was made, so it may differ from what ran. */
  readonly origin: 'recording' | 'folder';
  /** False in reports, which hold only lines that findings name. */
  readonly isWhole: boolean;
  /** The file was changed while the program ran. */
  readonly isChanged?: boolean;
  /** In order; each is some lines, joined by newlines, and the number of the first. */
  readonly pieces: readonly { readonly line: number; readonly text: string }[];
}

/** The program's code, as vramscope.record read it when the snapshot was taken. */
export interface SourceTexts {
  /** Each with another name. */
  readonly files: readonly SourceText[];
  /** Names of the other files, each with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

export interface Snapshot {
  readonly strings: StringTable;
  readonly frames: FrameTable;
  readonly stacks: StackTable;
  readonly addresses: AddressSpace;
  /**
   * The recorder's time of the first event in microseconds; all times here count from it, so that they fit in 32 bits.
   * 0 if the recording is longer than the 71 minutes that 32 bits hold.
   */
  readonly startUs: number;
  /** cuda devices by ordinal, then host. One for each trace in the file, even if it has no events. */
  readonly devices: readonly DeviceTrace[];
  readonly annotations: AnnotationTable;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly SnapshotWarning[];
  /** Rows under the key `labels`, as written; see src/device/classes/recorded-labels.ts. Undefined without the key. */
  readonly labels?: readonly LabelRow[];
  readonly holders?: HolderTable;
  readonly ledger?: MemoryLedger;
  readonly source?: SourceTexts;
}

export type Container = 'pickle' | 'gzip' | 'zip' | 'zstd' | 'html' | 'json' | 'compact';

export interface FileInfo {
  readonly name: string;
  readonly bytes: number;
  readonly container: Container;
  /** Pickle protocol; undefined for JSON and compact snapshots. */
  readonly protocol: number | undefined;
  readonly decoder: 'columnar' | 'general';
  /** The error, if only the events before it were opened. */
  readonly partial: string | undefined;
}
