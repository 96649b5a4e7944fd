/** Analyses a job from its ranks' summaries: roles, outliers, which rank failed first, and what the files lack. */
import { highest, median } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural, shareNote } from '../../base/format.ts';
import { type Layout, type Member, numberFiles, type RankFile } from './number-files.ts';
import { judgeRanks, type Outlier } from './outliers.ts';
import { findPipeline, type PipelineStages } from './pipeline.ts';
import { failureReport, fileProblems, numbersText, type UnreadFile } from './problems.ts';
import { growthPlace } from './rank-lines.ts';
import { aboutRoles, type RoleMembers, rolesOf } from './roles.ts';

export interface JobOptions {
  /** Finds the rank in a path. */
  readonly pattern?: RegExp | undefined;
  readonly layout?: Layout | undefined;
}

/** A job's ranks, what they do, and which of them differs from the others. */
export type Job = ReturnType<typeof analyseJob>;
export type JobRank = Job['ranks'][number];

/** A file of a job by its path: its summary, or why it could not be read. */
export type JobFile = RankFile | UnreadFile;

export function analyseJob(files: readonly JobFile[], options: JobOptions = {}) {
  const { pipeline, ...facts } = factsOf(files, options);
  return { ...facts, verdict: verdictText(facts, pipeline) };
}

type JobFacts = Omit<ReturnType<typeof factsOf>, 'pipeline'>;

function factsOf(files: readonly JobFile[], { pattern, ...given }: JobOptions) {
  const unread = files.filter((file) => 'failure' in file);
  const read = files.filter((file) => 'summary' in file);
  const { ranks, ...numbered } = numberFiles(read, pattern);
  const layout = given.layout ?? numbered.layout;
  const roles = rolesOf(ranks, layout);
  const pipeline = layout !== undefined || roles.length > 1 ? findPipeline(ranks) : undefined;
  const judged = roles.map(({ name, members }) => judgeRanks(members, name, pipeline));
  const isUnlikePair = ranks.length === 2 && roles.length === 2;
  const pair = isUnlikePair ? [judgeRanks(ranks, undefined, pipeline)] : [];
  const aboveOf = new Map([...judged, ...pair].flatMap(({ above }) => [...above]));
  // Pipeline stages differ by design.
  const isSplit = layout !== undefined || pipeline !== undefined;
  const alone = isUnlikePair || isSplit ? [] : loneRanks(roles, pipeline);
  const differences = [...pair.flatMap(({ outliers }) => outliers), ...alone];
  // Different code explains different sizes, but not growth.
  const isGrowth = (one: Outlier) => one.cause === 'growth' || one.class === 'kept';
  const about = aboutRoles(roles, pipeline);
  const roleOf = new Map(roles.flatMap(({ members }, i) => members.map(({ rank }) => [rank, i])));
  return {
    ranks: ranks.map(({ lines: _, ...file }) => ({
      ...file,
      role: roleOf.get(file.rank) ?? 0,
      /**
       * Peak of allocated bytes above the median of comparable ranks, or above the other one of two; null if there are
       * none. Excludes what a pipeline explains.
       */
      aboveRoleBytes: aboveOf.get(file.rank) ?? null,
    })),
    roles: roles.map(({ name, members }, i) => ({
      name,
      ranks: members.map(({ rank }) => rank),
      /** How it differs from the other roles, as a phrase. */
      about: about[i],
    })),
    /** The largest distance first. Of two ranks that do the same, the one that holds more. */
    outliers: byDistance([
      ...judged.flatMap(({ outliers }) => outliers),
      ...differences.filter(isGrowth),
    ]),
    /** How two ranks differ that make up the whole job and do different work; null in all other jobs. */
    difference: byDistance(differences.filter((one) => !isGrowth(one)))[0] ?? null,
    /** The dumps of the only rank, as a series; null for other jobs. */
    moments: numbered.moments,
    failure: failureReport(ranks),
    problems: [...fileProblems(ranks, roles, unread), ...numbered.problems],
    /** What could not be judged, and what applies to all ranks: one sentence each. */
    notes: [...commonGrowth(ranks), ...numbered.notes],
    pipeline,
  };
}

const byDistance = (outliers: readonly Outlier[]): Outlier[] =>
  outliers.toSorted((a, b) => b.aboveRoleBytes - a.aboveRoleBytes);

/** What the only rank of a role holds beyond the ranks of the largest role. */
function loneRanks(roles: readonly RoleMembers[], pipeline: PipelineStages | undefined): Outlier[] {
  const [main] = roles.toSorted((a, b) => b.members.length - a.members.length);
  return roles.flatMap(({ members: [own, ...others] }) => {
    if (others.length > 0 || main.members.length < 2) return [];
    const { outliers } = judgeRanks([...main.members, own], undefined, pipeline);
    return outliers.filter(({ rank }) => rank === own.rank);
  });
}

/** Growth on most ranks makes none of them an outlier, but it is still a leak. */
function commonGrowth(ranks: readonly Member[]): string[] {
  if (ranks.length < 2) return [];
  for (const finding of ranks.flatMap(({ lines }) => lines.growth)) {
    const having = ranks.filter(({ lines }) => lines.growsAt(finding)).length;
    if (having <= ranks.length / 2) continue;
    const { frame, perStep } = finding;
    const what = perStep === null ? 'memory' : formatBytes(perStep.bytes);
    return [
      `${plural(having, 'rank')} of ${ranks.length} keep ${what} every ${perStep?.unit ?? 'step'} at ${growthPlace(frame)}.`,
    ];
  }
  return [];
}

function verdictText(facts: JobFacts, pipeline: PipelineStages | undefined): string {
  const { outliers, difference, failure, notes } = facts;
  const unlike = difference === null ? undefined : differenceText(difference);
  const found = outlierText(outliers) ?? unlike ?? facts.moments?.text ?? calmText(facts);
  return [failure.text, found, pipeline?.text ?? '', ...(facts.moments === null ? notes : [])]
    .filter((one) => one !== '')
    .join(' ');
}

function outlierText([first, ...rest]: readonly Outlier[]): string | undefined {
  if (first === undefined || rest.length === 0) return first?.claim;
  const others = numbersText(rest.map(({ rank }) => rank));
  const also = rest.length === 1 ? 'rank' : 'ranks';
  return `${plural(rest.length + 1, 'outlier')}. ${first.claim} Also: ${also} ${others}.`;
}

function differenceText({ claim, comparedWith }: Outlier): string {
  const runs =
    comparedWith === null ? 'It runs other code than they do' : 'They run different code';
  return `${claim} ${runs}, so the job may be meant to be split this way.`;
}

/** Says that the ranks are alike, as far as they can be compared. */
function calmText({ ranks, roles }: JobFacts): string {
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
function reservedText(ranks: JobFacts['ranks']): string {
  const [low, high] = ranks
    .map(({ rank, summary }) => ({ rank, bytes: summary.peak.reservedBytes.bytes ?? 0 }))
    .sort((a, b) => a.bytes - b.bytes);
  const more = high.bytes - low.bytes;
  if (ranks.length !== 2 || more < 0.05 * low.bytes) return '';
  return ` Rank ${high.rank} reserved ${formatBytes(more)}${shareNote(more, low.bytes)} more.`;
}
