/** `vramscope ranks`: the contract `vramscope.ranks/1`, and the job as text and Markdown. */
import { perCounter } from '../../allocator/replay/types.ts';
import { signedBytes } from '../../analysis/compare/change-text.ts';
import { growthOf } from '../../analysis/compare/series.ts';
import type { Job, JobRank } from '../../analysis/ranks/analyse-job.ts';
import { aboveText } from '../../analysis/ranks/job-view.ts';
import type { RankMoments } from '../../analysis/ranks/moments.ts';
import type { Outlier } from '../../analysis/ranks/outliers.ts';
import { ranksText as rankNumbers } from '../../analysis/ranks/problems.ts';
import { frameLabelOf } from '../../analysis/ranks/rank-lines.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, plural, shareNote } from '../../base/format.ts';
import { peakText } from '../../device/model/main-device.ts';
import type { Writer } from './text.ts';

/** `vramscope ranks --json`. Unknown values are null, never 0. */
export const buildRanks = ({ ranks, roles, outliers, difference, verdict, ...job }: Job) => ({
  schema: 'vramscope.ranks/1' as const,
  ranks: ranks.map(({ rank, path, summary, role, aboveRoleBytes, moment, others }) => ({
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
  failed: job.failure.failed,
  failedFirst: job.failure.first,
  problems: job.problems,
  /** The dumps of a job's only rank: allocated bytes at the end of each, by line. Null for other jobs. */
  moments:
    job.moments === null
      ? null
      : {
          dumps: job.moments.dumps.map(({ curve: _, ...dump }) => dump),
          lines: job.moments.lines.map((line) => ({ ...line, growthBytes: growthOf(line.bytes) })),
        },
});

/** Larger jobs list only the ranks that matter, and the rest as one line. */
const MAX_LISTED = 32;

export function ranksText(job: Job, write: Writer): string[] {
  const { ranks, outliers, problems } = job;
  const listed = ranks.length <= MAX_LISTED ? ranks : notable(job);
  const left = ranks.length - listed.length;
  const rest = left === 0 ? '' : `${plural(left, 'rank')} more between these.`;
  const above = ranks.length === 2 ? 'above other' : 'above role';
  const header = ['rank', 'role', 'allocated', 'reserved', above, 'OOMs', ''];
  const rows = listed.map((rank) => rankRow(rank, job));
  if (job.moments !== null) return momentsText(job, job.moments, write);
  return [
    ...write.heading('Memory of the ranks'),
    ...write.verdict(job.verdict),
    ...outliers.flatMap((outlier) =>
      write.section(outlierTitle(outlier), write.paragraph(outlier.claim), 'yellow'),
    ),
    ...write.section(
      'Roles',
      write.table([['role', 'ranks', 'peak allocated', ''], ...roleRows(job)]),
    ),
    ...write.section('Peaks', write.table([header, ...rows], rest)),
    ...write.section('Files', write.list(problems.map(({ message }) => message))),
  ];
}

const MAX_LINES = 20;

function momentsText(job: Job, { dumps, lines }: RankMoments, write: Writer): string[] {
  const rows = dumps.map(({ path, allocatedBytes, reservedBytes, peakBytes }) => [
    path,
    ...[allocatedBytes, peakBytes, reservedBytes].map((own) => formatBytes(own ?? Number.NaN)),
  ]);
  const changed = lines.filter(({ bytes }) => growthOf(bytes) !== 0);
  const names = dumps.map(({ moment }, i) => moment || `${i + 1}`);
  const ofLine = ({ label, bytes }: (typeof lines)[number]) => [
    label,
    ...bytes.map(formatBytes),
    signedBytes(growthOf(bytes)),
  ];
  const hidden = changed.length - MAX_LINES;
  const rest = hidden > 0 ? `${plural(hidden, 'line')} more with less growth` : '';
  return [
    ...write.heading('Memory of one process over time'),
    ...write.verdict(job.verdict),
    ...write.section('Dumps', write.table([['', 'allocated', 'peak', 'reserved'], ...rows])),
    ...write.section(
      'By line',
      write.table([['', ...names, 'growth'], ...changed.slice(0, MAX_LINES).map(ofLine)], rest),
    ),
    ...write.section('Files', write.list(job.problems.map(({ message }) => message))),
  ];
}

function roleRows({ roles, ranks }: Job): string[][] {
  return roles.map(({ name, ranks: numbers, about }, i) => {
    const peaks = ranks.filter(({ role }) => role === i).map(peakOf);
    const [low, high] = [lowest(peaks), highest(peaks)].map(formatBytes);
    const peak = low === high ? high : `${low} to ${high}`;
    return [name, rankNumbers(numbers).toLowerCase(), peak, about];
  });
}

const peakOf = ({ summary }: JobRank): number => summary.peak.allocatedBytes.bytes ?? 0;

/** Outliers, failed ranks, and the highest and lowest of each role. */
function notable({ ranks, roles, outliers, failure }: Job): JobRank[] {
  const ends = roles.slice(0, MAX_LISTED / 4).flatMap((_, role) => {
    const byPeak = ranks.filter((one) => one.role === role).sort((a, b) => peakOf(a) - peakOf(b));
    return [...byPeak.slice(0, 1), ...byPeak.slice(-1)];
  });
  const wanted = new Set(
    [...outliers.slice(0, MAX_LISTED / 2), ...failure.failed.slice(0, MAX_LISTED / 4), ...ends].map(
      ({ rank }) => rank,
    ),
  );
  return ranks.filter(({ rank }) => wanted.has(rank));
}

function rankRow(rank: JobRank, { outliers, roles }: Job): string[] {
  const { peak, oomCount, recording } = rank.summary;
  const outlier = outliers.find((one) => one.rank === rank.rank);
  const remarks = [
    outlier === undefined ? '' : `outlier: ${outlier.cause}`,
    recording === 'complete' ? '' : `recording: ${recording}`,
    rank.moment,
  ];
  return [
    String(rank.rank),
    roles[rank.role].name,
    peakText(peak.allocatedBytes.bytes ?? Number.NaN, recording),
    peakText(peak.reservedBytes.bytes ?? Number.NaN, recording),
    aboveText(rank),
    oomCount === 0 ? '' : String(oomCount),
    remarks.filter((one) => one !== '').join(', '),
  ];
}

/** 'Rank 2: +88.00 MiB (17%) allocated, growth, fleet.py:26 (fsdp2)' */
function outlierTitle({ rank, counter, bytes, aboveRoleBytes, cause, frame }: Outlier): string {
  const share = shareNote(aboveRoleBytes, bytes - aboveRoleBytes);
  const what = counter === 'allocatedBytes' ? 'allocated' : 'reserved';
  const where = frame === null ? '' : `, ${frameLabelOf(frame)}`;
  return `Rank ${rank}: +${formatBytes(aboveRoleBytes)}${share} ${what}, ${cause}${where}`;
}
