/** What the reader must know about a job: missing, unreadable or foreign files, and which rank failed first. */

import { formatDurationUs, plural } from '../../base/format.ts';
import type { ReadRank } from '../summary-file/read-rank-file.ts';
import type { Member, NumberedFile } from './number-files.ts';
import type { RankLines } from './rank-lines.ts';
import type { RoleMembers } from './roles.ts';

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

export interface UnreadFile {
  readonly path: string;
  readonly failure: Extract<ReadRank, { failure: unknown }>['failure'];
}

const MAX_NAMED = 5;
/** Share of the smaller rank's lines: even a trainer and its evaluation share more. */
const MIN_SHARED = 0.1;
/** Hosts' clocks differ by less than this. */
const APART_US = 3600e6;

export function fileProblems(
  ranks: readonly Member[],
  roles: readonly RoleMembers[],
  unread: readonly UnreadFile[],
): JobProblem[] {
  const problem = (
    code: JobProblem['code'],
    about: readonly { path: string }[],
    message: string,
  ): JobProblem => ({ code, files: about.map(({ path }) => path), message });
  const present = new Set(ranks.map(({ rank }) => rank));
  const count = 1 + (ranks.at(-1)?.rank ?? -1);
  const missing = Array.from({ length: count }, (_, rank) => rank).filter((at) => !present.has(at));
  const are = missing.length === 1 ? 'is' : 'are';
  const noFile = `${ranksText(missing)} ${are} missing: no file, or none that can be read.`;
  const empty = ranks.filter(({ summary }) => (summary.peak.reservedBytes.bytes ?? 0) === 0);
  const names = namesText(empty.map(({ path }) => path));
  const noMemory = `${plural(empty.length, 'file')} without any GPU memory: ${names}.`;
  const foreign = otherPrograms(roles);
  const others = foreign.length > 0 ? foreign : otherRuns(ranks);
  return [
    ...(missing.length > 0 ? [problem('missing-ranks', [], noFile)] : []),
    ...unread.map(({ path, failure }) => {
      const code = failure.code === 'newer-summary' ? 'newer-summary' : 'unreadable';
      return problem(code, [{ path }], `${path}: ${failure.message}`);
    }),
    ...ranks.flatMap((one) => {
      const { partial } = one.summary.file;
      return partial === null
        ? []
        : problem('partial', [one], `${one.path} is cut short: ${partial}`);
    }),
    ...(empty.length > 0 ? [problem('no-memory', empty, noMemory)] : []),
    ...others.map(({ run, says }) =>
      problem('several-jobs', run, `${ranksText(numbersOf(run))} ${says}`),
    ),
  ];
}

interface OtherJob {
  readonly run: readonly Member[];
  /** Follows the ranks' numbers. */
  readonly says: string;
}

/** The ranks that share almost nothing with the largest role. */
function otherPrograms(roles: readonly RoleMembers[]): OtherJob[] {
  const [main, ...others] = roles.toSorted((a, b) => b.members.length - a.members.length);
  if (main === undefined) return [];
  const alike = [main];
  // A stage may share no line with the first stage, but it shares some with its neighbor.
  for (const known of alike) {
    const [{ lines }] = known.members;
    const joins = ({ members: [one] }: RoleMembers) => sharedOf(one.lines, lines) >= MIN_SHARED;
    alike.push(...others.filter((role) => !alike.includes(role) && joins(role)));
  }
  const run = others.filter((role) => !alike.includes(role)).flatMap(({ members }) => members);
  const says =
    'share hardly a line of code with the others: another job, or another program of it.';
  return run.length === 0 ? [] : [{ run, says }];
}

function sharedOf(a: RankLines, b: RankLines): number {
  // What every recording has is no sign of the same program.
  const ownOf = (one: RankLines) => [...one.allocations.keys()].filter((key) => !key.includes('-'));
  const [fewer, more] = [ownOf(a), ownOf(b)].sort((x, y) => x.length - y.length);
  if (fewer.length === 0) return 1;
  const known = new Set(more);
  return fewer.filter((key) => known.has(key)).length / fewer.length;
}

