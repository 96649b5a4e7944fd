/** What the page shows of a job: rows, curves as columns of numbers, and one rank beside its role. */

import { highest, median } from '../../base/extremes.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import type { RankSummary } from '../summary-file/types.ts';
import { linesOf } from './rank-lines.ts';
import type { Job, JobRank, Outlier } from './types.ts';

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
const MAX_HEAT_STEPS = 240;

const MAX_MIDDLE_RANKS = 64;

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

/** Lines of a rank listed beside its role's. */
const MAX_LINES = 40;
/** As a share of the rank's peak: smaller differences count as equal. */
const MIN_DIFFERENCE = 0.002;

export function jobView(job: Job): JobView {
  const { ranks, ...rest } = job;
  const most = Math.max(0, ...ranks.map(({ summary }) => summary.steps?.count ?? 0));
  const stepsPerColumn = Math.max(1, Math.ceil(most / MAX_HEAT_STEPS));
  const heatSteps = Math.ceil(most / stepsPerColumn);
  const curves = new Float32Array(ranks.length * CURVE_POINTS).fill(Number.NaN);
  const heat = new Float32Array(ranks.length * heatSteps).fill(Number.NaN);
  ranks.forEach(({ summary }, i) => {
    fillHighest(
      summary.curve.allocatedBytes,
      curves.subarray(i * CURVE_POINTS, (i + 1) * CURVE_POINTS),
    );
    const { steps } = summary;
    if (steps === null) return;
    const columns = heat.subarray(
      i * heatSteps,
      i * heatSteps + Math.ceil(steps.count / stepsPerColumn),
    );
    fillHighest(steps.allocatedBytes, columns);
  });
  const rows = ranks.map((rank) => rankRow(rank, job));
  return { ...rest, ranks: rows, curves, heat, heatSteps, stepsPerColumn };
}

/** Sets each entry of `out` to the highest value in its share; with fewer values, to the value it lies in. */
function fillHighest(values: readonly number[], out: Float32Array): void {
  if (values.length === 0) return;
  const share = values.length / out.length;
  for (let i = 0; i < out.length; i++) {
    const from = Math.floor(i * share);
    const to = Math.max(from + 1, Math.floor((i + 1) * share));
    out[i] = highest(values.slice(from, to));
  }
}

function rankRow({ summary, ...rank }: JobRank, { outliers, difference }: Job): RankRow {
  const { peak, steps } = summary;
  return {
    ...rank,
    device: summary.device,
    allocatedBytes: peak.allocatedBytes.bytes,
    reservedBytes: peak.reservedBytes.bytes,
    peakEvent: peak.allocatedBytes.event,
    classBytes: classBytes(summary),
    ooms: summary.oomCount,
    recording: summary.recording,
    steps: steps?.count ?? 0,
    outlier:
      difference?.rank === rank.rank
        ? difference
        : outliers.find((outlier) => outlier.rank === rank.rank),
  };
}

/** A class that this version does not know counts as unknown. */
function classBytes({ classes }: RankSummary): number[] {
  const bytes = MEMORY_CLASSES.map(() => 0);
  for (const { class: id, peakBytes } of classes) {
    const known = MEMORY_CLASSES.findIndex((one) => one.id === id);
    const at = Math.max(0, known);
    bytes[at] = (bytes[at] ?? 0) + peakBytes;
  }
  return bytes;
}

export function rankDetails(job: Job, rank: number): RankDetails | undefined {
  const own = job.ranks.find((one) => one.rank === rank);
  if (own === undefined) return undefined;
  const isPair = job.ranks.length === 2;
  const peers = job.ranks.filter((one) => one !== own && (isPair || one.role === own.role));
  const { summary } = own;
  return {
    rank,
    verdict: summary.verdict?.text ?? '',
    peers: isPair ? `rank ${peers[0]?.rank}` : 'its role',
    lines: lineRows(
      summary,
      peers.map((peer) => peer.summary),
    ),
    middleRanks: nearestToMiddle(own, peers),
    leftOut: summary.leftOut,
    stepEvents: summary.steps?.lastEvents ?? [],
  };
}

function lineRows(summary: RankSummary, peers: readonly RankSummary[]): LineRow[] {
  const own = linesOf(summary);
  const others = peers.map((peer) => linesOf(peer));
  const keys = new Set([...own.uses.keys(), ...(others[0]?.uses.keys() ?? [])]);
  const rows = [...keys].map((key): LineRow => {
    const { label, class: ownClass, frame, bytes, count } = own.use(key);
    const roleBytes =
      others.length === 0 ? null : median(others.map((other) => other.use(key).bytes));
    const named =
      label === '' ? (others[0]?.use(key) ?? { label, class: ownClass, frame }) : undefined;
    return {
      label: named?.label ?? label,
      class: named?.class ?? ownClass,
      frame: named?.frame ?? frame,
      bytes,
      count,
      roleBytes,
    };
  });
  const weight = ({ bytes, roleBytes }: LineRow) =>
    roleBytes === null ? bytes : Math.abs(bytes - roleBytes);
  const least = MIN_DIFFERENCE * (summary.peak.allocatedBytes.bytes ?? 0);
  const far = rows.filter((row) => row.roleBytes !== null && weight(row) > least);
  if (far.length === 0) {
    return rows
      .filter(({ bytes }) => bytes > 0)
      .map((row) => ({ ...row, roleBytes: null }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MAX_LINES);
  }
  return far.sort((a, b) => weight(b) - weight(a) || b.bytes - a.bytes).slice(0, MAX_LINES);
}

function nearestToMiddle(own: JobRank, peers: readonly JobRank[]): number[] {
  const peakOf = ({ summary }: JobRank) => summary.peak.allocatedBytes.bytes ?? 0;
  const middle = median([own, ...peers].map(peakOf));
  return peers
    .toSorted(
      (a, b) => Math.abs(peakOf(a) - middle) - Math.abs(peakOf(b) - middle) || a.rank - b.rank,
    )
    .slice(0, MAX_MIDDLE_RANKS)
    .map(({ rank }) => rank);
}
