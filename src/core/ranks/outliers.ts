/**
 * Ranks that stand far above those that do the same.
 *
 * Far is what the others' own spread does not explain: more than three robust standard deviations, and more than
 * some percent, as ranks that agree to the byte have no spread at all. With fewer than three ranks nobody knows
 * which of them is the odd one.
 */

import { formatBytes, formatPercent, plural } from '../base/format.ts';
import { groupBy } from '../base/grouping.ts';
import { causeOf, growthFindings, hasGrowthAt } from './causes.ts';
import type { PipelineStages } from './pipeline.ts';
import type { RankLines } from './rank-lines.ts';
import { median, spread } from './robust.ts';
import type { Outlier } from './types.ts';

/** Ranks that can outvote one. */
const MIN_RANKS = 3;
const DEVIATIONS = 3;
/** Of the middle rank's peak. */
const FAR_ALLOCATED = 0.05;
/** Segments are of 20 MiB and more: reserved memory differs by chance. */
const FAR_RESERVED = 0.1;
const MIN_FAR_BYTES = 2 ** 20;
const MIN_FAR_RESERVED_BYTES = 64 * 2 ** 20;
/** Growth that none of the others has is reported from here on. */
const FAR_GROWTH = 0.01;

/** A rank that is judged, by its position in the job. */
export interface Judged {
  readonly position: number;
  readonly rank: number;
  readonly lines: RankLines;
}

export interface RoleJudgement {
  readonly outliers: readonly Outlier[];
  /** Allocated bytes above the middle, by position; ranks that nothing can be compared with are missing. */
  readonly above: ReadonlyMap<number, number>;
  /** What could not be judged. */
  readonly notes: readonly string[];
}

/** @param name of the role, such as 'A' */
export function judgeRole(
  members: readonly Judged[],
  name: string,
  pipeline: PipelineStages | undefined,
): RoleJudgement {
  const whole = members.filter(({ lines }) => peakOf(lines, 'allocatedBytes') !== undefined);
  const outliers: Outlier[] = [];
  const above = new Map<number, number>();
  const notes: string[] = [];
  for (const group of comparable(whole, pipeline)) {
    const allocated = valuesOf(group, 'allocatedBytes', pipeline);
    const middle = median(allocated);
    if (group.length > 1) {
      group.forEach((one, i) => {
        above.set(one.position, allocated[i] - middle);
      });
    }
    if (group.length < MIN_RANKS) {
      notes.push(...fewRanks(group, allocated, name));
      continue;
    }
    const peak = medianPeak(group);
    const far = Math.max(
      DEVIATIONS * spread(allocated, middle),
      FAR_ALLOCATED * peak,
      MIN_FAR_BYTES,
    );
    const isFragmented = farReserved(group, peak);
    group.forEach((one, i) => {
      const excess = allocated[i] - middle;
      const mayGrow = excess > FAR_GROWTH * peak && isGrowingAlone(one, group);
      if (excess > far || mayGrow) {
        const others = group.filter((other) => other !== one);
        outliers.push(allocatedOutlier(one, others, excess, `role ${name}`));
      } else {
        const aboveBytes = isFragmented(one);
        if (aboveBytes !== undefined) {
          outliers.push(reservedOutlier(one, aboveBytes, `role ${name}`));
        }
      }
    });
  }
  return { outliers, above, notes };
}

/**
 * Ranks whose peaks should be alike. Those of a role are; in a pipeline those of one stage, or of a whole role
 * where the stages have too few and what falls with the stage is taken off.
 */
function comparable(members: readonly Judged[], pipeline: PipelineStages | undefined): Judged[][] {
  if (pipeline === undefined) return [[...members]];
  const stages = groupBy(members, ({ position }) => pipeline.level[position]);
  const groups = [...stages.values()];
  return groups.every((group) => group.length >= MIN_RANKS) ? groups : [[...members]];
}

function valuesOf(
  group: readonly Judged[],
  counter: 'allocatedBytes' | 'reservedBytes',
  pipeline: PipelineStages | undefined,
): number[] {
  return group.map(
    ({ lines, position }) => (peakOf(lines, counter) ?? 0) - (pipeline?.bytes[position] ?? 0),
  );
}

const peakOf = (
  { summary }: RankLines,
  counter: 'allocatedBytes' | 'reservedBytes',
): number | undefined => summary.peak[counter].bytes ?? undefined;

const medianPeak = (group: readonly Judged[]): number =>
  median(group.map(({ lines }) => peakOf(lines, 'allocatedBytes') ?? 0));

/** Less than half of the group grows where it does. */
function isGrowingAlone({ lines }: Judged, group: readonly Judged[]): boolean {
  return growthFindings(lines).some(
    (finding) =>
      group.filter((other) => hasGrowthAt(other.lines, finding)).length <= group.length / 2,
  );
}

function allocatedOutlier(
  one: Judged,
  others: readonly Judged[],
  aboveRoleBytes: number,
  role: string,
): Outlier {
  const { cause, frame, predicate } = causeOf(
    one.lines,
    others.map(({ lines }) => lines),
    aboveRoleBytes,
    role,
  );
  return {
    rank: one.rank,
    counter: 'allocatedBytes',
    bytes: peakOf(one.lines, 'allocatedBytes') ?? 0,
    aboveRoleBytes,
    cause,
    frame,
    claim: `Rank ${one.rank} ${predicate}`,
  };
}

/**
 * Says of a rank by how many bytes its gaps (what it reserved beyond what it allocated) are larger than those of
 * the others; undefined where they are not far larger.
 */
function farReserved(group: readonly Judged[], peak: number): (one: Judged) => number | undefined {
  const gaps = (member: Judged) =>
    (peakOf(member.lines, 'reservedBytes') ?? 0) - (peakOf(member.lines, 'allocatedBytes') ?? 0);
  const values = group.map(gaps);
  const middle = median(values);
  const far = Math.max(
    DEVIATIONS * spread(values, middle),
    FAR_RESERVED * peak,
    MIN_FAR_RESERVED_BYTES,
  );
  return (one) => {
    const aboveBytes = gaps(one) - middle;
    return aboveBytes > far ? aboveBytes : undefined;
  };
}

function reservedOutlier(one: Judged, aboveRoleBytes: number, role: string): Outlier {
  const bytes = peakOf(one.lines, 'reservedBytes') ?? 0;
  const finding = one.lines.summary.findings.find(({ detector }) => detector === 'fragmentation');
  const why = finding === undefined ? '' : ` ${finding.claim}`;
  return {
    rank: one.rank,
    counter: 'reservedBytes',
    bytes,
    aboveRoleBytes,
    cause: 'fragmentation',
    frame: finding?.frame ?? null,
    claim: `Rank ${one.rank} reserved ${formatBytes(aboveRoleBytes)} more than the others of ${role} beyond what its tensors needed: fragmentation.${why}`,
  };
}

/** Two that differ: nobody knows which is right. */
function fewRanks(group: readonly Judged[], values: readonly number[], name: string): string[] {
  const [a, b] = group;
  if (a === undefined || b === undefined) return [];
  const difference = Math.abs(values[0] - values[1]);
  const share = difference / medianPeak(group);
  if (share < FAR_ALLOCATED) return [];
  return [
    `We can't tell which of the ${plural(group.length, 'rank')} of role ${name} is unusual: ranks ${a.rank} and ${b.rank} differ by ${formatBytes(difference)} (${formatPercent(share)}), and two ranks can't outvote each other.`,
  ];
}
