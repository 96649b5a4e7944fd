/** Why a rank holds more than its peers: the lines that differ, and how. */

import { addUp, largestFirst, sumBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { SummaryFinding } from '../summary-file/types.ts';
import type { Outlier } from './outliers.ts';
import { growthPlace, knownClass, type RankLines } from './rank-lines.ts';

/** Follows the rank's name: 'keeps 8.02 MiB every step at train.py:26 (step), and …'. */
type Cause = Pick<Outlier, 'cause' | 'frame' | 'class'> & { readonly predicate: string };

export interface Peers {
  readonly lines: readonly RankLines[];
  /** 'the others of role A', 'rank 0' */
  readonly name: string;
  /** 'the others of role A hold', 'rank 0 holds' */
  readonly hold: string;
  /** 'no other rank of role A does', "rank 0 doesn't" */
  readonly noneDoes: string;
}

/** Share of the excess: a line with less growth did not make the rank an outlier. */
const MIN_GROWTH_SHARE = 0.25;
/** If the top line has no stack, name one that has a stack and at least this share of its bytes. */
const MIN_NAMED_SHARE = 0.25;

export function causeOf(own: RankLines, peers: Peers, aboveBytes: number): Cause {
  const differences = differentLines(own, peers.lines);
  const growth = own.growth.find((finding) => {
    const lines = own.linesOfFinding(finding);
    const explained = differences.filter(({ line }) => lines.includes(line));
    return sumBy(explained, ({ bytes }) => bytes) >= MIN_GROWTH_SHARE * aboveBytes;
  });
  if (growth !== undefined) return growthCause(growth, own, peers);
  // Ranks may hold the same class at different lines, so prefer lines of the class that rose.
  const risen = risenClass(own, peers.lines);
  const main = differences.filter((one) => one.own.class === risen?.class);
  const isMain = sumBy(main, ({ bytes }) => bytes) >= MIN_NAMED_SHARE * aboveBytes;
  const most = mostOf(isMain ? main : differences);
  if (most === undefined) {
    const predicate = `holds ${formatBytes(aboveBytes)} more than ${peers.name}, spread over call sites too small to be listed.`;
    return { cause: 'more', frame: null, class: null, predicate };
  }
  const { cause, own: use } = most;
  return { cause, frame: use.frame, class: use.class, predicate: predicateOf(most, peers) };
}

type LineDifference = ReturnType<typeof differentLines>[number];

/** The lines that hold more on this rank than on the median of its peers, the largest difference first. */
function differentLines(rank: RankLines, others: readonly RankLines[]) {
  return [...rank.uses]
    .map(([line, own]) => {
      const uses = others.map((other) => other.use(line));
      const othersCount = median(uses.map(({ count }) => count));
      const othersBytes = median(uses.map(({ bytes }) => bytes));
      /** The ratio of average tensor sizes. */
      const times = own.bytes / own.count / (othersBytes / othersCount);
      const isMissing = othersCount === 0 || others.every((other) => !other.allocations.has(line));
      const isLarger = times > own.count / othersCount;
      const cause: Outlier['cause'] = isMissing ? 'only-here' : isLarger ? 'larger' : 'more';
      return { line, own, bytes: own.bytes - othersBytes, othersCount, times, cause };
    })
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

/** The class that rises most above the peers' median; undefined if that class is unknown. */
export function risenClass(
  own: RankLines,
  others: readonly RankLines[],
): { readonly class: string; readonly bytes: number } | undefined {
  const [most] = own.summary.classes
    .map(({ class: id, peakBytes }) => {
      return { class: id, bytes: peakBytes - median(others.map((other) => other.classBytes(id))) };
    })
    .sort((a, b) => b.bytes - a.bytes);
  return most === undefined || most.bytes <= 0 || most.class === 'unknown' ? undefined : most;
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
  { own, bytes, othersCount, times, cause }: LineDifference,
  { hold, name }: Peers,
): string {
  const kind = knownClass(own.class);
  const what = kind === undefined ? '' : ` (${kind})`;
  const tensors = `${plural(own.count, 'tensor')}${what} of ${own.label} at its peak`;
  const more = `${formatBytes(bytes)} more at its peak`;
  if (cause === 'only-here')
    return `holds ${formatBytes(own.bytes)} in ${tensors}, where ${hold} none.`;
  if (cause === 'larger')
    return `has larger tensors${what} at ${own.label} than ${name}, ${times.toFixed(1)} times the size on average: ${more}.`;
  return `holds ${tensors}, where ${hold} ${othersCount}: ${more}.`;
}

function growthCause(finding: SummaryFinding, own: RankLines, peers: Peers): Cause {
  const [use] = own.linesOfFinding(finding).map((line) => own.use(line));
  const frame = finding.frame ?? use?.frame ?? null;
  const what = finding.perStep === null ? 'more memory' : formatBytes(finding.perStep.bytes);
  const too = peers.lines.filter((other) => other.growsAt(finding)).length;
  const others = peers.lines.length === 1 ? peers.name : plural(too, 'other rank');
  const alone = too === 0 ? peers.noneDoes : `so ${too === 1 ? 'does' : 'do'} ${others}, but less`;
  const predicate = `keeps ${what} every ${finding.perStep?.unit ?? 'step'} at ${growthPlace(frame)}, and ${alone}: ${formatBytes(finding.bytes)} by the end.`;
  return { cause: 'growth', frame, class: use?.class ?? null, predicate };
}
