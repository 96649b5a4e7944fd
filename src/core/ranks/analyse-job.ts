/** A job from its ranks' summaries: roles, outliers, who failed first, and what the files lack. */
import { formatBytes, formatPercent, plural } from '../base/format.ts';
import { growthFindings, hasGrowthAt } from './causes.ts';
import { failureReport, numbersText } from './failures.ts';
import { fileProblems, type NumberedFile, numberFiles, type UnreadFile } from './job-files.ts';
import type { Layout } from './layout.ts';
import { judgeRole, type RoleJudgement } from './outliers.ts';
import { findPipeline, type PipelineStages } from './pipeline.ts';
import { frameLabelOf, linesOf, type RankLines } from './rank-lines.ts';
import { median } from './robust.ts';
import { aboutRoles, roleLetter } from './role-names.ts';
import { groupRoles } from './roles.ts';
import { severalJobs } from './several-jobs.ts';
import type { Job, JobRank, Outlier, RankFile, Role } from './types.ts';

export interface JobOptions {
  /** Says where in a path the rank stands. */
  readonly pattern?: RegExp | undefined;
  readonly layout?: Layout | undefined;
  readonly unread?: readonly UnreadFile[];
}

export function analyseJob(files: readonly RankFile[], options: JobOptions = {}): Job {
  const { ranks, problems } = numberFiles(files, options.pattern);
  const lines = ranks.map(({ summary }) => linesOf(summary));
  const { roleOf, names } = rolesOf(ranks, lines, options.layout);
  const hasStages = options.layout !== undefined || names.length > 1;
  const numbers = ranks.map(({ rank }) => rank);
  const pipeline = hasStages ? findPipeline(lines, numbers) : undefined;
  const members = names.map((_, role) => [...roleOf.keys()].filter((i) => roleOf[i] === role));
  const about = aboutRoles(members, lines, pipeline);
  const judgements = members.map((positions, role) => {
    const judged = positions.map((position) => {
      return { position, rank: ranks[position].rank, lines: lines[position] };
    });
    return judgeRole(judged, names[role], pipeline);
  });
  const outliers = judgements
    .flatMap((judgement) => judgement.outliers)
    .sort((a, b) => b.aboveRoleBytes - a.aboveRoleBytes);
  const above = new Map(judgements.flatMap((judgement) => [...judgement.above]));
  const rows = ranks.map(
    (file, i): JobRank => ({ ...file, role: roleOf[i], aboveRoleBytes: above.get(i) ?? null }),
  );
  const roles = names.map(
    (name, role): Role => ({
      name,
      ranks: members[role].map((i) => ranks[i].rank),
      about: about[role],
    }),
  );
  const failure = failureReport(ranks);
  const notes = [...judgements.flatMap((one) => one.notes), ...commonGrowth(lines)];
  return {
    ranks: rows,
    roles,
    outliers,
    pipeline: pipeline && { bytes: pipeline.bytes, text: pipeline.text },
    failure,
    problems: [
      ...fileProblems(ranks, options.unread ?? []),
      ...problems,
      ...severalJobs(ranks, lines, roleOf),
    ],
    notes,
    verdict: verdictText(rows, roles, outliers, judgements, pipeline, failure.text, notes),
  };
}

function rolesOf(
  ranks: readonly NumberedFile[],
  lines: readonly RankLines[],
  layout: Layout | undefined,
): { readonly roleOf: number[]; readonly names: string[] } {
  if (layout === undefined) {
    const roleOf = groupRoles(lines);
    const count = new Set(roleOf).size;
    return { roleOf, names: Array.from({ length: count }, (_, i) => roleLetter(i)) };
  }
  const names: string[] = [];
  const roleOf = ranks.map(({ rank }) => {
    const name = layout.roleOf(rank) ?? 'not in the layout';
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  });
  return { roleOf, names };
}

/** Growth that most ranks have makes none of them an outlier, and is a leak all the same. */
function commonGrowth(lines: readonly RankLines[]): string[] {
  if (lines.length < 2) return [];
  const [finding] = lines.flatMap(growthFindings).filter((one) => {
    const having = lines.filter((rank) => hasGrowthAt(rank, one)).length;
    return having > lines.length / 2;
  });
  if (finding === undefined) return [];
  const having = lines.filter((rank) => hasGrowthAt(rank, finding)).length;
  const at =
    finding.frame === null ? 'a place without a recorded stack' : frameLabelOf(finding.frame);
  const what = finding.perStep === null ? 'memory' : formatBytes(finding.perStep.bytes);
  return [`${plural(having, 'rank')} of ${lines.length} keep ${what} every step at ${at}.`];
}

function verdictText(
  ranks: readonly JobRank[],
  roles: readonly Role[],
  outliers: readonly Outlier[],
  judgements: readonly RoleJudgement[],
  pipeline: PipelineStages | undefined,
  failure: string,
  notes: readonly string[],
): string {
  const sentences = [failure];
  if (outliers.length > 0) sentences.push(...outlierSentences(outliers));
  else if (ranks.length < 2)
    sentences.push(
      ranks.length === 0 ? 'No rank could be read.' : 'One rank: nothing to compare it with.',
    );
  else sentences.push(calmSentence(ranks, roles, judgements));
  if (pipeline !== undefined) sentences.push(pipeline.text);
  return [...sentences, ...notes].filter((one) => one !== '').join(' ');
}

function outlierSentences(outliers: readonly Outlier[]): string[] {
  const [first, ...rest] = outliers;
  if (rest.length === 0) return [first.claim];
  const others = numbersText(rest.map(({ rank }) => rank));
  const also = rest.length === 1 ? 'rank' : 'ranks';
  return [`${plural(outliers.length, 'outlier')}.`, first.claim, `Also: ${also} ${others}.`];
}

/** Alike, as far as there is something to compare. */
function calmSentence(
  ranks: readonly JobRank[],
  roles: readonly Role[],
  judgements: readonly RoleJudgement[],
): string {
  const isJudged = roles.some(({ ranks: own }) => own.length > 2);
  const inRoles = roles.length === 1 ? '' : ` in ${roles.length} roles`;
  if (!isJudged) {
    const few = "We can't tell more: with one or two ranks in a role, none can be called unusual.";
    const isUnsure = judgements.some(({ notes }) => notes.length > 0);
    return isUnsure ? few : `No outlier among ${plural(ranks.length, 'rank')}${inRoles}. ${few}`;
  }
  const peaks = ranks.map(({ summary }) => summary.peak.allocatedBytes.bytes ?? 0);
  const middle = median(peaks);
  const distances = ranks.map(({ aboveRoleBytes }) => Math.abs(aboveRoleBytes ?? 0));
  const within = formatPercent(Math.max(...distances) / middle);
  const alike =
    roles.length === 1
      ? `peak at ${formatBytes(middle)} allocated, all within ${within}`
      : `are within ${within} of those that do the same`;
  return `No outlier: ${plural(ranks.length, 'rank')}${inRoles} ${alike}.`;
}
