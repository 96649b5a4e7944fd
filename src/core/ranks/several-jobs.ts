/** Files of more than one job in one folder: programs that share no line, or runs at different times. */
import { formatDurationUs } from '../base/format.ts';
import { numbersText } from './failures.ts';
import type { NumberedFile } from './job-files.ts';
import type { RankLines } from './rank-lines.ts';
import type { JobProblem } from './types.ts';

/** Of the lines of the rank that has fewer: a trainer and its evaluation share more. */
const MIN_SHARED = 0.1;
/** Hosts' clocks differ by less than that. */
const APART_US = 3600e6;

/** @param roleOf role of each rank, by position */
export function severalJobs(
  ranks: readonly NumberedFile[],
  lines: readonly RankLines[],
  roleOf: readonly number[],
): JobProblem[] {
  const unlike = unlikeRanks(lines, roleOf);
  if (unlike.length > 0) {
    const files = unlike.map((i) => ranks[i]);
    const message = `${rankNames(files)} share hardly a line of code with the others: another job, or another program of it.`;
    return [{ code: 'several-jobs', files: files.map(({ path }) => path), message }];
  }
  return otherTimes(ranks);
}

/** Positions of the ranks that have next to nothing in common with those of the largest role. */
function unlikeRanks(lines: readonly RankLines[], roleOf: readonly number[]): number[] {
  const sizes = new Map<number, number>();
  for (const role of roleOf) sizes.set(role, (sizes.get(role) ?? 0) + 1);
  const [[main] = [0]] = [...sizes].sort(([a, sizeA], [b, sizeB]) => sizeB - sizeA || a - b);
  const leaders = new Map([...sizes.keys()].map((role) => [role, roleOf.indexOf(role)]));
  const likeMain = new Set([main]);
  // A stage need not share a line with the first, but with the next.
  for (let grew = true; grew; ) {
    grew = false;
    for (const [role, leader] of leaders) {
      if (likeMain.has(role)) continue;
      const isLike = [...likeMain].some(
        (other) => sharedOf(lines[leader], lines[leaders.get(other) ?? 0]) >= MIN_SHARED,
      );
      if (isLike) {
        likeMain.add(role);
        grew = true;
      }
    }
  }
  return roleOf.flatMap((role, i) => (likeMain.has(role) ? [] : [i]));
}

function sharedOf(a: RankLines, b: RankLines): number {
  // What every recording has is no sign of the same program.
  const ownOf = (one: RankLines) => [...one.allocations.keys()].filter((key) => !key.includes('-'));
  const [fewer, more] = [ownOf(a), ownOf(b)].sort((x, y) => x.length - y.length);
  if (fewer.length === 0) return 1;
  const known = new Set(more);
  return fewer.filter((key) => known.has(key)).length / fewer.length;
}

/** Recordings that lie more than an hour before or after those of most ranks. */
function otherTimes(ranks: readonly NumberedFile[]): JobProblem[] {
  const timed = ranks
    .flatMap((file) => {
      const { startUs, durationUs } = file.summary;
      return startUs === null ? [] : [{ file, from: startUs, to: startUs + (durationUs ?? 0) }];
    })
    .sort((a, b) => a.from - b.from);
  const runs: (typeof timed)[] = [];
  let reached = -Infinity;
  for (const one of timed) {
    if (one.from > reached + APART_US) runs.push([]);
    runs.at(-1)?.push(one);
    reached = Math.max(reached, one.to);
  }
  if (runs.length < 2) return [];
  const main = runs.reduce((most, run) => (run.length > most.length ? run : most));
  return runs
    .filter((run) => run !== main)
    .map((run) => {
      const files = run.map(({ file }) => file);
      const apart = Math.abs(run[0].from - main[0].from);
      const when = run[0].from < main[0].from ? 'earlier' : 'later';
      return {
        code: 'several-jobs' as const,
        files: files.map(({ path }) => path),
        message: `${rankNames(files)} ran ${formatDurationUs(apart)} ${when} than the others: another job?`,
      };
    });
}

function rankNames(files: readonly NumberedFile[]): string {
  const numbers = numbersText(files.map(({ rank }) => rank));
  return files.length === 1 ? `Rank ${numbers}` : `Ranks ${numbers}`;
}
