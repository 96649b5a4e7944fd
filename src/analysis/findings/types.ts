/**
 * What a detector reads and what it returns. Findings are plain data (numbers, strings, arrays), so they can cross to
 * another thread.
 */

import type { ReplayColumns } from '../../allocator/replay/types.ts';
import type { Classification } from '../../device/classes/types.ts';
import type { AnnotationSource } from '../../device/model/annotations.ts';
import type { AllocationOwners } from '../../device/model/holders.ts';
import type { StackReader, StackSource } from '../../device/model/stacks.ts';
import type { FrameView, StackKind } from '../../device/model/types.ts';
import type {
  DeviceTrace,
  EventIndex,
  HolderTable,
  MemoryLedger,
  Snapshot,
  StackIndex,
} from '../../format/snapshot/tables.ts';
import type { DOES } from '../verdict/case.ts';
import type { Pattern } from '../verdict/types.ts';

export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What the detectors read; a DeviceModel qualifies. They use only columns of the replay, and of alloc and free events
 * only action, stack and time (the allocation table has the rest), so a worker can build one from a copy of those.
 */
export interface DeviceTables {
  readonly snapshot: AnnotationSource['snapshot'] &
    StackSource &
    Pick<Snapshot, 'settings'> & {
      readonly holders?: HolderTable;
      readonly ledger?: MemoryLedger;
    };
  readonly trace: DeviceTrace;
  readonly stacks: StackReader;
  readonly replay: ReplayColumns;
  /** The class of each allocation, if already known: computing it also takes the stacks of frees. */
  readonly classification?: Classification;
  /** Who holds each allocation, if already known: needs the recording's names. */
  readonly owners?: AllocationOwners | undefined;
}

export interface PerStep {
  /** Mean over the steps: 51.2 for 512 bytes every tenth step. */
  readonly bytes: number;
  readonly count: number;
  readonly steps: number;
  /** 'step', 'iteration in evaluate' */
  readonly unit: string;
}

export interface FindingPart {
  readonly stack: StackIndex;
  /** Why there is no frame. */
  readonly stackKind: StackKind;
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

export interface Evidence {
  /** All of them, the largest first. */
  readonly allocations: Int32Array;
  readonly stacks: readonly StackIndex[];
  readonly gaps: readonly AddressGap[];
}

/** A small plot. Point i is at `events[i]` on the timeline. */
export interface Series {
  /** 'step', or 'event' if no steps were found. */
  readonly unit: 'step' | 'event';
  readonly label: string;
  /** Steps or events; there may be fewer points. */
  readonly count: number;
  readonly events: readonly EventIndex[];
  readonly bytes: readonly number[];
}

/** One figure behind a claim; exactly one of bytes, count and text. */
export type Fact =
  | { readonly label: string; readonly bytes: number }
  | { readonly label: string; readonly count: number }
  | { readonly label: string; readonly text: string };

/**
 * How kept memory grows: each step keeps as much, each keeps more than the one before, each new key adds a piece, or
 * only some steps keep something.
 */
export type GrowthLawKind = 'flat' | 'growing' | 'by-key' | 'in-bursts';

/** How a line relates to a finding's memory. */
export type LineRole = keyof typeof DOES;

/** A finding of any detector. See also FindingBy, and Finding in detectors.ts. */
export interface AnyFinding<Id extends string = string, Kind extends string = string> {
  readonly detector: Id;
  /** One of the kinds that its detector declares. */
  readonly kind: Kind;
  readonly severity: Severity;
  readonly bytes: number;
  readonly claim: string;
  /** The user line to look at first; undefined if no stack was recorded. */
  readonly frame: FrameView | undefined;
  readonly frameIs?: LineRole | undefined;
  /** The user lines from the innermost out to the one in the user's loop; `frame` is one of them. */
  readonly userLines: readonly FrameView[];
  readonly stack: readonly FrameView[];
  readonly stackKind: StackKind;
  readonly perStep?: PerStep;
  /** For growth only. */
  readonly law?: GrowthLawKind;
  /** What the program does, if it is a known pattern. */
  readonly pattern?: Pattern | undefined;
  /** How much lower the peak of allocated bytes would be without it, if counted. */
  readonly lowersPeakBytes?: number;
  readonly events: { readonly first: EventIndex; readonly last: EventIndex };
  readonly parts: readonly FindingPart[];
  readonly facts: readonly Fact[];
  readonly evidence: Evidence;
  /** The event after which the evidence is what the claim counts. */
  readonly moment: EventIndex;
  readonly series?: Series | undefined;
  /** In the order to try. */
  readonly advice: readonly string[];
  /** What you would see if the claim were wrong. */
  readonly disproof: string;
  /** The same for the same cause in another recording: no addresses, row numbers or absolute paths. */
  readonly fingerprint: string;
}

/** Findings of one detector, limited to its ID and declared kinds. */
export type FindingBy<D extends Detector> = AnyFinding<D['id'], keyof D['titles'] & string>;

export type DetectorResult<Found extends AnyFinding = AnyFinding> =
  | { readonly status: 'found'; readonly findings: readonly Found[] }
  /** `checked`: what was examined, in one sentence. */
  | { readonly status: 'clear'; readonly checked: string }
  | { readonly status: 'cannot-tell'; readonly reason: string };

export type HighlightStyle = 'growth' | 'gap' | 'pending' | 'oom' | 'other';

/** What the page, the command line and the docs need to know about a detector before it runs. */
export interface Detector {
  readonly id: string;
  readonly about: string;
  /** By kind of finding. */
  readonly titles: Readonly<Record<string, string>>;
  /** What the bytes mean, or at which moment: 'at the peak'. Follows the figure when it stands alone. */
  readonly bytesAre: string;
  readonly bytesOfKind?: Readonly<Record<string, string>>;
  /** The label of its findings on the timeline. */
  readonly highlight: { readonly style: HighlightStyle; readonly label: string };
  /** The search that shows the evidence: its own blocks, all that wait for a stream, or none (all live memory). */
  readonly evidenceSearch: 'blocks' | 'pending' | 'none';
  /** Whether other allocator settings may fix it: its findings then quote a simulated setting. */
  readonly isMendedBySettings?: boolean;
}
