/** What the page shows of a job: rows, curves as columns of numbers, and one rank beside its role. */

import { highest, median } from '../../base/extremes.ts';
import { formatBytes } from '../../base/format.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { Job, JobRank } from './analyse-job.ts';
import { linesOf, type RankLines } from './rank-lines.ts';

export type JobView = ReturnType<typeof jobView>;
export type RankRow = ReturnType<typeof rankRow>;
export type RankDetails = NonNullable<ReturnType<typeof rankDetails>>;
export type LineRow = ReturnType<typeof lineRow>;

/** The width of a strip in pixels. */
export const CURVE_POINTS = 160;
/** Columns of a heat map. With more steps, several share a column, which shows their highest. */
const MAX_HEAT_STEPS = 240;
const MAX_MIDDLE_RANKS = 64;
/** Lines of a rank listed beside its role's. */
const MAX_LINES = 40;
/** As a share of the rank's peak: smaller differences count as equal. */
const MIN_DIFFERENCE = 0.002;

/** The job without its summaries, which stay in the worker. */
export function jobView(job: Job) {
  const { ranks, ...rest } = job;
  const most = Math.max(0, ...ranks.map(({ summary }) => summary.steps?.count ?? 0));
  const stepsPerColumn = Math.max(1, Math.ceil(most / MAX_HEAT_STEPS));
  const heatSteps = Math.ceil(most / stepsPerColumn);
  const curves = new Float32Array(ranks.length * CURVE_POINTS).fill(Number.NaN);
  const heat = new Float32Array(ranks.length * heatSteps).fill(Number.NaN);
  ranks.forEach(({ summary: { curve, steps } }, i) => {
    fillHighest(curve.allocatedBytes, curves.subarray(i * CURVE_POINTS, (i + 1) * CURVE_POINTS));
    if (steps === null) return;
    const columns = Math.ceil(steps.count / stepsPerColumn);
    const row = heat.subarray(i * heatSteps, i * heatSteps + columns);
    fillHighest(steps.allocatedBytes, row);
  });
  return {
    ...rest,
    ranks: ranks.map((rank) => rankRow(rank, job)),
    /** {@link CURVE_POINTS} per rank: allocated bytes over time, NaN without a curve. */
    curves,
    /** `heatSteps` per rank: the highest allocated bytes of a step, NaN after the rank's last one. */
    heat,
    /** Columns of the heat map, `stepsPerColumn` steps each; 0 if no rank has steps. */
    heatSteps,
    stepsPerColumn,
  };
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

const rankRow = ({ summary, ...rank }: JobRank, { outliers, difference }: Job) => ({
  ...rank,
  device: summary.device,
  recording: summary.recording,
  /** At the peak; null if unknown. */
  allocatedBytes: summary.peak.allocatedBytes.bytes,
  reservedBytes: summary.peak.reservedBytes.bytes,
  classBytes: classBytes(summary),
  ooms: summary.oomCount,
  steps: summary.steps?.count ?? 0,
  /** How it differs from the others: one of `Job.outliers`, or `Job.difference`. */
  outlier: [difference, ...outliers].find((one) => one?.rank === rank.rank) ?? undefined,
});

/** Bytes at the peak, by MemoryClass. A class that this version does not know counts as unknown. */
function classBytes({ classes }: RankSummary): number[] {
  const bytes = MEMORY_CLASSES.map(() => 0);
  for (const { class: id, peakBytes } of classes) {
    const known = MEMORY_CLASSES.findIndex((one) => one.id === id);
    bytes[Math.max(0, known)] += peakBytes;
  }
  return bytes;
}

/** '+88.00 MiB'; '' if there is nothing to compare with, '0' if there is no difference. */
export function aboveText({ aboveRoleBytes }: Pick<JobRank, 'aboveRoleBytes'>): string {
  if (aboveRoleBytes === null) return '';
  if (Math.abs(aboveRoleBytes) < 1) return '0';
  return `${aboveRoleBytes > 0 ? '+' : ''}${formatBytes(aboveRoleBytes)}`;
}

export function rankDetails(job: Job, rank: number) {
  const own = job.ranks.find((one) => one.rank === rank);
  if (own === undefined) return undefined;
  const isPair = job.ranks.length === 2;
  const peers = job.ranks.filter((one) => one !== own && (isPair || one.role === own.role));
  const { summary } = own;
  const others = peers.map((peer) => linesOf(peer.summary));
  return {
    rank,
    verdict: summary.verdict?.text ?? '',
    /** What the rank is compared with: 'its role', 'rank 0'. */
    peers: isPair ? `rank ${peers[0]?.rank}` : 'its role',
    lines: lineRows(linesOf(summary), others),
    /** The other ranks of its role, the nearest to the middle first; at most {@link MAX_MIDDLE_RANKS}. */
    middleRanks: nearestToMiddle(own, peers),
    leftOut: summary.leftOut,
    /** The last event of each heat map column. */
    stepEvents: summary.steps?.lastEvents ?? [],
  };
}

/** Lines that differ from the role, the farthest first; if none does, the largest lines. */
function lineRows(own: RankLines, others: readonly RankLines[]): LineRow[] {
  const keys = new Set([...own.uses.keys(), ...(others[0]?.uses.keys() ?? [])]);
  const rows = [...keys].map((key) => lineRow(key, own, others));
  const distance = ({ bytes, roleBytes }: LineRow) =>
    roleBytes === null ? 0 : Math.abs(bytes - roleBytes);
  const far = rows.filter((row) => distance(row) > MIN_DIFFERENCE * own.peakBytes);
  const held = rows.filter(({ bytes }) => bytes > 0);
  const shown = far.length > 0 ? far : held.map((row) => ({ ...row, roleBytes: null }));
  return shown.sort((a, b) => distance(b) - distance(a) || b.bytes - a.bytes).slice(0, MAX_LINES);
}

/** A line of a rank beside the middle of its role. */
function lineRow(key: string, own: RankLines, others: readonly RankLines[]) {
  const { bytes, count } = own.use(key);
  const { label, class: ofClass, frame } = own.uses.get(key) ?? others[0].use(key);
  return {
    ...{ label, class: ofClass, frame, bytes, count },
    /** null if nothing differs from the role, or the rank is alone in it. */
    roleBytes: others.length === 0 ? null : median(others.map((other) => other.use(key).bytes)),
  };
}

function nearestToMiddle(own: JobRank, peers: readonly JobRank[]): number[] {
  const peakOf = ({ summary }: JobRank) => summary.peak.allocatedBytes.bytes ?? 0;
  const middle = median([own, ...peers].map(peakOf));
  const distance = (one: JobRank) => Math.abs(peakOf(one) - middle);
  return peers
    .toSorted((a, b) => distance(a) - distance(b) || a.rank - b.rank)
    .slice(0, MAX_MIDDLE_RANKS)
    .map(({ rank }) => rank);
}
