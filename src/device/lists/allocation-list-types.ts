/** Allocations, and sites, as rows of a table. Plain data, sent to the page. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { MemoryClassId } from '../classes/types.ts';
import type { FrameView, StackKind } from '../model/types.ts';

/** What times are counted in. */
export type Clock = 'events' | 'us';

/** 'later': it is allocated after the cursor. */
export type StateAt = 'live' | 'pending' | 'freed' | 'later';

export interface AllocationRow {
  readonly allocation: AllocationIndex;
  /** b7f064c000000_0, as PyTorch's viewer writes it. */
  readonly label: string;
  readonly blockBytes: number;
  /** NaN where it cannot be known, and so is what follows from it. */
  readonly requestedBytes: number;
  /** Block bytes beyond those requested. */
  readonly wasteBytes: number;
  /** -1: before the trace. */
  readonly startEvent: EventIndex;
  /** Completion of the free; NEVER where it is still there at the end. */
  readonly endEvent: EventIndex;
  /** Microseconds since the first event; NaN where not known. */
  readonly startUs: number;
  readonly endUs: number;
  /** As far as the trace shows it: up to its last event for what is not freed. NaN without events. */
  readonly lifeEvents: number;
  /** NaN without times. */
  readonly lifeUs: number;
  /** It began before the trace or did not end in it: it lived longer than the two above say. */
  readonly isLifeLonger: boolean;
  /** At the cursor, else at the end. */
  readonly state: StateAt;
  readonly stream: string;
  /** 'small', 'large', and the id of a private pool: 'small (1, 0)'. */
  readonly pool: string;
  readonly line: CallSiteLine;
  readonly class: MemoryClassId;
  /** The variable that held it when the snapshot was taken: 'losses[3]'; undefined where nobody knows. */
  readonly holder: string | undefined;
}

/** Which code allocated, in one line: enough to distinguish one stack from another. */
export interface CallSiteLine {
  readonly stackKind: StackKind;
  /** The user's own line; undefined without one. */
  readonly topFrame: FrameView | undefined;
  /** The innermost function that it led to; undefined where that is the same. */
  readonly leafFrame: FrameView | undefined;
}

export type AllocationKey =
  | 'address'
  | 'size'
  | 'requested'
  | 'waste'
  | 'lifetime'
  | 'cost'
  | 'start'
  | 'end'
  | 'state'
  | 'stream'
  | 'pool'
  | 'class'
  | 'holder'
  | 'site';

/** All matching allocations with one stack. */
export interface CallSiteRow {
  /** Names the site: the label of its largest allocation, for `siteTerm`. */
  readonly label: string;
  readonly largest: AllocationIndex;
  readonly allocations: number;
  /** So many of them are from before the trace. */
  readonly preexisting: number;
  /** Over all lifetimes. */
  readonly totalBytes: number;
  readonly peakBytes: number;
  readonly endBytes: number;
  readonly endCount: number;
  readonly largestBytes: number;
  /** Start of the first and of the last; -1: before the trace. */
  readonly firstEvent: EventIndex;
  readonly lastEvent: EventIndex;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly line: CallSiteLine;
  /** What holds its largest allocation at the end, or else its last; undefined where nobody knows. */
  readonly holder: string | undefined;
}

export type CallSiteKey =
  | 'site'
  | 'count'
  | 'peak'
  | 'live'
  | 'total'
  | 'largest'
  | 'first'
  | 'last';
