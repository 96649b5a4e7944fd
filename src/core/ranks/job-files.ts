/** Which rank each file is, and what is wrong with the files of a job. */

import { plural } from '../base/format.ts';
import type { LoadFailure } from '../base/load-error.ts';
import { rankOfName } from '../summary-file/rank-of-name.ts';
import type { RankSummary } from '../summary-file/types.ts';
import { numbersText } from './failures.ts';
import type { JobProblem, RankFile } from './types.ts';

/** A file that could not be read. */
export interface UnreadFile {
  readonly path: string;
  readonly failure: Pick<LoadFailure, 'code' | 'message'>;
}

export interface NumberedFile extends RankFile {
  readonly rank: number;
  readonly isCounted: boolean;
}

/** Said when a summary was written by a vramscope that knows more. */
export const NEWER_SUMMARY = 'newer-summary';
/** Names in one message. */
const MAX_NAMED = 5;

const NATURAL = new Intl.Collator('en', { numeric: true });

/** 'rank2' before 'rank10'. */
export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  NATURAL.compare(a.path, b.path) || (a.path < b.path ? -1 : 1);

/** One file a rank, by rank; the first by name where there are several. */
export function numberFiles(
  files: readonly RankFile[],
  pattern: RegExp | undefined,
): { readonly ranks: NumberedFile[]; readonly problems: JobProblem[] } {
  const inOrder = files.toSorted(byPath);
  const problems: JobProblem[] = [];
  const known = inOrder.map(({ path, summary }) =>
    pattern === undefined
      ? (rankOfName(path) ?? summary.rank ?? undefined)
      : rankOfName(path, pattern),
  );
  const used = new Map<number, NumberedFile>();
  const unnumbered: RankFile[] = [];
  inOrder.forEach((file, i) => {
    const rank = known[i];
    if (rank === undefined) {
      unnumbered.push(file);
      return;
    }
    const other = used.get(rank);
    if (other === undefined) used.set(rank, { ...file, rank, isCounted: false });
    else if (!isSameSnapshot(other.summary, file.summary)) {
      problems.push({
        code: 'two-files-of-one-rank',
        files: [other.path, file.path],
        message: `${other.path} and ${file.path} are both of rank ${rank}; the first one is shown.`,
      });
    }
  });
  const hasNames = used.size > 0;
  let next = 0;
  for (const file of unnumbered) {
    while (used.has(next)) next++;
    used.set(next, { ...file, rank: next, isCounted: true });
  }
  if (hasNames && unnumbered.length > 0) {
    problems.push({
      code: 'unknown-ranks',
      files: unnumbered.map(({ path }) => path),
      message: `No rank in the name of ${namesText(unnumbered.map(({ path }) => path))}: numbered as they come. --pattern says where the rank stands.`,
    });
  }
  const ranks = [...used.values()].sort((a, b) => a.rank - b.rank);
  return { ranks, problems };
}

/** A snapshot and its own summary lie in one folder after `summarize`. */
function isSameSnapshot(a: RankSummary, b: RankSummary): boolean {
  return (
    a.file.name === b.file.name &&
    a.file.bytes === b.file.bytes &&
    a.events === b.events &&
    a.startUs === b.startUs
  );
}

/** What is wrong, or not there. */
export function fileProblems(
  ranks: readonly NumberedFile[],
  unread: readonly UnreadFile[],
): JobProblem[] {
  return [
    ...missingRanks(ranks),
    ...unreadFiles(unread),
    ...partialFiles(ranks),
    ...emptyFiles(ranks),
  ];
}

function missingRanks(ranks: readonly NumberedFile[]): JobProblem[] {
  const present = new Set(ranks.map(({ rank }) => rank));
  const last = ranks.at(-1)?.rank ?? -1;
  const missing = Array.from({ length: last + 1 }, (_, rank) => rank).filter(
    (rank) => !present.has(rank),
  );
  if (missing.length === 0) return [];
  const which =
    missing.length === 1 ? `Rank ${missing[0]} is` : `Ranks ${numbersText(missing)} are`;
  return [
    {
      code: 'missing-ranks',
      files: [],
      message: `${which} missing: no file, or none that can be read.`,
    },
  ];
}

function unreadFiles(unread: readonly UnreadFile[]): JobProblem[] {
  return unread.map(({ path, failure }) => ({
    code: failure.code === NEWER_SUMMARY ? 'newer-summary' : 'unreadable',
    files: [path],
    message: `${path}: ${failure.message}`,
  }));
}

function partialFiles(ranks: readonly NumberedFile[]): JobProblem[] {
  return ranks.flatMap(({ path, summary }) =>
    summary.file.partial === null
      ? []
      : [
          {
            code: 'partial' as const,
            files: [path],
            message: `${path} is cut short: ${summary.file.partial}`,
          },
        ],
  );
}

function emptyFiles(ranks: readonly NumberedFile[]): JobProblem[] {
  const empty = ranks.filter(({ summary }) => (summary.peak.reservedBytes.bytes ?? 0) === 0);
  if (empty.length === 0) return [];
  const paths = empty.map(({ path }) => path);
  return [
    {
      code: 'no-memory',
      files: paths,
      message: `${plural(empty.length, 'file')} without any GPU memory: ${namesText(paths)}.`,
    },
  ];
}

/** 'a, b, c, d, e and 7 more' */
export function namesText(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${more} more`;
}
