/**
 * The profile of each side and the result of comparing them: plain data for the page, the command line and reports.
 *
 * A profile is what a device holds at one event, by call site and class, and what is needed to find the same call sites
 * in another snapshot. It has a few hundred kB, so each file can have its own worker.
 */
import type { Counters, Recording } from '../../allocator/replay/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import type {
  EventIndex,
  FileInfo,
  SettingValue,
  StackTable,
} from '../../format/snapshot/tables.ts';
import type { AccountEntry, EntryKind } from '../account/types.ts';

/** A line of Python, or the name of a C++ stack: 'AddmmBackward0 (backward pass)'. */
export type SideFrame = Pick<FrameView, 'name' | 'filename' | 'line' | 'kind'>;

/**
 * A prefix tree like a snapshot's, with Python frames only: parents come first, row 0 is the empty stack. Each stack
 * without Python is one row with its name. `frame` is an index into the side's frames.
 */
export type SideStacks = StackTable;

export interface SizeCount {
  readonly bytes: number;
  readonly count: number;
}

export interface SideSite {
  /** Row in the stacks; 0 or -1 if there is none. */
  readonly stack: number;
  /**
   * A class of memory, or a part of the sum without a call site: 'rounding', 'before-recording', or 'unaccounted' if
   * the events contradict each other.
   */
  readonly class: string;
  /** Requested bytes; rounding is a separate part. */
  readonly bytes: number;
  readonly count: number;
  readonly sizes: readonly SizeCount[];
  /** One of its allocations, by AllocationIndex; -1 if it has none. */
  readonly example: number;
}

/** An account entry's part of the allocated bytes. 'unaccounted': the rest, if the events contradict each other. */
export interface SideEntry extends Pick<AccountEntry, 'bytes' | 'count' | 'rate' | 'isGrowing'> {
  readonly kind: EntryKind | 'unaccounted';
  readonly lines: readonly SideFrame[];
}

export interface StackRun {
  readonly stack: number;
  readonly allocations: number;
  /** Total block bytes of all its allocations. */
  readonly totalBytes: number;
  /** Mean lifetime, as a share of the recording's events. */
  readonly lifetimeShare: number;
}

/** Which moment of its recording a side shows. */
export type Moment = 'peak' | 'end';

export interface RunProfile {
  readonly file: FileInfo;
  /** Position in the file; `device` is PyTorch's number. */
  readonly deviceIndex: number;
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  /** -1: the state before the first event, or a file without events. */
  readonly event: EventIndex;
  readonly events: number;
  readonly counters: Counters;
  readonly peak: Counters;
  readonly recording: Recording;
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly ooms: number;
  readonly frames: readonly SideFrame[];
  readonly stacks: SideStacks;
  readonly sites: readonly SideSite[];
  /** They add up to the allocated bytes. */
  readonly entries: readonly SideEntry[];
  readonly runs: readonly StackRun[];
  /** The event before the first step, then the last event of each step; empty if no steps are known. */
  readonly stepBounds: Int32Array;
  readonly hasCpp: boolean;
}

/**
 * How the live allocations of a call site differ. more, fewer: other counts of the same sizes. larger, smaller: the
 * same count in other sizes. mixed: neither.
 */
export const CHANGE_KINDS = [
  'only-a',
  'only-b',
  'more',
  'fewer',
  'larger',
  'smaller',
  'mixed',
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export interface SiteHalf {
  /** The line that represents it; undefined if no stack was recorded. */
  readonly frame: SideFrame | undefined;
  /** Where memory was allocated: often a line of PyTorch below `frame`. */
  readonly innermost: SideFrame | undefined;
  /** The side's stacks for this site, the one with the most bytes first. */
  readonly stacks: readonly number[];
  /** An allocation from the first stack, by AllocationIndex; -1 if there is none. */
  readonly example: number;
}

/** A part of both sides: its bytes and allocations. */
export interface Change {
  readonly bytesA: number;
  readonly bytesB: number;
  readonly differenceBytes: number;
  readonly countA: number;
  readonly countB: number;
}

export interface CallSiteChange extends Change {
  readonly kind: ChangeKind;
  readonly class: string;
  readonly a: SiteHalf | undefined;
  readonly b: SiteHalf | undefined;
  readonly sizesA: readonly SizeCount[];
  readonly sizesB: readonly SizeCount[];
}

export interface ClassChange extends Pick<Change, 'bytesA' | 'bytesB'> {
  readonly class: string;
}

/** Matching entries of both accounts: of the same kind and, for kept memory, of the same function. */
export interface EntryChange extends Change, Pick<SideEntry, 'kind' | 'lines' | 'rate'> {}

export interface Cause {
  /** The sum of its entries' differences. */
  readonly bytes: number;
  /** The largest change first. */
  readonly entries: readonly EntryChange[];
  /** False if nothing in the two files says why. */
  readonly isExplained: boolean;
  /** '+1.20 GiB of activations: the batch …', without a period. */
  readonly text: string;
}

export interface SettingChange {
  readonly name: string;
  /** 'not recorded' if the file lacks it. */
  readonly a: string;
  readonly b: string;
}

/** How a call stack's behavior over the run differs, if both sides have it. */
export interface RunChange {
  readonly kinds: readonly RunChangeKind[];
  readonly frame: SideFrame | undefined;
  readonly a: StackRun;
  readonly b: StackRun;
}

export type RunChangeKind = 'lives-longer' | 'lives-shorter' | 'churns-more' | 'churns-less';

export interface Comparison {
  readonly a: RunProfile;
  readonly b: RunProfile;
  /** Allocated bytes of B minus those of A, at the chosen events. The call sites and the classes sum to it. */
  readonly differenceBytes: number;
  /** All sites of both sides: the largest change first, unchanged ones last. */
  readonly sites: readonly CallSiteChange[];
  readonly classes: readonly ClassChange[];
  /** Both accounts' entries, the largest change first; their differences sum to `differenceBytes` too. */
  readonly entries: readonly EntryChange[];
  /** Why entries differ, the largest explanation first; each entry that differs is in exactly one. */
  readonly causes: readonly Cause[];
  readonly settings: readonly SettingChange[];
  readonly runChanges: readonly RunChange[];
  /** Lines that allocate in user functions that only this side has, the largest first. */
  readonly oneSided: { readonly a: readonly SideFrame[]; readonly b: readonly SideFrame[] };
  readonly verdict: string;
  /** The start of the verdict: the amount and its main cause. */
  readonly headline: string;
  /** Limits of the comparison, in sentences: different devices, no history, the same file. */
  readonly caveats: readonly string[];
}

export type ComparisonFacts = Omit<Comparison, 'causes' | 'verdict' | 'headline'>;