/** Recordings more than an hour before or after those of most ranks. */
function otherRuns(ranks: readonly Member[]): OtherJob[] {
  const timed = ranks
    .flatMap((one) => {
      const { startUs, durationUs } = one.summary;
      return startUs === null ? [] : { one, startUs, endUs: startUs + (durationUs ?? 0) };
    })
    .sort((a, b) => a.startUs - b.startUs);
  const runs: (typeof timed)[] = [];
  let reachedUs = -Infinity;
  for (const recording of timed) {
    if (recording.startUs > reachedUs + APART_US) runs.push([]);
    runs.at(-1)?.push(recording);
    reachedUs = Math.max(reachedUs, recording.endUs);
  }
  const [main, ...others] = runs.toSorted((a, b) => b.length - a.length);
  return others
    .sort(([a], [b]) => a.startUs - b.startUs)
    .map((run) => {
      const apartUs = run[0].startUs - main[0].startUs;
      const when = `${formatDurationUs(Math.abs(apartUs))} ${apartUs < 0 ? 'earlier' : 'later'}`;
      return { run: run.map(({ one }) => one), says: `ran ${when} than the others: another job?` };
    });
}

/** 'a, b, c, d, e and 7 more' */
export function namesText(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more`;
}

/**
 * Which rank ran out of memory first. Host clocks differ by more than a step, so compare steps instead: all ranks of a
 * job are in the same step because they wait for each other.
 */
export function failureReport(ranks: readonly NumberedFile[]) {
  const failed = ranks
    .flatMap(({ rank, summary }) => {
      const oom = summary.ooms.find(({ wasRetried }) => !wasRetried);
      if (oom === undefined) return [];
      // Steps count from the start of the recording, so a late recording's steps can't be compared.
      const isLate = summary.recording !== 'complete';
      return [{ rank, step: isLate ? null : oom.step, isLate }];
    })
    .sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
  const unknown = failed.filter(({ step }) => step === null);
  const isKnown = failed.length === 1 || unknown.length === 0;
  const first = isKnown ? failed.filter(({ step }) => step === failed[0].step) : [];
  return {
    /** Ranks whose program saw an out-of-memory error, the earliest step first. */
    failed: failed.map(({ rank, step }) => ({ rank, step })),
    first: numbersOf(first),
    /** A sentence or two; '' if nothing failed. */
    text: isKnown
      ? firstText(failed.length, numbersOf(first), failed[0]?.step ?? null)
      : `${ranksText(numbersOf(failed))} ran out of memory. We can't tell which was first: ${unknownText(unknown)}.`,
  };
}

function unknownText(
  unknown: readonly { readonly rank: number; readonly isLate: boolean }[],
): string {
  const late = unknown.filter(({ isLate }) => isLate);
  if (late.length > 0)
    return `the recording of ${ranksText(numbersOf(late))} does not reach back to the start`;
  return `${ranksText(numbersOf(unknown))} ${unknown.length === 1 ? 'has' : 'have'} no steps to compare`;
}

function firstText(count: number, first: readonly number[], step: number | null): string {
  if (count === 0) return '';
  // Programs number steps from 0 or from 1; the number of completed steps avoids the question.
  const when = step === null ? '' : ` after ${plural(step, 'whole step')}`;
  if (count === 1) return `Only rank ${first[0]} ran out of memory${when}.`;
  const rest = count - first.length;
  const later = rest === 0 ? '' : `; ${plural(rest, 'rank')} followed in later steps`;
  if (first.length === 1) return `Rank ${first[0]} ran out of memory first${when}${later}.`;
  return `${plural(first.length, 'rank')} ran out of memory${when}${later}: ${numbersText(first)}. We can't tell the order within a step, as hosts' clocks differ.`;
}

const numbersOf = (ranks: readonly { readonly rank: number }[]): number[] =>
  ranks.map(({ rank }) => rank);

/** 'Rank 3', 'Ranks 0–2, 5' */
export const ranksText = (numbers: readonly number[]): string =>
  `${numbers.length === 1 ? 'Rank' : 'Ranks'} ${numbersText(numbers)}`;

/** '0–3, 7, 9', limited to the first eight ranges. */
export function numbersText(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  const texts = runs.map(([from, to]) => {
    if (from === to) return `${from}`;
    return to === from + 1 ? `${from}, ${to}` : `${from}–${to}`;
  });
  return texts.length <= 8 ? texts.join(', ') : `${texts.slice(0, 8).join(', ')}, …`;
}
