/** Analyses a job from its ranks' summaries: roles, outliers, which rank failed first, and what the files lack. */
import { highest, median } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural, shareNote } from '../../base/format.ts';
import { type Layout, numberFiles } from './number-files.ts';
import { judgeRole, type RoleJudgement } from './outliers.ts';
import { findPipeline } from './pipeline.ts';
import { failureReport, fileProblems, numbersText } from './problems.ts';
import { frameLabelOf, linesOf, type RankLines } from './rank-lines.ts';
import { aboutRoles, groupRoles, roleLetter } from './roles.ts';
import type { Job, JobRank, NumberedFile, Outlier, RankFile, Role, UnreadFile } from './types.ts';

export interface JobOptions {
  /** Finds the rank in a path. */
  readonly pattern?: RegExp | undefined;
  readonly layout?: Layout | undefined;
  readonly unread?: readonly UnreadFile[];
}

export function analyseJob(files: readonly RankFile[], options: JobOptions = {}): Job {
  const numbered = numberFiles(files, options.pattern);
  const lines = numbered.ranks.map(({ summary }) => linesOf(summary));
  const layout = options.layout ?? numbered.layout;
  const { roleOf, names } = rolesOf(numbered.ranks, lines, layout);
  const hasStages = layout !== undefined || names.length > 1;
  const numbers = numbered.ranks.map(({ rank }) => rank);
  const pipeline = hasStages ? findPipeline(lines, numbers) : undefined;
  const members = names.map((_, role) => [...roleOf.keys()].filter((i) => roleOf[i] === role));
  const about = aboutRoles(members, names, lines, pipeline);
  const judge = (positions: readonly number[], name?: string) => {
    const judged = positions.map((at) => ({ position: at, rank: numbers[at], lines: lines[at] }));
    return judgeRole(judged, name, pipeline);
  };
  const judgements = members.map((positions, role) => judge(positions, names[role]));
  const unlikePair = numbers.length === 2 && names.length === 2 ? judge([0, 1]) : undefined;
  const above = [...judgements, ...(unlikePair ? [unlikePair] : [])].flatMap((one) => [
    ...one.above,
  ]);
  const aboveOf = new Map(above);
  // Pipeline stages differ by design.
  const isSplit = layout !== undefined || pipeline !== undefined;
  const differences = unlikePair?.outliers ?? (isSplit ? [] : loneRanks(members, numbers, judge));
  // Different code explains different sizes, but not growth.
  const growing = differences.filter((one) => one.cause === 'growth' || one.class === 'kept');
  const [unlike = null] = byDistance(differences.filter((one) => !growing.includes(one)));
  const job = {
    ranks: numbered.ranks.map(
      (file, i): JobRank => ({ ...file, role: roleOf[i], aboveRoleBytes: aboveOf.get(i) ?? null }),
    ),
    roles: names.map(
      (name, role): Role => ({
        name,
        ranks: members[role].map((i) => numbers[i]),
        about: about[role],
      }),
    ),
    outliers: byDistance([...judgements.flatMap(({ outliers }) => outliers), ...growing]),
    difference: unlike,
    pipeline: pipeline && { bytes: pipeline.bytes, text: pipeline.text },
    failure: failureReport(numbered.ranks),
    problems: [
      ...fileProblems(numbered.ranks, lines, roleOf, options.unread ?? []),
      ...numbered.problems,
    ],
    notes: [...commonGrowth(lines), ...numbered.notes],
  };
  return { ...job, verdict: verdictText(job) };
}

const byDistance = (outliers: readonly Outlier[]): Outlier[] =>
  outliers.toSorted((a, b) => b.aboveRoleBytes - a.aboveRoleBytes);

/** What the only rank of a role holds beyond the ranks of the largest role. */
function loneRanks(
  members: readonly (readonly number[])[],
  numbers: readonly number[],
  judge: (positions: readonly number[]) => RoleJudgement,
): Outlier[] {
  const most = highest(members.map(({ length }) => length));
  const main = members.findIndex(({ length }) => length === most);
  return members
    .filter(({ length }) => length === 1 && most > 1)
    .flatMap(([own]) => {
      const { outliers } = judge([...members[main], own]);
      return outliers.filter(({ rank }) => rank === numbers[own]);
    });
}

