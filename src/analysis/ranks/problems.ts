/** What the reader must know about a job: missing, unreadable or foreign files, and which rank failed first. */

import { groupBy } from '../../base/collections.ts';
import { formatDurationUs, plural } from '../../base/format.ts';
import type { RankLines } from './rank-lines.ts';
import type { FailureReport, JobProblem, NumberedFile, UnreadFile } from './types.ts';

const MAX_NAMED = 5;
/** Share of the smaller rank's lines: even a trainer and its evaluation share more. */
const MIN_SHARED = 0.1;
/** Hosts' clocks differ by less than this. */
const APART_US = 3600e6;

/** @param roleOf each rank's role, by position */
export function fileProblems(
  ranks: readonly NumberedFile[],
  lines: readonly RankLines[],
  roleOf: readonly number[],
  unread: readonly UnreadFile[],
): JobProblem[] {
  const problems: JobProblem[] = [];
  function add(code: JobProblem['code'], about: readonly { path: string }[], message: string) {
    problems.push({ code, files: about.map(({ path }) => path), message });
  }
  const present = new Set(ranks.map(({ rank }) => rank));
  const count = 1 + (ranks.at(-1)?.rank ?? -1);
  const missing = Array.from({ length: count }, (_, rank) => rank).filter((at) => !present.has(at));
  if (missing.length > 0) {
    const are = missing.length === 1 ? 'is' : 'are';
    add(
      'missing-ranks',
      [],
      `${ranksText(missing)} ${are} missing: no file, or none that can be read.`,
    );
  }
  for (const { path, failure } of unread) {
    const code = failure.code === 'newer-summary' ? 'newer-summary' : 'unreadable';
    add(code, [{ path }], `${path}: ${failure.message}`);
  }
  for (const one of ranks) {
    const { partial } = one.summary.file;
    if (partial !== null) add('partial', [one], `${one.path} is cut short: ${partial}`);
  }
  const empty = ranks.filter(({ summary }) => (summary.peak.reservedBytes.bytes ?? 0) === 0);
  if (empty.length > 0) {
    const names = namesText(empty.map(({ path }) => path));
    add('no-memory', empty, `${plural(empty.length, 'file')} without any GPU memory: ${names}.`);
  }
  const unlike = unlikeRanks(lines, roleOf).map((i) => ranks[i]);
  if (unlike.length > 0) {
    const why =
      'share hardly a line of code with the others: another job, or another program of it';
    add('several-jobs', unlike, `${namedRanks(unlike)} ${why}.`);
  } else {
    for (const { run, when } of otherRuns(ranks)) {
      add('several-jobs', run, `${namedRanks(run)} ran ${when} than the others: another job?`);
    }
  }
  return problems;
}

/** Positions of the ranks that share almost nothing with the largest role. */
function unlikeRanks(lines: readonly RankLines[], roleOf: readonly number[]): number[] {
  const roles = [...groupBy(roleOf.keys(), (i) => roleOf[i]).values()];
  const [main, ...others] = roles.toSorted((a, b) => b.length - a.length || a[0] - b[0]);
  if (main === undefined) return [];
  const alike = [main];
  // A stage may share no line with the first stage, but it shares some with its neighbor.
  for (let found: number[] | undefined = main; found !== undefined; ) {
    found = others.find(
      (role) =>
        !alike.includes(role) &&
        alike.some((known) => sharedOf(lines[role[0]], lines[known[0]]) >= MIN_SHARED),
    );
    if (found !== undefined) alike.push(found);
  }
  return others.filter((role) => !alike.includes(role)).flat();
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
function otherRuns(ranks: readonly NumberedFile[]): { run: NumberedFile[]; when: string }[] {
  const startOf = ({ summary }: NumberedFile): number => summary.startUs ?? Number.NaN;
  const timed = ranks
    .filter(({ summary }) => summary.startUs !== null)
    .sort((a, b) => startOf(a) - startOf(b));
  const runs: NumberedFile[][] = [];
  let reached = -Infinity;
  for (const one of timed) {
    if (startOf(one) > reached + APART_US) runs.push([]);
    runs.at(-1)?.push(one);
    reached = Math.max(reached, startOf(one) + (one.summary.durationUs ?? 0));
  }
  const main = runs.reduce((most, run) => (run.length > most.length ? run : most), []);
  return runs
    .filter((run) => run !== main)
    .map((run) => {
      const apartUs = startOf(run[0]) - startOf(main[0]);
      const when = `${formatDurationUs(Math.abs(apartUs))} ${apartUs < 0 ? 'earlier' : 'later'}`;
      return { run, when };
    });
}

const namedRanks = (files: readonly NumberedFile[]): string =>
  ranksText(files.map(({ rank }) => rank));

/** 'a, b, c, d, e and 7 more' */
export function namesText(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more`;
}

/**
 * Which rank ran out of memory first. Host clocks differ by more than a step, so compare steps instead: all ranks of a
 * job are in the same step because they wait for each other.
 */
export function failureReport(ranks: readonly NumberedFile[]): FailureReport {
  const failed = ranks
    .flatMap(({ rank, summary }) => {
      const oom = summary.ooms.find(({ wasRetried }) => !wasRetried);
      if (oom === undefined) return [];
      // Steps count from the start of the recording, so a late recording's steps can't be compared.
      const isLate = summary.recording !== 'complete';
      return [{ rank, step: isLate ? null : oom.step, isLate }];
    })
    .sort((a, b) => (a.step ?? Infinity) - (b.step ?? Infinity));
  const listed = failed.map(({ rank, step }) => ({ rank, step }));
  if (failed.length === 0) return { failed: [], first: [], text: '' };
  const unknown = failed.filter(({ step }) => step === null);
  if (failed.length > 1 && unknown.length > 0) {
    const late = unknown.filter(({ isLate }) => isLate);
    const why =
      late.length > 0
        ? `the recording of ${ranksText(numbersOf(late))} does not reach back to the start`
        : `${ranksText(numbersOf(unknown))} ${unknown.length === 1 ? 'has' : 'have'} no steps to compare`;
    const text = `${ranksText(numbersOf(failed))} ran out of memory. We can't tell which was first: ${why}.`;
    return { failed: listed, first: [], text };
  }
  const [{ step }] = failed;
  const first = numbersOf(failed.filter((one) => one.step === step));
  return { failed: listed, first, text: firstText(failed.length, first, step) };
}

const numbersOf = (ranks: readonly { readonly rank: number }[]): number[] =>
  ranks.map(({ rank }) => rank);

function firstText(count: number, first: readonly number[], step: number | null): string {
  // Programs number steps from 0 or from 1; the number of completed steps avoids the question.
  const when = step === null ? '' : ` after ${plural(step, 'whole step')}`;
  if (count === 1) return `Only rank ${first[0]} ran out of memory${when}.`;
  const rest = count - first.length;
  const later = rest === 0 ? '' : `; ${plural(rest, 'rank')} followed in later steps`;
  if (first.length === 1) return `Rank ${first[0]} ran out of memory first${when}${later}.`;
  return `${plural(first.length, 'rank')} ran out of memory${when}${later}: ${numbersText(first)}. We can't tell the order within a step, as hosts' clocks differ.`;
}

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
