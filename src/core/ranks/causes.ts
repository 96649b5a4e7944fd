/** Why a rank holds more than those that do the same: the lines that differ, and how. */

import { formatBytes, plural } from '../base/format.ts';
import type { FrameReport } from '../device/frame-text.ts';
import type { SummaryFinding } from '../summary-file/types.ts';
import { frameLabelOf, type LineUse, type RankLines } from './rank-lines.ts';
import { median } from './robust.ts';
import type { OutlierCause } from './types.ts';

export interface Cause {
  readonly cause: Exclude<OutlierCause, 'fragmentation'>;
  readonly frame: FrameReport | null;
  /** Follows the rank's name: 'keeps 8.02 MiB every step at train.py:26 (step), and …'. */
  readonly predicate: string;
}

/** Of what is to be explained: growth at a line with less is not what made the rank an outlier. */
const MIN_GROWTH_SHARE = 0.25;
/** A line without a stack names nothing: one with a stack and this share of its bytes is named instead. */
const MIN_NAMED_SHARE = 0.25;

/** A line on the rank, and in the middle of the others. */
interface LineDifference {
  readonly line: string;
  readonly bytes: number;
  readonly own: LineUse;
  readonly othersBytes: number;
  readonly othersCount: number;
  readonly cause: Cause['cause'];
}

/** @param role what the role is called, such as 'role A' */
export function causeOf(
  own: RankLines,
  others: readonly RankLines[],
  aboveBytes: number,
  role: string,
): Cause {
  const differences = differentLines(own, others);
  const growth = growthOf(own, others, differences, aboveBytes);
  const where = others.length === 1 ? `the other rank of ${role}` : `the others of ${role}`;
  if (growth !== undefined) return growthCause(growth, own, role);
  const [first] = mostOf(differences);
  if (first === undefined) {
    return {
      cause: 'more',
      frame: null,
      predicate: `holds ${formatBytes(aboveBytes)} more than ${where}, spread over call sites too small to be listed.`,
    };
  }
  return { cause: first.cause, frame: first.own.frame, predicate: predicateOf(first, where) };
}

function differentLines(own: RankLines, others: readonly RankLines[]): LineDifference[] {
  const found: LineDifference[] = [];
  for (const [line, use] of own.uses) {
    const othersBytes = median(others.map((other) => other.use(line).bytes));
    const othersCount = median(others.map((other) => other.use(line).count));
    const bytes = use.bytes - othersBytes;
    if (bytes <= 0) continue;
    const isMissing = others.every((other) => !other.allocations.has(line)) || othersCount === 0;
    const cause = isMissing ? 'only-here' : moreOrLarger(use, othersBytes, othersCount);
    found.push({ line, bytes, own: use, othersBytes, othersCount, cause });
  }
  return found.sort((a, b) => b.bytes - a.bytes);
}

function moreOrLarger(own: LineUse, othersBytes: number, othersCount: number): 'more' | 'larger' {
  const count = own.count / othersCount;
  const size = own.bytes / own.count / (othersBytes / othersCount);
  return size > count ? 'larger' : 'more';
}

/** The differences of the cause that explains most, those with a line to name first. */
function mostOf(differences: readonly LineDifference[]): LineDifference[] {
  const sums = new Map<string, number>();
  for (const { cause, bytes } of differences) sums.set(cause, (sums.get(cause) ?? 0) + bytes);
  const [most] = [...sums].sort(([, a], [, b]) => b - a);
  if (most === undefined) return [];
  const ofCause = differences.filter(({ cause }) => cause === most[0]);
  const least = MIN_NAMED_SHARE * ofCause[0].bytes;
  const named = ofCause.find(({ own, bytes }) => own.frame !== null && bytes >= least);
  return named === undefined ? ofCause : [named, ...ofCause.filter((one) => one !== named)];
}

function predicateOf(
  { own, bytes, othersBytes, othersCount, cause }: LineDifference,
  where: string,
): string {
  const more = `${formatBytes(bytes)} more at its peak`;
  const tensors = plural(own.count, 'tensor');
  switch (cause) {
    case 'only-here':
      return `holds ${formatBytes(own.bytes)} in ${tensors} of ${own.label} at its peak, where ${where} hold none.`;
    case 'larger': {
      const times = own.bytes / own.count / (othersBytes / othersCount);
      return `has larger tensors at ${own.label} than ${where}, ${times.toFixed(1)} times the size on average: ${more}.`;
    }
    default:
      return `holds ${tensors} of ${own.label} at its peak, where ${where} hold ${othersCount}: ${more}.`;
  }
}

interface Growth {
  readonly finding: SummaryFinding;
  readonly othersToo: number;
}

/** The growth that fills the rank, and not the others as much. */
function growthOf(
  own: RankLines,
  others: readonly RankLines[],
  differences: readonly LineDifference[],
  aboveBytes: number,
): Growth | undefined {
  const explained = new Map(differences.map(({ line, bytes }) => [line, bytes]));
  for (const finding of growthFindings(own)) {
    const lines = new Set(finding.sites.map((site) => own.lineOfSite(site) ?? ''));
    const bytes = [...lines].reduce((sum, line) => sum + (explained.get(line) ?? 0), 0);
    const othersToo = others.filter((other) => hasGrowthAt(other, finding)).length;
    if (bytes >= MIN_GROWTH_SHARE * aboveBytes) return { finding, othersToo };
  }
  return undefined;
}

/** Of medium severity or higher. */
export function growthFindings({ summary }: RankLines): SummaryFinding[] {
  return summary.findings.filter(
    ({ detector, severity }) => detector === 'growth' && severity !== 'low',
  );
}

export function hasGrowthAt(rank: RankLines, { frame }: SummaryFinding): boolean {
  return growthFindings(rank).some(
    (finding) => finding.frame?.line === frame?.line && finding.frame?.name === frame?.name,
  );
}

function growthCause({ finding, othersToo }: Growth, own: RankLines, role: string): Cause {
  const { frame, perStep, bytes } = finding;
  const line = frame ?? finding.sites.map((site) => own.use(own.lineOfSite(site) ?? '').frame)[0];
  const at = line == null ? 'a place without a recorded stack' : frameLabelOf(line);
  const what = perStep === null ? 'more memory' : formatBytes(perStep.bytes);
  const alone =
    othersToo === 0
      ? `and no other rank of ${role} does`
      : `and so do ${plural(othersToo, 'other rank')} of ${role}, but less`;
  return {
    cause: 'growth',
    frame: line ?? null,
    predicate: `keeps ${what} every step at ${at}, ${alone}: ${formatBytes(bytes)} by the end.`,
  };
}
