/**
 * The messages between the page and the workers of its ranks page. One kind of worker does both jobs: some summarize
 * snapshots, one file at a time, and drop the tables; one holds all summaries.
 */

import type { Job, JobRank, Outlier } from '../../analysis/ranks/types.ts';
import type { ReadRank } from '../../analysis/summary-file/read-rank-file.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import type { OpenSource } from '../protocol.ts';
import type { Method } from '../rpc.ts';

/** A file of a job, and its path in the folder. */
export interface RankSource {
  readonly path: string;
  readonly source: OpenSource;
}

/** A rank without its summary, which stays in the worker. */
export interface RankRow extends Omit<JobRank, 'summary'> {
  readonly device: number;
  /** At the peak; null if unknown. */
  readonly allocatedBytes: number | null;
  readonly reservedBytes: number | null;
  readonly peakEvent: number;
  /** Bytes at the peak, by MemoryClass. */
  readonly classBytes: readonly number[];
  readonly ooms: number;
  readonly recording: string;
  readonly steps: number;
  /** How it differs from the others: one of `Job.outliers`, or `Job.difference`. */
  readonly outlier: Outlier | undefined;
}

export interface JobView extends Omit<Job, 'ranks'> {
  readonly ranks: readonly RankRow[];
  /** {@link CURVE_POINTS} per rank: allocated bytes over time, NaN past a shorter curve. */
  readonly curves: Float32Array;
  /** `heatSteps` per rank: the highest allocated bytes of a step, NaN after the rank's last one. */
  readonly heat: Float32Array;
  /** Columns of the heat map, `stepsPerColumn` steps each; 0 if no rank has steps. */
  readonly heatSteps: number;
  readonly stepsPerColumn: number;
}

/** The width of a strip in pixels. */
export const CURVE_POINTS = 160;
/** Columns of a heat map. With more steps, several share a column, which shows their highest. */
export const MAX_HEAT_STEPS = 240;

export const MAX_MIDDLE_RANKS = 64;

/** A line of a rank beside the middle of its role. */
export interface LineRow {
  readonly label: string;
  readonly class: string | null;
  readonly frame: FrameReport | null;
  readonly bytes: number;
  readonly count: number;
  /** null if nothing differs from the role, or the rank is alone in it. */
  readonly roleBytes: number | null;
}

export interface RankDetails {
  readonly rank: number;
  readonly verdict: string;
  /** What the rank is compared with: 'its role', 'rank 0'. */
  readonly peers: string;
  /** Lines that differ from the role, the farthest first; if none does, the largest lines. */
  readonly lines: readonly LineRow[];
  /** The other ranks of its role, the nearest to the middle first; at most {@link MAX_MIDDLE_RANKS}. */
  readonly middleRanks: readonly number[];
  readonly leftOut: readonly string[];
  /** The last event of each heat map column. */
  readonly stepEvents: readonly number[];
}

export interface RanksMethods {
  /** Reads one file, then forgets it. */
  readonly readRank: Method<RankSource, ReadRank>;
  /** Reads summaries from files and keeps them; reports how many have been read. */
  readonly readSummaries: Method<{ readonly sources: readonly RankSource[] }, undefined, number>;
  readonly add: Method<{ readonly path: string; readonly read: ReadRank }, undefined>;
  readonly job: Method<undefined, JobView>;
  readonly details: Method<{ readonly rank: number }, RankDetails | undefined>;
  readonly markdown: Method<undefined, string>;
}
