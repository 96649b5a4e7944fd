/**
 * One side of a comparison: what a device holds at one event, by call site and class, and what is needed to find the
 * same call sites in another snapshot. Plain data of a few hundred kB, so each file can have its own worker.
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

export const innermostFrame = (side: RunProfile, stack: number): SideFrame | undefined =>
  stack > 0 ? side.frames[side.stacks.frame[stack]] : undefined;

/** The line to look at first: the innermost of the user's code, else of a framework, else of PyTorch. */
export function lineOf({ frames, stacks }: RunProfile, stack: number): SideFrame | undefined {
  let best: SideFrame | undefined;
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = frames[stacks.frame[row]];
    if (best === undefined || FRAME_RANK[frame.kind] < FRAME_RANK[best.kind]) best = frame;
  }
  return best;
}
