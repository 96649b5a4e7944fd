/**
 * Ranks far above their peers: by more than three robust standard deviations, and by more than a few percent, because
 * ranks that agree to the byte have no spread. Two ranks have no spread either: each is compared with the other, and
 * one that holds 5% more is named along with what it holds.
 */

import { groupBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes, shareNote } from '../../base/format.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import { causeOf, type Peers, risenClass } from './causes.ts';
import type { Member } from './number-files.ts';
import type { PipelineStages } from './pipeline.ts';
import { knownClass } from './rank-lines.ts';

export interface Outlier {
  readonly rank: number;
  readonly counter: 'allocatedBytes' | 'reservedBytes';
  readonly bytes: number;
  readonly aboveRoleBytes: number;
  readonly cause: 'growth' | 'more' | 'larger' | 'only-here' | 'fragmentation';
  /** The line that differs most; null if none was recorded for it. */
  readonly frame: FrameReport | null;
  /** The class of most of the difference: 'activations'; null if unknown. */
  readonly class: string | null;
  /** The other rank when comparing two; null when comparing with a whole role. */
  readonly comparedWith: number | null;
  readonly claim: string;
}

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

/** @param role such as 'A'; undefined if the ranks are of different roles */
export function judgeRanks(
  members: readonly Member[],
  role: string | undefined,
  pipeline: PipelineStages | undefined,
) {
  const outliers: Outlier[] = [];
  /** Allocated bytes above the median, by rank; omits ranks that can't be compared. */
  const above = new Map<number, number>();
  const whole = members.filter(({ summary }) => summary.peak.allocatedBytes.bytes !== null);
  for (const group of comparable(whole, pipeline)) {
    if (group.length < 2) continue;
    const isPair = group.length === 2;
    const allocated = distances(
      group.map(({ rank, lines }) => lines.peakBytes - (pipeline?.bytes.get(rank) ?? 0)),
    );
    const gaps = distances(group.map(gapOf));
    const peaks = group.map(({ lines }) => lines.peakBytes);
    // For two ranks, 'more' means more than the other one.
    const peak = isPair ? Math.min(...peaks) : median(peaks);
    const far = Math.max(allocated.farBytes, FAR_ALLOCATED * peak, MIN_FAR_BYTES);
    const gapShare = isPair ? FAR_RESERVED_OF_TWO : FAR_RESERVED;
    const farGap = Math.max(gaps.farBytes, gapShare * peak, MIN_FAR_RESERVED_BYTES);
    group.forEach((one, i) => {
      const excess = allocated.above[i];
      above.set(one.rank, excess);
      // For two ranks, the one that allocated less may still have reserved more.
      const gap = gaps.above[i] + (isPair ? Math.min(0, excess) : 0);
      const isFar = isPair ? excess >= far : excess > far;
      if (isFar || (excess > FAR_GROWTH * peak && isGrowingAlone(one, group))) {
        outliers.push(allocatedOutlier(one, excess, peersOf(one, group, role)));
      } else if (gap > farGap) {
        outliers.push(reservedOutlier(one, gaps.above[i], peersOf(one, group, role)));
      }
    });
  }
  return { outliers, above };
}

/**
 * Groups of ranks whose peaks should be alike: those of a role. In a pipeline, those of one stage, or the whole role
 * (minus the bytes that fall with the stage) if stages have too few ranks.
 */
function comparable(members: readonly Member[], pipeline: PipelineStages | undefined) {
  const stages = groupBy(members, ({ rank }) => pipeline?.level.get(rank));
  const groups = [...stages.values()];
  return groups.every((group) => group.length > 2) ? groups : [members];
}

/**
 * Each rank's distance from the median (for two ranks, from the other one), and the distance that the spread explains.
 */
function distances(values: readonly number[]) {
  const [a, b] = values;
  if (values.length === 2) return { above: [a - b, b - a], farBytes: 0 };
  const middle = median(values);
  const above = values.map((value) => value - middle);
  // For normally distributed values, 1.4826 × the median distance is the standard deviation.
  return { above, farBytes: DEVIATIONS * 1.4826 * median(above.map(Math.abs)) };
}

/** What it reserved beyond what it allocated. */
const gapOf = ({ summary, lines }: Member): number =>
  (summary.peak.reservedBytes.bytes ?? 0) - lines.peakBytes;

/** At most half of the group grows at the same place. */
const isGrowingAlone = ({ lines }: Member, group: readonly Member[]): boolean =>
  lines.growth.some(
    (finding) => group.filter((other) => other.lines.growsAt(finding)).length <= group.length / 2,
  );

interface NamedPeers extends Peers {
  readonly other: number | null;
}

function peersOf(one: Member, group: readonly Member[], role: string | undefined): NamedPeers {
  const others = group.filter((other) => other !== one);
  const lines = others.map((other) => other.lines);
  if (others.length > 1) {
    // A layout's names, such as 'stage 0' and 'trainer', need no prefix.
    const title = role !== undefined && /^[A-Z]\d*$/.test(role) ? `role ${role}` : role;
    const ofRole = title === undefined ? '' : ` of ${title}`;
    const name = `the others${ofRole}`;
    const noneDoes = `no other rank${ofRole} does`;
    return { lines, name, hold: `${name} hold`, noneDoes, other: null };
  }
  const [{ rank }] = others;
  const name = `rank ${rank}`;
  return { lines, name, hold: `${name} holds`, noneDoes: `${name} doesn't`, other: rank };
}

function allocatedOutlier(one: Member, aboveRoleBytes: number, peers: NamedPeers): Outlier {
  const { predicate, ...cause } = causeOf(one.lines, peers, aboveRoleBytes);
  const claim =
    peers.other === null
      ? `Rank ${one.rank} ${predicate}`
      : `Rank ${one.rank} holds ${moreText(one, peers, aboveRoleBytes)}. It ${predicate}`;
  return {
    ...{ rank: one.rank, counter: 'allocatedBytes', bytes: one.lines.peakBytes, aboveRoleBytes },
    ...cause,
    ...{ comparedWith: peers.other, claim },
  };
}

/** '4.45 GiB (176%) more than rank 0 at its peak, 4.40 GiB of it activations' */
function moreText({ lines: own }: Member, { lines, name }: Peers, aboveBytes: number): string {
  const risen = risenClass(own, lines);
  const kind =
    risen === undefined
      ? ''
      : `, ${formatBytes(Math.min(risen.bytes, aboveBytes))} of it ${knownClass(risen.class)}`;
  const share = shareNote(aboveBytes, lines[0].peakBytes);
  return `${formatBytes(aboveBytes)}${share} more than ${name} at its peak${kind}`;
}

function reservedOutlier(one: Member, aboveRoleBytes: number, peers: NamedPeers): Outlier {
  const { findings, peak } = one.summary;
  const finding = findings.find(({ detector }) => detector === 'fragmentation');
  const why = finding === undefined ? '' : ` ${finding.claim}`;
  return {
    rank: one.rank,
    counter: 'reservedBytes',
    bytes: peak.reservedBytes.bytes ?? 0,
    aboveRoleBytes,
    cause: 'fragmentation',
    frame: finding?.frame ?? null,
    class: null,
    comparedWith: peers.other,
    claim: `Rank ${one.rank} reserved ${formatBytes(aboveRoleBytes)} more than ${peers.name} beyond what its tensors needed: fragmentation.${why}`,
  };
}
