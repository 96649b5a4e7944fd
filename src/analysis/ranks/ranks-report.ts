/** Output for a job: the contract `vramscope.ranks/1`, and tables and titles for terminal, Markdown and page. */

import { perCounter } from '../../allocator/replay/types.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, plural, shareNote } from '../../base/format.ts';
import { ranksText } from './problems.ts';
import { frameLabelOf } from './rank-lines.ts';
import type { Job, JobRank, Outlier } from './types.ts';

/** `vramscope ranks --json`. Unknown values are null, never 0. */
export function ranksReport(job: Job) {
  const { roles, outliers, difference, verdict, failure, problems } = job;
  return {
    schema: 'vramscope.ranks/1' as const,
    ranks: job.ranks.map(({ rank, path, summary, role, aboveRoleBytes, moment, others }) => ({
      rank,
      file: { name: path },
      device: summary.device,
      role: roles[role].name,
      peak: perCounter((name) => summary.peak[name].bytes),
      ooms: summary.oomCount,
      recording: summary.recording,
      aboveRoleBytes,
      /** 'EXTEND', 'step 10'; null if no name says it. */
      moment: moment || null,
      /** The rank's files from other moments. */
      otherFiles: others.map((name) => ({ name })),
    })),
    roles,
    outliers,
    /** For two ranks that do different work. */
    difference,
    verdict,
    failed: failure.failed,
    failedFirst: failure.first,
    problems,
  };
}

/** Larger jobs list only the ranks that matter, and the rest as one line. */
const MAX_LISTED = 32;

export interface RanksTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Says what was left out, or ''. */
  readonly rest: string;
}

/** By rank. Above 32 ranks: outliers, failed ranks, and the highest and lowest of each role. */
export function ranksTable(job: Job): RanksTable {
  const listed = job.ranks.length <= MAX_LISTED ? job.ranks : notable(job);
  const left = job.ranks.length - listed.length;
  const above = job.ranks.length === 2 ? 'above other' : 'above role';
  return {
    header: ['rank', 'role', 'allocated', 'reserved', above, 'OOMs', ''],
    rows: listed.map((rank) => rankRow(rank, job)),
    rest: left === 0 ? '' : `${plural(left, 'rank')} more between these.`,
  };
}

function notable({ ranks, roles, outliers, failure }: Job): JobRank[] {
  const wanted = new Set([
    ...outliers.slice(0, MAX_LISTED / 2).map(({ rank }) => rank),
    ...failure.failed.slice(0, MAX_LISTED / 4).map(({ rank }) => rank),
  ]);
  roles.slice(0, MAX_LISTED / 4).forEach((_, role) => {
    const own = ranks.filter((one) => one.role === role);
    const byPeak = own.toSorted((a, b) => peakOf(a) - peakOf(b));
    for (const end of [byPeak[0], byPeak.at(-1)]) if (end !== undefined) wanted.add(end.rank);
  });
  return ranks.filter(({ rank }) => wanted.has(rank));
}

const peakOf = ({ summary }: JobRank): number => summary.peak.allocatedBytes.bytes ?? 0;

function rankRow(rank: JobRank, job: Job): string[] {
  const { peak, oomCount, recording } = rank.summary;
  const outlier = job.outliers.find((one) => one.rank === rank.rank);
  const remarks = [
    outlier === undefined ? '' : `outlier: ${outlier.cause}`,
    recording === 'complete' ? '' : `recording: ${recording}`,
    rank.moment,
  ];
  return [
    String(rank.rank),
    job.roles[rank.role].name,
    formatBytes(peak.allocatedBytes.bytes ?? Number.NaN),
    formatBytes(peak.reservedBytes.bytes ?? Number.NaN),
    aboveText(rank),
    oomCount === 0 ? '' : String(oomCount),
    remarks.filter((one) => one !== '').join(', '),
  ];
}

/** '+88.00 MiB'; '' if there is nothing to compare with, '0' if there is no difference. */
export function aboveText({ aboveRoleBytes }: Pick<JobRank, 'aboveRoleBytes'>): string {
  if (aboveRoleBytes === null) return '';
  if (Math.abs(aboveRoleBytes) < 1) return '0';
  return `${aboveRoleBytes > 0 ? '+' : ''}${formatBytes(aboveRoleBytes)}`;
}

/** The parts of 'A  ranks 0, 1  peak 517.98 MiB  alone has …'. */
export function roleFacts(
  job: Job,
): { name: string; ranks: string; peak: string; about: string }[] {
  return job.roles.map(({ name, ranks, about }, i) => {
    const peaks = job.ranks.filter(({ role }) => role === i).map(peakOf);
    const [low, high] = [lowest(peaks), highest(peaks)].map(formatBytes);
    const peak = low === high ? high : `${low} to ${high}`;
    return { name, ranks: ranksText(ranks).toLowerCase(), peak, about };
  });
}

/** 'Rank 2: +88.00 MiB (17%) allocated, growth, fleet.py:26 (fsdp2)' */
export function outlierTitle(outlier: Outlier): string {
  const { rank, counter, bytes, aboveRoleBytes, cause, frame } = outlier;
  const share = shareNote(aboveRoleBytes, bytes - aboveRoleBytes);
  const what = counter === 'allocatedBytes' ? 'allocated' : 'reserved';
  const where = frame === null ? '' : `, ${frameLabelOf(frame)}`;
  return `Rank ${rank}: +${formatBytes(aboveRoleBytes)}${share} ${what}, ${cause}${where}`;
}
