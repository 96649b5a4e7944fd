/**
 * The names of a comparison's parts: plain data for the page, the command line and reports, as the functions make them.
 *
 * A profile is what a device holds at one event, by call site and class, and what is needed to find the same call sites
 * in another snapshot. It has a few hundred kB, so each file can have its own worker.
 */
import type { FrameView } from '../../device/model/types.ts';
import type { buildProfile, SideSite } from './build-profile.ts';
import type { causeOf } from './causes.ts';
import type { compareSides, factsOf, runChangeOf } from './compare.ts';
import type { siteChange } from './match-sites.ts';

/** A line of Python, or the name of a C++ stack: 'AddmmBackward0 (backward pass)'. */
export type SideFrame = Pick<FrameView, 'name' | 'filename' | 'line' | 'kind'>;

/** Which moment of its recording a side shows. */
export type Moment = 'peak' | 'end';

export type RunProfile = ReturnType<typeof buildProfile>;
export type SideEntry = RunProfile['entries'][number];
export type SizeCount = SideSite['sizes'][number];

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

/** A part of both sides: its bytes and allocations. */
export interface Change {
  readonly bytesA: number;
  readonly bytesB: number;
  readonly differenceBytes: number;
  readonly countA: number;
  readonly countB: number;
}

export type CallSiteChange = ReturnType<typeof siteChange>;
export type SiteHalf = NonNullable<CallSiteChange['a']>;
export type RunChange = NonNullable<ReturnType<typeof runChangeOf>>;
export type RunChangeKind = 'lives-longer' | 'lives-shorter' | 'churns-more' | 'churns-less';
export type ComparisonFacts = ReturnType<typeof factsOf>;
export type EntryChange = ComparisonFacts['entries'][number];
export type Cause = ReturnType<typeof causeOf>;
export type Comparison = ReturnType<typeof compareSides>;
