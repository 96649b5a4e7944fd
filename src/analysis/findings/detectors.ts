/**
 * The detectors, in the order in which they run. To add one: a file in detectors/ that exports what it is and
 * its `detect…` function, and a line for each of the two here. What the page needs of a detector is apart from what
 * runs it, so that the page loads no detector: those run in a worker.
 */

import { detectFragmentation, fragmentation } from '../detectors/fragmentation.ts';
import { detectGrowth, growth } from '../detectors/growth.ts';
import { detectLevelShift, levelShift } from '../detectors/level-shift.ts';
import { detectNoGrad, noGrad } from '../detectors/no-grad.ts';
import { detectOom, oom } from '../detectors/oom.ts';
import { detectPendingFree, pendingFree } from '../detectors/pending-free.ts';
import { detectSegmentThrashing, segmentThrashing } from '../detectors/segment-thrashing.ts';
import type { AnalysisInput } from './analysis-input.ts';
import type { AnyFinding, Detector, DetectorResult } from './types.ts';

export const DETECTORS = [
  growth,
  oom,
  fragmentation,
  noGrad,
  pendingFree,
  segmentThrashing,
  levelShift,
] as const satisfies readonly Detector[];

/** One of the detectors that there are. */
type KnownDetector = (typeof DETECTORS)[number];
export type DetectorId = KnownDetector['id'];
type KindOf<D> = D extends { readonly titles: infer Titles } ? keyof Titles : never;
export type FindingKind = KindOf<KnownDetector>;
export type Finding = AnyFinding<DetectorId, FindingKind>;

export interface Check {
  readonly detector: DetectorId;
  readonly status: DetectorResult['status'];
  /** What was checked, or why it is unknown; for 'found' how many findings. */
  readonly reason: string;
}

export const RUN_DETECTOR: Readonly<
  Record<DetectorId, (context: AnalysisInput) => DetectorResult<Finding>>
> = {
  growth: detectGrowth,
  oom: detectOom,
  fragmentation: detectFragmentation,
  'no-grad': detectNoGrad,
  'pending-free': detectPendingFree,
  'segment-thrashing': detectSegmentThrashing,
  'level-shift': detectLevelShift,
};

export const DETECTOR_IDS: readonly DetectorId[] = DETECTORS.map(({ id }) => id);

/** What a detector is called in links and scripts of before it got its name of today. */
const FORMER_IDS: Readonly<Record<string, DetectorId>> = { churn: 'segment-thrashing' };

/** A detector by its name, or by the name that it had before; undefined for any other word. */
export function detectorIdOf(word: string): DetectorId | undefined {
  return DETECTOR_IDS.find((id) => id === word) ?? FORMER_IDS[word];
}

/** What a finding is called. */
export function titleOf({ detector, kind }: Pick<Finding, 'detector' | 'kind'>): string {
  return detectorOf({ detector }).titles[kind];
}

/** What a finding's bytes are: 'kept by the end'. A leak has a figure a step, at the peak and at the end. */
export function bytesAreOf({ detector, kind }: Pick<Finding, 'detector' | 'kind'>): string {
  const { bytesAre, bytesOfKind } = detectorOf({ detector });
  return bytesOfKind?.[kind] ?? bytesAre;
}

export function detectorOf({ detector }: { readonly detector: DetectorId }): Detector {
  const known = DETECTORS.find(({ id }) => id === detector);
  if (known === undefined) throw new Error(`There is no detector ${detector}`);
  return known;
}
