/**
 * What a detector is asked and what it answers. Everything in a finding is plain data (numbers,
 * strings, arrays), so that it can cross to another thread.
 */

import type { AllocationIndex, ReplayColumns } from '../../allocator/replay/types.ts';
import type { Classification } from '../../device/classes/types.ts';
import type { AnnotationSource } from '../../device/model/annotations.ts';
import type { AllocationOwners } from '../../device/model/holders.ts';
import type { StackReader, StackSource } from '../../device/model/stacks.ts';
import type { FrameView, StackKind } from '../../device/model/types.ts';
import type {
  DeviceTrace,
  EventIndex,
  HolderTable,
  StackIndex,
} from '../../format/snapshot/tables.ts';
import type { Pattern } from '../verdict/types.ts';

export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What the detectors read: a DeviceModel serves. Of the replay they take columns only, and of alloc
 * and free events no more than action and time (the rest of these is in the allocation table), so a
 * worker that got a copy of so much can make one.
 */
export interface DeviceTables {
  readonly snapshot: AnnotationSource['snapshot'] &
    StackSource & { readonly holders?: HolderTable };
  readonly trace: DeviceTrace;
  readonly stacks: StackReader;
  readonly replay: ReplayColumns;
  /** What each allocation is, where that is known already: to find it takes the stacks of frees too. */
  readonly classification?: Classification;
  /** Who holds each allocation, where that is known already: the recording's names say it. */
  readonly owners?: AllocationOwners | undefined;
}

export interface PerStep {
  /** Mean over the steps: 51.2 for 512 bytes every tenth step. */
  readonly bytes: number;
  readonly count: number;
  /** Steps over which it was seen. */
  readonly steps: number;
}

/** One call site's share of a finding. */
export interface FindingPart {
  readonly stack: StackIndex;
  readonly frame: FrameView | undefined;
  readonly bytes: number;
  readonly count: number;
  /** Why it is listed: 'kept every step', 'pins 3 segments'. */
  readonly note: string;
}

/** Free memory between blocks, in the state after `event`. */
export interface AddressGap {
  readonly address: number;
  readonly sizeBytes: number;
}

/** Rows that a view can select. */
export interface Evidence {
  /** At most {@link MAX_EVIDENCE}, the largest first; `allocationCount` is how many there are. */
  readonly allocations: readonly AllocationIndex[];
  readonly allocationCount: number;
  readonly stacks: readonly StackIndex[];
  readonly gaps: readonly AddressGap[];
}
export const MAX_EVIDENCE = 1000;

/** Points of a small plot. `events[i]` is where on the timeline point i lies. */
export interface Series {
  /** 'step', or 'event' where no steps were found. */
  readonly unit: 'step' | 'event';
  readonly label: string;
  readonly events: readonly EventIndex[];
  readonly bytes: readonly number[];
}

/** One figure behind a claim; exactly one of bytes, count and text. */
export type Fact =
  | { readonly label: string; readonly bytes: number }
  | { readonly label: string; readonly count: number }
  | { readonly label: string; readonly text: string };

/**
 * How what is kept grows: each step keeps as much, each keeps more than the one before, one piece for each new
 * key, or something in some steps only.
 */
export type GrowthLawKind = 'flat' | 'growing' | 'by-key' | 'in-bursts';

/** What a line is to the memory of a finding. */
export type LineRole =
  | 'allocated at'
  | 'stored at'
  | 'started at'
  | 'held by'
  | 'pinned by'
  | 'requested by'
  | 'called by';

/** A finding of any detector: see FindingBy, and Finding of detectors.ts. */
export interface AnyFinding<Id extends string = string, Kind extends string = string> {
  readonly detector: Id;
  /** What it looks like: one of the kinds that its detector declares. */
  readonly kind: Kind;
  readonly severity: Severity;
  readonly bytes: number;
  /** One or two sentences in plain words. */
  readonly claim: string;
  /** The user's own line to look at first; undefined where no stack was recorded. */
  readonly frame: FrameView | undefined;
  /** What `frame` is to the memory; undefined where it is not known. */
  readonly frameIs?: LineRole | undefined;
  /** The user's lines that lead there, the innermost first, out to the one in the user's own loop; `frame` is one of them. */
  readonly userLines: readonly FrameView[];
  /** The frame that all of the evidence has, where `frame` leads to less or to more than that. */
  readonly searchFrame?: FrameView | undefined;
  readonly stack: readonly FrameView[];
  readonly stackKind: StackKind;
  readonly perStep?: PerStep;
  /** Of what grows. */
  readonly law?: GrowthLawKind;
  /** What the program does, where the verdict knows it by name. */
  readonly pattern?: Pattern | undefined;
  /** What the highest allocated bytes would be lower by without it, where that was counted. */
  readonly lowersPeakBytes?: number;
  readonly events: { readonly first: EventIndex; readonly last: EventIndex };
  readonly parts: readonly FindingPart[];
  readonly facts: readonly Fact[];
  readonly evidence: Evidence;
  readonly series?: Series | undefined;
  /** In the order to try. */
  readonly advice: readonly string[];
  /** What one would see if the claim were wrong. */
  readonly disproof: string;
  /** The same for the same cause in another recording: no addresses, row numbers or absolute paths. */
  readonly fingerprint: string;
}

/** What a detector may find: of its own id, and of the kinds that it declares. */
export type FindingBy<D extends Detector> = AnyFinding<D['id'], keyof D['titles'] & string>;

export type DetectorResult<Found extends AnyFinding = AnyFinding> =
  | { readonly status: 'found'; readonly findings: readonly Found[] }
  /** `checked`: what was looked at, in one sentence. */
  | { readonly status: 'clear'; readonly checked: string }
  | { readonly status: 'cannot-tell'; readonly reason: string };

/** How a stretch of the timeline is drawn. */
export type BandStyle = 'growth' | 'gap' | 'pending' | 'oom' | 'other';

/** What the page, the command line and the docs need to know of a detector before it has run. */
export interface Detector {
  readonly id: string;
  /** What it looks for, in half a sentence. */
  readonly about: string;
  /** The kinds of findings that it makes, each with what such a finding is called. */
  readonly titles: Readonly<Record<string, string>>;
  /** What a finding's bytes are, or of which moment: 'at the peak'. Follows the figure wherever it stands alone. */
  readonly bytesAre: string;
  /** The same of single kinds, where it is another. */
  readonly bytesOfKind?: Readonly<Record<string, string>>;
  /** What its findings are called on the timeline, where they are stretches of events. */
  readonly band: { readonly style: BandStyle; readonly label: string };
  /** Which search leaves the evidence: its line, the blocks that wait for a stream, or none as all that is live counts. */
  readonly evidenceSearch: 'line' | 'pending' | 'none';
  /** Whether other settings of the allocator may mend it: its findings cite what one would have come to. */
  readonly isMendedBySettings?: boolean;
}
