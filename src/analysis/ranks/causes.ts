/** Why a rank holds more than its peers: the lines that differ, and how. */

import { addUp, largestFirst, sumBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { SummaryFinding } from '../summary-file/types.ts';
import { frameLabelOf, knownClass, type LineUse, type RankLines } from './rank-lines.ts';
import type { Outlier } from './types.ts';

/** Follows the rank's name: 'keeps 8.02 MiB every step at train.py:26 (step), and …'. */
export type Cause = Pick<Outlier, 'cause' | 'frame' | 'class'> & { readonly predicate: string };

export interface Peers {
  readonly lines: readonly RankLines[];
  /** 'the others of role A hold', 'rank 0 holds' */
  readonly hold: string;
  /** 'the others of role A', 'rank 0' */
  readonly name: string;
  /** 'no other rank of role A does' */
  readonly noneDoes: string;
}

/** Share of the excess: a line with less growth did not make the rank an outlier. */
const MIN_GROWTH_SHARE = 0.25;
/** If the top line has no stack, name one that has a stack and at least this share of its bytes. */
const MIN_NAMED_SHARE = 0.25;

/** A line on this rank, compared with the median of its peers. */
interface LineDifference {
  readonly line: string;
  readonly bytes: number;
  readonly own: LineUse;
  readonly othersBytes: number;
  readonly othersCount: number;
  readonly cause: 'more' | 'larger' | 'only-here';
}

export function causeOf(own: RankLines, peers: Peers, aboveBytes: number): Cause {
  const differences = differentLines(own, peers.lines);
  const explained = new Map(differences.map(({ line, bytes }) => [line, bytes]));
  const growth = own.growth.find((finding) => {
    const lines = own.linesOfFinding(finding);
    const bytes = sumBy(lines, (line) => explained.get(line) ?? 0);
    return bytes >= MIN_GROWTH_SHARE * aboveBytes;
  });
  if (growth !== undefined) return growthCause(growth, own, peers);
  const most = mostOf(ofMainClass(differences, own, peers.lines, aboveBytes));
  if (most === undefined) {
    return {
      cause: 'more',
      frame: null,
      class: null,
      predicate: `holds ${formatBytes(aboveBytes)} more than ${peers.name}, spread over call sites too small to be listed.`,
    };
  }
  const { cause, own: use } = most;
  return { cause, frame: use.frame, class: use.class, predicate: predicateOf(most, peers) };
}

function differentLines(own: RankLines, others: readonly RankLines[]): LineDifference[] {
  const found: LineDifference[] = [];
  for (const [line, use] of own.uses) {
    const othersBytes = median(others.map((other) => other.use(line).bytes));
    const othersCount = median(others.map((other) => other.use(line).count));
    const bytes = use.bytes - othersBytes;
    if (bytes <= 0) continue;
    const isMissing = others.every((other) => !other.allocations.has(line)) || othersCount === 0;
    const isLarger = timesOf(use, othersBytes, othersCount) > use.count / othersCount;
    const cause = isMissing ? 'only-here' : isLarger ? 'larger' : 'more';
    found.push({ line, bytes, own: use, othersBytes, othersCount, cause });
  }
  return found.sort((a, b) => b.bytes - a.bytes);
}

/** The ratio of average tensor sizes. */
const timesOf = (own: LineUse, othersBytes: number, othersCount: number): number =>
  own.bytes / own.count / (othersBytes / othersCount);

/** The class that rises most above the peers' median; undefined if that class is unknown. */
export function risenClass(
  own: RankLines,
  others: readonly RankLines[],
): { readonly class: string; readonly bytes: number } | undefined {
  const [most] = [...own.classes]
    .map(([id, bytes]) => {
      const before = median(others.map((other) => other.classes.get(id) ?? 0));
      return { class: id, bytes: bytes - before };
    })
    .sort((a, b) => b.bytes - a.bytes);
  return most === undefined || most.bytes <= 0 || most.class === 'unknown' ? undefined : most;
}

/** Ranks may hold the same class at different lines, so prefer lines of the class that rose. */
function ofMainClass(
  differences: readonly LineDifference[],
  own: RankLines,
  others: readonly RankLines[],
  aboveBytes: number,
): readonly LineDifference[] {
  const risen = risenClass(own, others);
  const main = differences.filter((one) => one.own.class === risen?.class);
  const bytes = sumBy(main, (one) => one.bytes);
  return bytes >= MIN_NAMED_SHARE * aboveBytes ? main : differences;
}

/** The largest difference of the main cause, preferably one with a line to name. */
function mostOf(differences: readonly LineDifference[]): LineDifference | undefined {
  const sums = new Map<string, number>();
  for (const { cause, bytes } of differences) addUp(sums, cause, bytes);
  const [most] = largestFirst(sums);
  const ofCause = differences.filter(({ cause }) => cause === most?.[0]);
  const least = MIN_NAMED_SHARE * (ofCause[0]?.bytes ?? 0);
  return ofCause.find(({ own, bytes }) => own.frame !== null && bytes >= least) ?? ofCause[0];
}

function predicateOf(
  { own, bytes, othersBytes, othersCount, cause }: LineDifference,
  { hold, name }: Peers,
): string {
  const more = `${formatBytes(bytes)} more at its peak`;
  const kind = knownClass(own.class);
  const what = kind === undefined ? '' : ` (${kind})`;
  const tensors = `${plural(own.count, 'tensor')}${what}`;
  switch (cause) {
    case 'only-here':
      return `holds ${formatBytes(own.bytes)} in ${tensors} of ${own.label} at its peak, where ${hold} none.`;
    case 'larger': {
      const times = timesOf(own, othersBytes, othersCount).toFixed(1);
      return `has larger tensors${what} at ${own.label} than ${name}, ${times} times the size on average: ${more}.`;
    }
    case 'more':
      return `holds ${tensors} of ${own.label} at its peak, where ${hold} ${othersCount}: ${more}.`;
  }
}

function growthCause(finding: SummaryFinding, own: RankLines, peers: Peers): Cause {
  const [use] = own.linesOfFinding(finding).map((line) => own.use(line));
  const frame = finding.frame ?? use?.frame ?? null;
  const at = frame === null ? 'a place without a recorded stack' : frameLabelOf(frame);
  const what = finding.perStep === null ? 'more memory' : formatBytes(finding.perStep.bytes);
  const too = peers.lines.filter((other) => other.growsAt(finding)).length;
  const others = peers.lines.length === 1 ? peers.name : plural(too, 'other rank');
  const alone = too === 0 ? peers.noneDoes : `so ${too === 1 ? 'does' : 'do'} ${others}, but less`;
  return {
    cause: 'growth',
    frame,
    class: use?.class ?? null,
    predicate: `keeps ${what} every step at ${at}, and ${alone}: ${formatBytes(finding.bytes)} by the end.`,
  };
}
