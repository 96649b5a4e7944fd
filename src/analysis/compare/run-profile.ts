/**
 * One side of a comparison: what one device of a snapshot holds at one event, by call site and class, and
 * what is needed to find the same call sites in another snapshot. Plain data of a few hundred kB, so that
 * each file can be read by a worker of its own.
 */

import type { Counters, Recording } from '../../allocator/replay/types.ts';
import { FRAME_RANK } from '../../device/model/frame-kinds.ts';
import type { FrameView } from '../../device/model/types.ts';
import type {
  EventIndex,
  FileInfo,
  SettingValue,
  StackTable,
} from '../../format/snapshot/tables.ts';
import type { AccountEntry, EntryKind } from '../account/types.ts';

/** A line of Python, or what names a stack of C++: 'AddmmBackward0 (backward pass)'. */
export type SideFrame = Pick<FrameView, 'name' | 'filename' | 'line' | 'kind'>;

/**
 * A prefix tree like that of a snapshot, of Python's frames alone: parents come first, row 0 is the empty
 * stack. Stacks without Python are one row each, which names them. `frame` is an index into the side's frames.
 */
export type SideStacks = StackTable;

/** Requested bytes of one size, and how many live allocations have it. */
export interface SizeCount {
  readonly bytes: number;
  readonly count: number;
}

/** What is live of one class from one call stack. */
export interface SideSite {
  /** Row of the stacks; 0 or -1 where there is none. */
  readonly stack: number;
  /**
   * A class of memory, or a part of the sum that belongs to no call site: 'rounding', 'before-recording', and
   * 'unaccounted' where the events contradict each other.
   */
  readonly class: string;
  /** Requested bytes: what rounding adds is a part of its own. */
  readonly bytes: number;
  readonly count: number;
  /** Ascending by size. */
  readonly sizes: readonly SizeCount[];
  /** One of its allocations, by AllocationIndex; -1 for what is no allocation. */
  readonly example: number;
}

/**
 * What an entry of the account holds of the allocated bytes. 'unaccounted': what is left where the events contradict
 * each other.
 */
export interface SideEntry extends Pick<AccountEntry, 'bytes' | 'count' | 'rate' | 'isGrowing'> {
  readonly kind: EntryKind | 'unaccounted';
  /** As in the account. */
  readonly lines: readonly SideFrame[];
}

/** What one call stack did over the whole recording. */
export interface StackRun {
  readonly stack: number;
  readonly allocations: number;
  /** Sum of the block bytes of all of them. */
  readonly totalBytes: number;
  /** Mean lifetime, as a share of the recording's events. */
  readonly lifetimeShare: number;
}

/** Where in its recording a side is looked at. */
export type Moment = 'peak' | 'end';

export interface RunProfile {
  readonly file: FileInfo;
  /** Position in the file; `device` is PyTorch's number. */
  readonly deviceIndex: number;
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  /** -1: the state before the first event, or without any. */
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
  /** Last event of each step, after the event before the first one; empty where no steps are known. */
  readonly stepBounds: Int32Array;
  /** Frames of C++ were recorded too. */
  readonly hasCpp: boolean;
}

export const innermostFrame = (side: RunProfile, stack: number): SideFrame | undefined =>
  stack > 0 ? side.frames[side.stacks.frame[stack]] : undefined;

/** The line to look at first: the innermost of the user's own, else of a framework, else of PyTorch. */
export function lineOf({ frames, stacks }: RunProfile, stack: number): SideFrame | undefined {
  let best: SideFrame | undefined;
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = frames[stacks.frame[row]];
    if (best === undefined || FRAME_RANK[frame.kind] < FRAME_RANK[best.kind]) best = frame;
  }
  return best;
}
