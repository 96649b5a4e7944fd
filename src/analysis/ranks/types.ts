/** A job's ranks, what they do, and which of them differs from the others. */
import type { LoadFailure } from '../../base/load-error.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { PipelineStages } from './pipeline.ts';

export interface RankFile {
  /** As given: a path, or a name in a folder. */
  readonly path: string;
  readonly summary: RankSummary;
}

export interface UnreadFile {
  readonly path: string;
  readonly failure: Pick<LoadFailure, 'code' | 'message'>;
}

export interface NumberedFile extends RankFile {
  readonly rank: number;
  /** No name contained this rank: it was counted. */
  readonly isCounted: boolean;
  /** When it was recorded, according to its name: 'EXTEND', 'step 10'; or ''. */
  readonly moment: string;
  /** Files of the same rank that are not shown: other moments or duplicates. */
  readonly others: readonly string[];
}

export interface JobRank extends NumberedFile {
  readonly role: number;
  /**
   * Peak of allocated bytes above the median of comparable ranks, or above the other one of two; null if there are
   * none. Excludes what a pipeline explains.
   */
  readonly aboveRoleBytes: number | null;
}

export interface Role {
  /** 'A', 'B', … in order of first rank, or a layout's names. */
  readonly name: string;
  readonly ranks: readonly number[];
  /** How it differs from the other roles, as a phrase. */
  readonly about: string;
}

export const OUTLIER_CAUSES = ['growth', 'more', 'larger', 'only-here', 'fragmentation'] as const;
export type OutlierCause = (typeof OUTLIER_CAUSES)[number];

export interface Outlier {
  readonly rank: number;
  readonly counter: 'allocatedBytes' | 'reservedBytes';
  readonly bytes: number;
  readonly aboveRoleBytes: number;
  readonly cause: OutlierCause;
  /** The line that differs most; null if none was recorded for it. */
  readonly frame: FrameReport | null;
  /** The class of most of the difference: 'activations'; null if unknown. */
  readonly class: string | null;
  /** The other rank when comparing two; null when comparing with a whole role. */
  readonly comparedWith: number | null;
  readonly claim: string;
}

/** A note about the files. Everything readable is still shown. */
export interface JobProblem {
  readonly code:
    | 'missing-ranks'
    | 'two-files-of-one-rank'
    | 'unreadable'
    | 'partial'
    | 'newer-summary'
    | 'several-jobs'
    | 'unknown-ranks'
    | 'no-memory';
  /** Empty if it concerns missing files. */
  readonly files: readonly string[];
  readonly message: string;
}

export interface FailureReport {
  /** Ranks whose program saw an out-of-memory error, the earliest step first. */
  readonly failed: readonly { readonly rank: number; readonly step: number | null }[];
  readonly first: readonly number[];
  /** A sentence or two; '' if nothing failed. */
  readonly text: string;
}

export interface Job {
  readonly ranks: readonly JobRank[];
  readonly roles: readonly Role[];
  /** The largest distance first. Of two ranks that do the same, the one that holds more. */
  readonly outliers: readonly Outlier[];
  /** How two ranks differ that make up the whole job and do different work; null in all other jobs. */
  readonly difference: Outlier | null;
  readonly pipeline: Pick<PipelineStages, 'bytes' | 'text'> | undefined;
  readonly failure: FailureReport;
  readonly problems: readonly JobProblem[];
  /** What could not be judged, and what applies to all ranks: one sentence each. */
  readonly notes: readonly string[];
  readonly verdict: string;
}
