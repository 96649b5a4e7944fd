/** The result of a comparison: plain data for the page, the command line and reports. */
import type { RunProfile, SideEntry, SideFrame, SizeCount, StackRun } from './run-profile.ts';

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

export interface CallSiteChange {
  readonly kind: ChangeKind;
  readonly class: string;
  readonly a: SiteHalf | undefined;
  readonly b: SiteHalf | undefined;
  readonly bytesA: number;
  readonly bytesB: number;
  readonly differenceBytes: number;
  readonly countA: number;
  readonly countB: number;
  readonly sizesA: readonly SizeCount[];
  readonly sizesB: readonly SizeCount[];
}

export interface ClassChange {
  readonly class: string;
  readonly bytesA: number;
  readonly bytesB: number;
}

/** Matching entries of both accounts: of the same kind and, for kept memory, of the same function. */
export interface EntryChange extends Pick<SideEntry, 'kind' | 'lines' | 'rate'> {
  readonly bytesA: number;
  readonly bytesB: number;
  readonly differenceBytes: number;
  readonly countA: number;
  readonly countB: number;
}

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
