/**
 * The messages between the page and the workers of its ranks page. One kind of worker does both jobs: several
 * make a summary of a snapshot each, one file at a time, and forget its tables; one holds all summaries.
 */

import type { Job, JobRank, Outlier } from '../../analysis/ranks/types.ts';
import type { ReadRank } from '../../analysis/summary-file/read-rank-file.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import type { OpenSource } from '../protocol.ts';
import type { Method } from '../rpc.ts';

/** A file of a job, and what it is called in its folder. */
export interface RankSource {
  readonly path: string;
  readonly source: OpenSource;
}

/** A rank without its summary, which stays in the worker. */
export interface RankRow extends Omit<JobRank, 'summary'> {
  readonly device: number;
  /** Of the peak; null where it is not known. */
  readonly allocatedBytes: number | null;
  readonly reservedBytes: number | null;
  readonly peakEvent: number;
  /** Bytes at the peak, by MemoryClass. */
  readonly classBytes: readonly number[];
  readonly ooms: number;
  readonly recording: string;
  readonly steps: number;
  /** What is unlike others of it: one of `Job.outliers`, or `Job.difference`. */
  readonly outlier: Outlier | undefined;
}

export interface JobView extends Omit<Job, 'ranks'> {
  readonly ranks: readonly RankRow[];
  /** {@link CURVE_POINTS} for each rank: allocated bytes over time, NaN where there are fewer points. */
  readonly curves: Float32Array;
  /** `heatSteps` for each rank: the highest allocated bytes of a step, NaN after the rank's last one. */
  readonly heat: Float32Array;
  /** Columns of the heat map; each is `stepsPerColumn` steps. 0 where no rank has steps. */
  readonly heatSteps: number;
  readonly stepsPerColumn: number;
}

/** As many as a strip has pixels. */
export const CURVE_POINTS = 160;
/** Steps that a heat map shows; more share a column, which shows the highest. */
export const MAX_HEAT_STEPS = 240;

export const MAX_MIDDLE_RANKS = 64;

/** A line of a rank beside the middle of its role. */
export interface LineRow {
  readonly label: string;
  readonly class: string | null;
  readonly frame: FrameReport | null;
  readonly bytes: number;
  readonly count: number;
  /** null where nothing differs from the role, or the rank is alone in it. */
  readonly roleBytes: number | null;
}

export interface RankDetails {
  readonly rank: number;
  readonly verdict: string;
  /** What it is compared with: 'its role', 'rank 0'. */
  readonly peers: string;
  /** Those that differ from the role, the farthest first; where none does, the largest. */
  readonly lines: readonly LineRow[];
  /** The other ranks of its role, the nearest to the middle first: at most {@link MAX_MIDDLE_RANKS}. */
  readonly middleRanks: readonly number[];
  readonly leftOut: readonly string[];
  /** The last event of each column of the heat map. */
  readonly stepEvents: readonly number[];
}

export interface RanksMethods {
  /** One file, read and forgotten. */
  readonly readRank: Method<RankSource, ReadRank>;
  /** Summaries from files, kept here; reports how many have been read. */
  readonly readSummaries: Method<{ readonly sources: readonly RankSource[] }, undefined, number>;
  readonly add: Method<{ readonly path: string; readonly read: ReadRank }, undefined>;
  readonly job: Method<undefined, JobView>;
  readonly details: Method<{ readonly rank: number }, RankDetails | undefined>;
  readonly markdown: Method<undefined, string>;
}