function rolesOf(
  ranks: readonly NumberedFile[],
  lines: readonly RankLines[],
  layout: Layout | undefined,
): { readonly roleOf: readonly number[]; readonly names: readonly string[] } {
  if (layout === undefined) {
    const roleOf = groupRoles(lines);
    return { roleOf, names: [...new Set(roleOf)].map((_, role) => roleLetter(role)) };
  }
  const nameOf = ranks.map(({ rank }) => layout.roleOf(rank) ?? 'not in the layout');
  const names = [...new Set(nameOf)];
  return { roleOf: nameOf.map((name) => names.indexOf(name)), names };
}

/** Growth on most ranks makes none of them an outlier, but it is still a leak. */
function commonGrowth(lines: readonly RankLines[]): string[] {
  if (lines.length < 2) return [];
  for (const finding of lines.flatMap(({ growth }) => growth)) {
    const having = lines.filter((rank) => rank.growsAt(finding)).length;
    if (having <= lines.length / 2) continue;
    const { frame, perStep } = finding;
    const at = frame === null ? 'a place without a recorded stack' : frameLabelOf(frame);
    const what = perStep === null ? 'memory' : formatBytes(perStep.bytes);
    return [`${plural(having, 'rank')} of ${lines.length} keep ${what} every step at ${at}.`];
  }
  return [];
}

function verdictText(job: Omit<Job, 'verdict'>): string {
  const { outliers, difference, failure, pipeline, notes } = job;
  const found = outlierText(outliers);
  const unlike = difference === null ? undefined : differenceText(difference);
  return [failure.text, found ?? unlike ?? calmText(job), pipeline?.text ?? '', ...notes]
    .filter((one) => one !== '')
    .join(' ');
}

function outlierText([first, ...rest]: readonly Outlier[]): string | undefined {
  if (first === undefined || rest.length === 0) return first?.claim;
  const others = numbersText(rest.map(({ rank }) => rank));
  const also = rest.length === 1 ? 'rank' : 'ranks';
  return `${plural(rest.length + 1, 'outlier')}. ${first.claim} Also: ${also} ${others}.`;
}

const differenceText = ({ claim, comparedWith }: Outlier): string => {
  const runs =
    comparedWith === null ? 'It runs other code than they do' : 'They run different code';
  return `${claim} ${runs}, so the job may be meant to be split this way.`;
};

/** Says that the ranks are alike, as far as they can be compared. */
function calmText({ ranks, roles }: Pick<Job, 'ranks' | 'roles'>): string {
  if (ranks.length === 0) return 'No rank could be read.';
  if (ranks.length === 1) return 'One rank: nothing to compare it with.';
  const distances = ranks.flatMap(({ aboveRoleBytes }) => aboveRoleBytes ?? []);
  const all = plural(ranks.length, 'rank');
  if (distances.length === 0) return `No two of the ${all} do the same: nothing to compare.`;
  const middle = median(ranks.map(({ summary }) => summary.peak.allocatedBytes.bytes ?? 0));
  const most = highest(distances.map(Math.abs));
  const within = middle === 0 ? formatBytes(most) : formatPercent(most / middle).replace('< ', '');
  return roles.length === 1 || ranks.length === 2
    ? `No outlier: ${all} peak at ${formatBytes(middle)} allocated, all within ${within}.${reservedText(ranks)}`
    : `No outlier: ${all} in ${roles.length} roles are within ${within} of those that do the same.`;
}

/** Two ranks that allocate alike may still reserve different amounts. */
function reservedText(ranks: readonly JobRank[]): string {
  const reservedOf = ({ summary }: JobRank): number => summary.peak.reservedBytes.bytes ?? 0;
  const [low, high] = ranks.toSorted((a, b) => reservedOf(a) - reservedOf(b));
  const more = reservedOf(high) - reservedOf(low);
  if (ranks.length !== 2 || more < 0.05 * reservedOf(low)) return '';
  return ` Rank ${high.rank} reserved ${formatBytes(more)}${shareNote(more, reservedOf(low))} more.`;
}
