/**
 * The detectors, in the order they run. To add one, write a file in detectors/ that exports its description and its
 * `detect…` function, and add a line to each of the two lists here. There are two so that the page, which needs only
 * descriptions, loads no detector code: that runs in a worker.
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

type KnownDetector = (typeof DETECTORS)[number];
export type DetectorId = KnownDetector['id'];
type KindOf<D> = D extends { readonly titles: infer Titles } ? keyof Titles : never;
export type FindingKind = KindOf<KnownDetector>;
export type Finding = AnyFinding<DetectorId, FindingKind>;

export interface Check {
  readonly detector: DetectorId;
  readonly status: DetectorResult['status'];
  /** What was checked, or why it is unknown; for 'found', the number of findings. */
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

/** Older links and scripts use these names. */
const FORMER_IDS: Readonly<Record<string, DetectorId>> = { churn: 'segment-thrashing' };

/** A detector by its current or former name; undefined for any other word. */
export function detectorIdOf(word: string): DetectorId | undefined {
  return DETECTOR_IDS.find((id) => id === word) ?? FORMER_IDS[word];
}

export function titleOf({ detector, kind }: Pick<Finding, 'detector' | 'kind'>): string {
  return detectorOf({ detector }).titles[kind];
}

/** What a finding's bytes mean: 'kept in all'. A leak has a figure per step, at the peak and at the end. */
export function bytesAreOf({ detector, kind }: Pick<Finding, 'detector' | 'kind'>): string {
  const { bytesAre, bytesOfKind } = detectorOf({ detector });
  return bytesOfKind?.[kind] ?? bytesAre;
}

export function detectorOf({ detector }: { readonly detector: DetectorId }): Detector {
  const known = DETECTORS.find(({ id }) => id === detector);
  if (known === undefined) throw new Error(`There is no detector ${detector}`);
  return known;
}
