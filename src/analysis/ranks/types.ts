/** A job's ranks, what they do, and which of them is unlike the others. */
import type { LoadFailure } from '../../base/load-error.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { PipelineStages } from './pipeline.ts';

/** A summary, and the file that it was made of or read from. */
export interface RankFile {
  /** As it was given: a path, or a name in a folder. */
  readonly path: string;
  readonly summary: RankSummary;
}

/** A file that could not be read. */
export interface UnreadFile {
  readonly path: string;
  readonly failure: Pick<LoadFailure, 'code' | 'message'>;
}

export interface NumberedFile extends RankFile {
  readonly rank: number;
  /** No name said which rank this is: it was counted. */
  readonly isCounted: boolean;
  /** When it was recorded, as its name says: 'EXTEND', 'step 10'; '' where it does not. */
  readonly moment: string;
  /** Files of the same rank that are not shown: of other moments, or second ones. */
  readonly others: readonly string[];
}

/** One rank that could be read. */
export interface JobRank extends NumberedFile {
  /** Position in `Job.roles`. */
  readonly role: number;
  /**
   * Peak of allocated bytes above the middle of the ranks that it can be compared with, or above the other one
   * of two; null where it has none. Where a pipeline explains a part of it, that part does not count.
   */
  readonly aboveRoleBytes: number | null;
}

export interface Role {
  /** 'A', 'B', …, in the order of their first ranks; or as a layout file names them. */
  readonly name: string;
  readonly ranks: readonly number[];
  /** What tells it from the other roles, in half a sentence. */
  readonly about: string;
}

export const OUTLIER_CAUSES = ['growth', 'more', 'larger', 'only-here', 'fragmentation'] as const;
export type OutlierCause = (typeof OUTLIER_CAUSES)[number];

export interface Outlier {
  readonly rank: number;
  readonly counter: 'allocatedBytes' | 'reservedBytes';
  /** The rank's own peak. */
  readonly bytes: number;
  readonly aboveRoleBytes: number;
  readonly cause: OutlierCause;
  /** The line that differs most; null where no line was recorded for it. */
  readonly frame: FrameReport | null;
  /** What most of the difference is: 'activations'; null where it is not known. */
  readonly class: string | null;
  /** The other one where two ranks are compared; null where it is a whole role. */
  readonly comparedWith: number | null;
  readonly claim: string;
}

/** Something about the files that a reader must know. All that could be read is shown all the same. */
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
  /** Empty where it is about what is not there. */
  readonly files: readonly string[];
  readonly message: string;
}

export interface FailureReport {
  /** Ranks whose program saw an out-of-memory error, the earliest step first. */
  readonly failed: readonly { readonly rank: number; readonly step: number | null }[];
  /** Undefined where nothing failed, or where it is not known. */
  readonly first: readonly number[];
  /** In a sentence or two; '' where nothing failed. */
  readonly text: string;
}

export interface Job {
  /** By rank. */
  readonly ranks: readonly JobRank[];
  readonly roles: readonly Role[];
  /** The largest distance first. Of two ranks that do the same, the one that holds more. */
  readonly outliers: readonly Outlier[];
  /** How two ranks differ that make up the job and do different work; null in all other jobs. */
  readonly difference: Outlier | null;
  readonly pipeline: Pick<PipelineStages, 'bytes' | 'text'> | undefined;
  readonly failure: FailureReport;
  readonly problems: readonly JobProblem[];
  /** What could not be judged, and what holds for all ranks: a sentence each. */
  readonly notes: readonly string[];
  readonly verdict: string;
}
