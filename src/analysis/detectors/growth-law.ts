/**
 * How what is kept grows, for "4 MiB a step" is wrong of pieces that become larger:
 *
 *     flat       ▄▄▄▄▄▄▄▄   each step keeps as much as the others, or about as much
 *     growing    ▁▂▃▄▅▆▇█   each step keeps more than the one before
 *     by-key     ▃ ▁▇▂ ▅▄   pieces of different sizes, and none in steps whose key was there before
 *     in-bursts  ▅  ▅  ▅    some steps keep something, the others nothing
 */
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Fact, GrowthLawKind, PerStep } from '../findings/types.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import { SCALAR_BYTES } from './growth-groups.ts';
import type { GrowingSite } from './growth-sites.ts';

export interface GrowthLaw {
  readonly kind: GrowthLawKind;
  /** Bytes by step, of the steps that kept something. */
  readonly keptBytes: readonly number[];
  /** Of 'growing': what each such step keeps more than the one before, on average. */
  readonly moreBytes: number;
  /** Smallest and largest piece. */
  readonly pieces: readonly [smallest: number, largest: number];
  /** Pieces of different sizes. */
  readonly sizes: number;
}

/** In fewer steps no trend is to be seen. */
const MIN_TREND_STEPS = 8;
/** What the last quarter of the steps keeps, over what the first does. */
const MIN_TREND = 1.5;
const MIN_RANK_CORRELATION = 0.9;
/** Of the pieces of a cache by key so many differ in size. */
const MIN_DIFFERENT = 0.8;
/** In at least this share of the steps such a cache already had the piece. */
const MIN_HITS = 0.1;
/** Where fewer than this share of the steps keep something, memory grows in bursts. */
const MAX_RARE_SHARE = 0.8;

/** @param steps of the recording: a cache is asked in each of them, and fills in some */
export function growthLaw(
  context: AnalysisInput,
  sites: readonly GrowingSite[],
  { bounds }: StepSequence,
  steps: StepSequence,
): GrowthLaw {
  const { sizeBytes, requestedBytes } = context.input.replay.allocations;
  const begin = Math.min(...sites.map(({ firstStep }) => firstStep));
  const all: number[] = [];
  for (let i = begin; i < bounds.length - 1; i++) {
    all.push(sites.reduce((sum, { keptBytes }) => sum + keptBytes[i], 0));
  }
  const keptBytes = all.filter((bytes) => bytes > 0);
  const kept = sites.flatMap((site) => site.kept);
  const pieceBytes = kept.map((id) => sizeBytes[id]);
  const pieces = [lowest(pieceBytes), highest(pieceBytes)] as const;
  const sizes = new Set(pieceBytes).size;
  const isScalar = kept.every((id) => requestedBytes[id] <= SCALAR_BYTES);
  const isCache =
    sites.length === 1 &&
    kept.length >= MIN_TREND_STEPS &&
    sizes >= MIN_DIFFERENT * kept.length &&
    shareWithout(context, sites[0], steps) >= MIN_HITS;
  let kind: GrowthLawKind = 'flat';
  if (!isScalar && isTrend(keptBytes)) kind = 'growing';
  else if (isCache) kind = 'by-key';
  else if (keptBytes.length < MAX_RARE_SHARE * all.length) kind = 'in-bursts';
  return { kind, keptBytes, moreBytes: slope(keptBytes), pieces, sizes };
}

/** Share of the steps between the first and the last tensor of a site in which it made none. */
function shareWithout(
  { input, sites }: AnalysisInput,
  { site, kept }: GrowingSite,
  { bounds }: StepSequence,
): number {
  const { start, length } = input.replay.allocations;
  const hasMade = new Uint8Array(bounds.length);
  let step = 0;
  for (let id = kept[0]; id < length; id++) {
    while (step < bounds.length - 1 && start[id] > bounds[step + 1]) step++;
    if (sites[id] === site) hasMade[step] = 1;
  }
  const first = hasMade.indexOf(1);
  const last = hasMade.lastIndexOf(1);
  const made = hasMade.reduce((sum, one) => sum + one, 0);
  return 1 - made / (last - first + 1);
}

