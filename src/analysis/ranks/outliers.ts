/**
 * Ranks far above their peers: by more than three robust standard deviations, and by more than a few percent, because
 * ranks that agree to the byte have no spread. Two ranks have no spread either: each is compared with the other, and
 * one that holds 5% more is named along with what it holds.
 */

import { groupBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes, shareNote } from '../../base/format.ts';
import { causeOf, type Peers, risenClass } from './causes.ts';
import type { PipelineStages } from './pipeline.ts';
import { knownClass, type RankLines } from './rank-lines.ts';
import { roleTitle } from './roles.ts';
import type { Outlier } from './types.ts';

const DEVIATIONS = 3;
/** Share of the median rank's peak. */
const FAR_ALLOCATED = 0.05;
/** Segments have 20 MiB or more, so reserved memory varies by chance. */
const FAR_RESERVED = 0.1;
/** For two ranks the random variation is unknown: batches of different lengths alone make a third. */
const FAR_RESERVED_OF_TWO = 0.5;
const MIN_FAR_BYTES = 2 ** 20;
const MIN_FAR_RESERVED_BYTES = 64 * 2 ** 20;
/** Growth that no other rank has is reported from here on. */
const FAR_GROWTH = 0.01;

/** `position`: in the job. */
export interface Judged {
  readonly position: number;
  readonly rank: number;
  readonly lines: RankLines;
}

export interface RoleJudgement {
  readonly outliers: readonly Outlier[];
  /** Allocated bytes above the median, by position; omits ranks that can't be compared. */
  readonly above: ReadonlyMap<number, number>;
}

/** @param name of the role, such as 'A'; undefined if the ranks are of different roles */
export function judgeRole(
  members: readonly Judged[],
  name: string | undefined,
  pipeline: PipelineStages | undefined,
): RoleJudgement {
  const outliers: Outlier[] = [];
  const above = new Map<number, number>();
  const whole = members.filter(({ lines }) => lines.summary.peak.allocatedBytes.bytes !== null);
  for (const group of comparable(whole, pipeline).filter(({ length }) => length > 1)) {
    const allocated = distances(group, ({ lines, position }) => {
      return lines.peakBytes - (pipeline?.bytes[position] ?? 0);
    });
    const gaps = distances(group, gapOf);
    const peaks = group.map(({ lines }) => lines.peakBytes);
    // For two ranks, 'more' means more than the other one.
    const peak = group.length === 2 ? Math.min(...peaks) : median(peaks);
    const far = Math.max(allocated.farBytes, FAR_ALLOCATED * peak, MIN_FAR_BYTES);
    const gapShare = group.length === 2 ? FAR_RESERVED_OF_TWO : FAR_RESERVED;
    const farGap = Math.max(gaps.farBytes, gapShare * peak, MIN_FAR_RESERVED_BYTES);
    const isFar = (excess: number) => (group.length === 2 ? excess >= far : excess > far);
    group.forEach((one, i) => {
      const excess = allocated.above[i];
      above.set(one.position, excess);
      // For two ranks, the one that allocated less may still have reserved more.
      const gap = group.length === 2 ? gaps.above[i] + Math.min(0, excess) : gaps.above[i];
      if (isFar(excess) || (excess > FAR_GROWTH * peak && isGrowingAlone(one, group))) {
        outliers.push(allocatedOutlier(one, excess, peersOf(one, group, name)));
      } else if (gap > farGap) {
        outliers.push(reservedOutlier(one, gaps.above[i], peersOf(one, group, name)));
      }
    });
  }
  return { outliers, above };
}

/**
 * Groups of ranks whose peaks should be alike: those of a role. In a pipeline, those of one stage, or the whole role
 * (minus the bytes that fall with the stage) if stages have too few ranks.
 */
function comparable(members: readonly Judged[], pipeline: PipelineStages | undefined): Judged[][] {
  if (pipeline === undefined) return [[...members]];
  const groups = [...groupBy(members, ({ position }) => pipeline.level[position]).values()];
  return groups.every((group) => group.length > 2) ? groups : [[...members]];
}

