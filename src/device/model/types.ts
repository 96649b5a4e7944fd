/**
 * Plain data about a snapshot: what the page shows and the CLI prints.
 * Names and texts are resolved here (strings, not indices), so that they can cross to another thread.
 */

import type { CounterName, Counters, Peak, Recording } from '../../allocator/replay/types.ts';
import type {
  CarriedColumn,
  EVENT_COLUMNS,
  EventIndex,
  FileInfo,
  SettingValue,
  SnapshotWarning,
} from '../../format/snapshot/tables.ts';
import type { TimeFolds } from './events.ts';

export interface DeviceInfo {
  /** Position in SessionInfo.devices; what all requests call `deviceIndex`. */
  readonly index: number;
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  readonly events: number;
  readonly actions: Readonly<Record<string, number>>;
  readonly allocations: number;
  readonly preexisting: number;
  readonly segmentsAtEnd: number;
  readonly recording: Recording;
  readonly recordingReason: string;
  readonly start: Counters;
  readonly end: Counters;
  readonly peaks: { readonly [K in CounterName]: Peak };
  readonly anomalies: number;
  readonly hasTime: boolean;
  readonly hasCategory: boolean;
  /** Microseconds from the first to the last event; 0 without times. */
  readonly durationUs: number;
  /** Its idle gaps; none without times. */
  readonly folds: TimeFolds;
  readonly ooms: readonly OomInfo[];
  /** `snapshot` entries: events at which a snapshot was taken. */
  readonly snapshots: readonly EventIndex[];
}

export interface OomInfo {
  readonly event: EventIndex;
  /** Microseconds since the first event; NaN without times. */
  readonly timeUs: number;
  readonly requestedBytes: number;
  /** NaN when the file does not say. */
  readonly deviceFreeBytes: number;
  /** The same place asked again at once, for less: the program saw no error. */
  readonly wasRetried: boolean;
}

export interface SessionInfo {
  readonly file: FileInfo;
  readonly devices: readonly DeviceInfo[];
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly SnapshotWarning[];
}

/**
 * Whose code a frame is: 'user' is any Python that is not installed; 'framework' an installed package such as
 * transformers or lightning; 'pytorch' PyTorch's own Python; 'runtime' Python's library and generated code.
 */
export type FrameKind = 'user' | 'framework' | 'pytorch' | 'runtime' | 'cpp';

export interface FrameView {
  /** As recorded; of C++ with all types. `functionText` shortens it. */
  readonly name: string;
  /** As recorded: a path, or what stands for one where none is known. `frameLocation` tells. */
  readonly filename: string;
  readonly line: number;
  readonly kind: FrameKind;
  /** C++ that every stack has: unwinder, dispatcher, interpreter. */
  readonly isPlumbing: boolean;
  /** C++ that names a stack of the backward pass, whose threads run no Python. */
  readonly isBackward?: boolean;
  readonly extras: Readonly<Record<string, string>> | undefined;
}

/** Why a stack is there or not; three different absences have three different words on screen. */
export type StackKind = 'recorded' | 'no-python-stack' | 'no-context' | 'before-recording';

export interface StackView {
  readonly kind: StackKind;
  /** Innermost first. */
  readonly frames: readonly FrameView[];
}

/** What an event carries beside what the allocator needs: a text, or a number, by column. */
export type CarriedValues = {
  readonly [K in Exclude<CarriedColumn, 'forwardFrames'>]:
    | ((typeof EVENT_COLUMNS)[K] extends { readonly type: 'f64' } ? number : string)
    | undefined;
} & {
  /** Forward lines that led to a backward allocation, where anomaly mode recorded them. */
  readonly forwardFrames?: readonly string[] | undefined;
};

export interface AllocationDetails extends CarriedValues {
  /** Metadata of `annotate` events at its address while it was live (_annotate_tensor of 2.14), in order. */
  readonly laterMetadata: readonly string[];
  readonly index: number;
  /** As PyTorch's viewer writes it: b7f064c000000_0, address in hex and count of earlier uses of the address. */
  readonly label: string;
  readonly requestedBytes: number;
  readonly blockBytes: number;
  readonly startEvent: EventIndex;
  readonly freeRequestedEvent: EventIndex;
  readonly endEvent: EventIndex;
  /** Microseconds since the first event; NaN where not known. */
  readonly startUs: number;
  readonly endUs: number;
  readonly state: 'freed' | 'pending' | 'live';
  readonly preexisting: boolean;
  readonly stream: string;
  readonly pool: 'small' | 'large';
  /** Private pool id as "(1, 0)"; undefined for the default pool. */
  readonly privatePool: string | undefined;
  readonly allocStack: StackView;
  /** Undefined while not freed. When `freeStackIsAllocStack`, PyTorch repeated the allocation's stack (context='alloc'). */
  readonly freeStack: StackView | undefined;
  readonly freeStackIsAllocStack: boolean;
  /** The user's own line to look at first; undefined without a stack. */
  readonly topUserFrame: FrameView | undefined;
  readonly callSite: CallSiteInfo;
  /** Names of the annotations it was made in, the outermost first. */
  readonly annotations: readonly string[];
}

/** All allocations of the same call site as one of them: see `StackReader.siteOf`. */
export interface CallSiteInfo {
  readonly allocations: number;
  readonly totalBytes: number;
  readonly liveAtEnd: number;
  readonly liveAtEndBytes: number;
}

export interface HitResult {
  /** Allocations that overlap the pixel; 0 above the stack. */
  readonly count: number;
  /** The one that covers most of the pixel. */
  readonly allocation: number;
  readonly label: string;
  readonly blockBytes: number;
  readonly requestedBytes: number;
  readonly ageEvents: number;
  readonly ageUs: number;
  readonly pending: boolean;
  readonly stackKind: StackKind;
  readonly topFrame: FrameView | undefined;
  /** The operation that it led to, see `StackReader.leafFrameView`; undefined while the file is still read. */
  readonly leafFrame?: FrameView | undefined;
  /** Sum of the overlapping allocations' block bytes. */
  readonly totalBytes: number;
  /** Lower edge of the allocation in the stack, in bytes. */
  readonly bottomBytes: number;
  /** Its class, and its name if it has one; undefined while classes are not known. */
  readonly what?: string | undefined;
}

export interface Crosshair {
  readonly event: EventIndex;
  readonly action: string;
  /** Microseconds since the first event; NaN without times. */
  readonly timeUs: number;
  readonly counters: Counters;
}

export interface AnnotationSpan {
  readonly name: string;
  /** Nesting level, 0 outermost. */
  readonly depth: number;
  readonly startUs: number;
  readonly endUs: number;
  /** First event inside, and one past the last. */
  readonly startEvent: EventIndex;
  readonly endEvent: EventIndex;
  /** False when START or END was not in the file. */
  readonly complete: boolean;
}
