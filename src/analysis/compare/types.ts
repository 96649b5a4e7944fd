/** What a comparison says: plain data for the page, the command line and reports. */
import type { RunProfile, SideEntry, SideFrame, SizeCount, StackRun } from './run-profile.ts';

/**
 * How the live allocations of a call site differ. more, fewer: copies of the sizes that were there before.
 * larger, smaller: as many, of other sizes. mixed: neither.
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

/** What a call site has on one side. */
export interface SiteHalf {
  /** The line that stands for it; undefined where no stack was recorded. */
  readonly frame: SideFrame | undefined;
  /** Where memory was asked for: often a line of PyTorch that `frame` led to. */
  readonly innermost: SideFrame | undefined;
  /** The side's stacks in it, the one that holds most first. */
  readonly stacks: readonly number[];
  /** An allocation of the first of them, by AllocationIndex; -1 for what is no allocation. */
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

/** Entries of both accounts that are one: of a kind, and of what is kept, those of the same function. */
export interface EntryChange extends Pick<SideEntry, 'kind' | 'lines' | 'rate'> {
  readonly bytesA: number;
  readonly bytesB: number;
  readonly differenceBytes: number;
  readonly countA: number;
  readonly countB: number;
}

/** Why entries differ. */
export interface Cause {
  /** The difference of its entries. */
  readonly bytes: number;
  /** The largest change first. */
  readonly entries: readonly EntryChange[];
  /** false: neither the entries nor the rest of the two files say why. */
  readonly isExplained: boolean;
  /** '+1.20 GiB of activations: the batch …', without a stop. */
  readonly text: string;
}

export interface SettingChange {
  readonly name: string;
  /** 'not recorded' where a file does not have it. */
  readonly a: string;
  readonly b: string;
}

/** How a call stack behaves over the run, where both have it. */
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
  /** Allocated bytes of B less those of A, at the events looked at. The call sites and the classes sum to it. */
  readonly differenceBytes: number;
  /** All of both sides, the largest change first; those that did not change come last. */
  readonly sites: readonly CallSiteChange[];
  readonly classes: readonly ClassChange[];
  /** Of both accounts, the largest change first; the differences sum to it too. */
  readonly entries: readonly EntryChange[];
  /** Why entries differ, the one that explains most bytes first: each entry that differs is in one. */
  readonly causes: readonly Cause[];
  readonly settings: readonly SettingChange[];
  readonly runChanges: readonly RunChange[];
  /** Lines of the user's functions that allocate on one side and are not in the other's code: the largest first. */
  readonly oneSided: { readonly a: readonly SideFrame[]; readonly b: readonly SideFrame[] };
  readonly verdict: string;
  /** What the verdict begins with: how much it is, and the cause that explains most. */
  readonly headline: string;
  /** What limits the comparison, in sentences: another device, no history, the same file. */
  readonly caveats: readonly string[];
}

/** What causes and verdict are made of. */
export type ComparisonFacts = Omit<Comparison, 'causes' | 'verdict' | 'headline'>;