function isTrend(bytes: readonly number[]): boolean {
  if (bytes.length < MIN_TREND_STEPS) return false;
  const quarter = bytes.length >> 2;
  const isLarger = mean(bytes.slice(-quarter)) >= MIN_TREND * mean(bytes.slice(0, quarter));
  return isLarger && rankCorrelation(bytes) >= MIN_RANK_CORRELATION;
}

/** Spearman's, with the order in which the values came: 1 where each is larger than the one before. */
function rankCorrelation(values: readonly number[]): number {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const n = values.length;
  const squares = order.reduce((sum, at, rank) => sum + (at - rank) ** 2, 0);
  return 1 - (6 * squares) / (n * (n * n - 1));
}

/** Least squares: what each value has more than the one before. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const average = mean(values);
  let product = 0;
  let square = 0;
  values.forEach((value, i) => {
    product += (i - middle) * (value - average);
    square += (i - middle) ** 2;
  });
  return square === 0 ? 0 : product / square;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** What more steps would cost, and how many there is room for; each says what it assumes. */
export function extrapolation(
  law: GrowthLaw,
  perStep: PerStep,
  roomBytes: number | undefined,
): Fact[] {
  switch (law.kind) {
    case 'growing': {
      const assumed = `if each keeps ${formatBytes(Math.round(law.moreBytes))} more than the one before`;
      const last = law.keptBytes[law.keptBytes.length - 1];
      const bytes = 1000 * last + (law.moreBytes * 1000 * 1001) / 2;
      return [
        { label: `cost of 1,000 more steps, ${assumed}`, bytes: Math.round(bytes) },
        ...fullAfter(roomBytes, assumed, (room) => {
          // n steps cost n * last + more * n² / 2.
          const half = last / law.moreBytes;
          return Math.sqrt(half * half + (2 * room) / law.moreBytes) - half;
        }),
      ];
    }
    case 'by-key': {
      const each = mean(law.keptBytes);
      const assumed = 'if they are as large as those so far';
      return [{ label: `cost of 1,000 more keys, ${assumed}`, bytes: Math.round(1000 * each) }];
    }
    default: {
      const assumed =
        law.kind === 'flat' ? 'if each keeps as much' : 'if as many of them keep as much';
      return [
        { label: `cost of 1,000 more steps, ${assumed}`, bytes: perStep.bytes * 1000 },
        ...fullAfter(roomBytes, assumed, (room) => room / perStep.bytes),
      ];
    }
  }
}

function fullAfter(
  roomBytes: number | undefined,
  assumed: string,
  stepsIn: (roomBytes: number) => number,
): Fact[] {
  if (roomBytes === undefined) return [];
  const count = Math.floor(stepsIn(roomBytes));
  if (count < 1) return [];
  return [{ label: `steps until the memory is full, ${assumed}`, count }];
}

/** The law in a few words, for the figures. */
export function lawText({ kind, keptBytes, moreBytes, sizes, pieces }: GrowthLaw): string {
  const range = `${formatBytes(pieces[0])} to ${formatBytes(pieces[1])}`;
  switch (kind) {
    case 'growing':
      return `each step keeps more than the one before: ${formatBytes(Math.round(moreBytes))} more on average`;
    case 'by-key':
      return `by key: ${plural(sizes, 'size')}, ${range}; nothing where the key was there before`;
    case 'in-bursts':
      return `in bursts: ${plural(keptBytes.length, 'step')} kept something, the others nothing`;
    case 'flat':
      return isUneven({ keptBytes })
        ? `by about the same each step on average, in pieces of ${range}`
        : 'by about the same each step';
  }
}

/** What steps keep differs by more than a quarter of the mean. */
export function isUneven({ keptBytes }: Pick<GrowthLaw, 'keptBytes'>): boolean {
  // The first may hold the set-up, the last is not over.
  const inner = keptBytes.length > 4 ? keptBytes.slice(1, -1) : keptBytes;
  return highest(inner) - lowest(inner) > 0.25 * mean(inner);
}