/**
 * Each rank's distance from the median (for two ranks, from the other one), and the distance that the spread explains.
 */
function distances(
  group: readonly Judged[],
  bytesOf: (one: Judged) => number,
): { readonly above: readonly number[]; readonly farBytes: number } {
  const values = group.map(bytesOf);
  if (values.length === 2) {
    const [a, b] = values;
    return { above: [a - b, b - a], farBytes: 0 };
  }
  const middle = median(values);
  const above = values.map((value) => value - middle);
  // For normally distributed values, 1.4826 × the median distance is the standard deviation.
  return { above, farBytes: DEVIATIONS * 1.4826 * median(above.map(Math.abs)) };
}

/** What it reserved beyond what it allocated. */
const gapOf = ({ lines }: Judged): number =>
  (lines.summary.peak.reservedBytes.bytes ?? 0) - lines.peakBytes;

/** At most half of the group grows at the same place. */
function isGrowingAlone({ lines }: Judged, group: readonly Judged[]): boolean {
  return lines.growth.some(
    (finding) => group.filter((other) => other.lines.growsAt(finding)).length <= group.length / 2,
  );
}

interface NamedPeers extends Peers {
  readonly other: number | null;
}

function peersOf(one: Judged, group: readonly Judged[], role: string | undefined): NamedPeers {
  const others = group.filter((other) => other !== one);
  const lines = others.map((other) => other.lines);
  if (others.length > 1) {
    const ofRole = role === undefined ? '' : ` of ${roleTitle(role)}`;
    const name = `the others${ofRole}`;
    const noneDoes = `no other rank${ofRole} does`;
    return { lines, name, hold: `${name} hold`, noneDoes, other: null };
  }
  const [{ rank }] = others;
  const name = `rank ${rank}`;
  return { lines, name, hold: `${name} holds`, noneDoes: `${name} doesn't`, other: rank };
}

function allocatedOutlier(one: Judged, aboveRoleBytes: number, peers: NamedPeers): Outlier {
  const { predicate, ...cause } = causeOf(one.lines, peers, aboveRoleBytes);
  const claim =
    peers.other === null
      ? `Rank ${one.rank} ${predicate}`
      : `Rank ${one.rank} holds ${moreText(one.lines, peers, aboveRoleBytes)}. It ${predicate}`;
  return {
    rank: one.rank,
    counter: 'allocatedBytes',
    bytes: one.lines.peakBytes,
    aboveRoleBytes,
    ...cause,
    comparedWith: peers.other,
    claim,
  };
}

/** '4.45 GiB (176%) more than rank 0 at its peak, 4.40 GiB of it activations' */
function moreText(own: RankLines, { lines, name }: Peers, aboveBytes: number): string {
  const [other] = lines;
  const risen = risenClass(own, lines);
  const kind =
    risen === undefined
      ? ''
      : `, ${formatBytes(Math.min(risen.bytes, aboveBytes))} of it ${knownClass(risen.class)}`;
  const share = shareNote(aboveBytes, other.peakBytes);
  return `${formatBytes(aboveBytes)}${share} more than ${name} at its peak${kind}`;
}

function reservedOutlier(one: Judged, aboveRoleBytes: number, peers: NamedPeers): Outlier {
  const finding = one.lines.summary.findings.find(({ detector }) => detector === 'fragmentation');
  const why = finding === undefined ? '' : ` ${finding.claim}`;
  return {
    rank: one.rank,
    counter: 'reservedBytes',
    bytes: one.lines.summary.peak.reservedBytes.bytes ?? 0,
    aboveRoleBytes,
    cause: 'fragmentation',
    frame: finding?.frame ?? null,
    class: null,
    comparedWith: peers.other,
    claim: `Rank ${one.rank} reserved ${formatBytes(aboveRoleBytes)} more than ${peers.name} beyond what its tensors needed: fragmentation.${why}`,
  };
}
