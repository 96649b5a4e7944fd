/** The finding of one leak: bytes per step, severity, and the law of its growth. */

import { sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { unitOf } from '../account/repetitions.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { findingOf, series } from '../findings/finding-parts.ts';
import type { AnyFinding, GrowthLawKind, PerStep, Severity } from '../findings/types.ts';
import { commonUserFrame } from '../findings/user-lines.ts';
import { MIN_STEPS, type StepSequence, stepCount, stepOf } from '../steps/step-sequence.ts';
import { isLeftByErrors } from '../verdict/patterns.ts';
import { adviceFor } from '../verdict/remedies.ts';
import type { Pattern } from '../verdict/types.ts';
import { type GrowthGroup, type GrowthKind, growthLead, SCALAR_BYTES } from './growth-groups.ts';
import type { GrowingSite } from './growth-sites.ts';

/** After this many steps that kept something, a rise is more than a warm-up. */
export const SURE_STEPS = 10;
/** Or this many over a span this long. */
const SURE_RARE_STEPS = 5;
const SURE_SPAN_STEPS = 30;

export function growthFinding(
  context: AnalysisInput,
  group: GrowthGroup,
  sequence: StepSequence,
): AnyFinding<'growth', GrowthKind> {
  const { kind, sites } = group;
  const { sizeBytes, requestedBytes, start } = context.input.replay.allocations;
  const kept = sites.flatMap((site) => site.kept);
  const bytes = sumBy(kept, (id) => sizeBytes[id]);
  const [primary] = context.stepSequences;
  const law = growthLaw(context, sites, primary);
  const isByKey = law.kind === 'by-key';
  // A cache is asked in each step and filled in some.
  const steps = stepCount(primary);
  const perStep = isByKey
    ? { bytes: bytes / steps, count: kept.length / steps, steps }
    : perStepOf(sites, sequence);
  const lead = growthLead(context, group, sequence);
  const pattern = patternOf(context, group, law);
  const each = `${formatBytes(Math.round(perStep.bytes))} each ${isByKey ? 'step' : unitOf(context, sequence)}`;
  const mean = law.kind === 'flat' && !isUneven(law) ? '' : 'on average ';
  return findingOf(context, {
    detector: 'growth',
    kind,
    severity: severityOf(context, bytes, perStep, sites),
    bytes,
    stack: lead.stack,
    frameIs: lead.frameIs,
    lead: lead.frame,
    claim: (where) =>
      `${kind === 'kept-gradients' ? 'The backward pass, which has no Python stack,' : where} keeps ${formatBytes(bytes)} in ${plural(kept.length, 'tensor')}, ${mean}${each}, and none of it was given back by the end. It grows ${lawText(law)}.`,
    searchFrame: commonUserFrame(
      context,
      sites.map(({ stack }) => stack),
    ),
    perStep,
    law: law.kind,
    pattern,
    events: {
      first: lowest(kept.map((id) => start[id])),
      last: sequence.bounds[sequence.bounds.length - 1],
    },
    sites: sites.map(({ stack, kept: own, keptBytes }) => ({
      stack,
      nativeSite: stack > EMPTY_STACK ? undefined : context.nativeSiteOf(own[0]),
      bytes: sumBy(keptBytes, (value) => value),
      count: own.length,
    })),
    shown: sites.length,
    note: ({ stack }) =>
      context.classifier.isBackward(stack)
        ? 'allocated in backward: no line of Python'
        : context.classifier.isForward(stack)
          ? 'made in forward'
          : 'made outside the model',
    facts: [
      ...(lead.madeAt === undefined ? [] : [{ label: 'allocated at', text: lead.madeAt }]),
      { label: 'steps are', text: sequence.description },
      { label: 'began at step', count: beginOf(sites) },
      { label: 'kept by the end', bytes },
      {
        label: 'share of the peak',
        text: formatPercent(bytes / context.input.replay.peaks.allocatedBytes.bytes),
      },
      { label: 'how it grows', text: lawText(law) },
      { label: 'requested, before rounding', bytes: sumBy(kept, (id) => requestedBytes[id]) },
    ],
    ids: kept,
    series: series('step', 'bytes kept', sequence.bounds.subarray(1), runningTotals(sites)),
    advice: adviceFor(kind === 'kept-graph' ? 'kept-graph' : 'kept', pattern),
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
  });
}

/** What keeps the memory, judged by the code on the stack and the growth law. */
function patternOf(
  context: AnalysisInput,
  { kind, sites: [site] }: GrowthGroup,
  law: GrowthLaw,
): Pattern | undefined {
  if (law.kind === 'by-key') return 'unbounded-cache';
  if (kind === 'kept-hook') return 'kept-by-hook';
  if (kind === 'kept-optimizer') return 'kept-optimizers';
  return kind === 'kept-tensor' && isLeftByErrors(context, site.kept)
    ? 'kept-exceptions'
    : undefined;
}

const beginOf = (sites: readonly GrowingSite[]): number =>
  lowest(sites.map(({ firstStep }) => firstStep));

/**
 * The rate since the growth began. Skip the last step, which is not over, and the first, which may include set-up. Skip
 * the second-to-last step too: its tensor may live until the next step replaces it (`x = f(x)`). For memory that is
 * kept every tenth step, measure from the first time to the last, or the idle steps around it would count.
 */
function perStepOf(sites: readonly GrowingSite[], { firstIsOpen, bounds }: StepSequence): PerStep {
  const steps = bounds.length - 1;
  const begin = beginOf(sites);
  const isRare = highest(sites.map(({ keptSteps }) => keptSteps)) < 0.8 * (steps - begin);
  let from = begin === 0 && firstIsOpen && steps > MIN_STEPS ? 1 : begin;
  let to = steps - from > SURE_STEPS ? steps - 2 : steps - 1;
  if (isRare) {
    const [{ keptCount }] = sites;
    from = keptCount.findIndex((count, i) => i >= from && count > 0) + 1;
    while (keptCount[to - 1] === 0) to--;
  }
  const rate = (column: 'keptBytes' | 'keptCount') =>
    sumBy(sites, (site) => sumBy(site[column].subarray(from, to), (one) => one)) / (to - from);
  return { bytes: rate('keptBytes'), count: rate('keptCount'), steps: steps - begin };
}

function severityOf(
  context: AnalysisInput,
  bytes: number,
  perStep: PerStep,
  sites: readonly GrowingSite[],
): Severity {
  const keptSteps = highest(sites.map((site) => site.keptSteps));
  const isSure =
    keptSteps >= SURE_STEPS || (keptSteps >= SURE_RARE_STEPS && perStep.steps >= SURE_SPAN_STEPS);
  if (!isSure) return 'low';
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  // Inference has to keep what it returns: count it only if it is a large part of the memory.
  if (bytes < 0.05 * peak && !context.isTraining) return 'low';
  const isCostly = bytes >= 0.05 * peak || perStep.bytes * 1000 >= 0.5 * peak;
  return isCostly ? 'high' : 'medium';
}

function runningTotals(sites: readonly GrowingSite[]): number[] {
  let total = 0;
  return bytesByStep(sites).map((bytes) => {
    total += bytes;
    return total;
  });
}

const bytesByStep = (sites: readonly GrowingSite[]): number[] =>
  Array.from(sites[0].keptBytes, (_, i) => sumBy(sites, ({ keptBytes }) => keptBytes[i]));

/**
 * How kept memory grows: "4 MiB a step" would be wrong for pieces that become larger.
 *
 *     flat       ▄▄▄▄▄▄▄▄   each step keeps about as much as the others
 *     growing    ▁▂▃▄▅▆▇█   each step keeps more than the one before
 *     by-key     ▃ ▁▇▂ ▅▄   pieces of different sizes; steps with a known key keep nothing
 *     in-bursts  ▅  ▅  ▅    some steps keep something, the others nothing
 */
interface GrowthLaw {
  readonly kind: GrowthLawKind;
  /** Bytes by step, without the steps that kept nothing. */
  readonly keptBytes: readonly number[];
  /** All steps since it began. */
  readonly steps: number;
  readonly pieces: readonly [smallest: number, largest: number];
  /** Number of different piece sizes. */
  readonly sizes: number;
}

/** Fewer steps show no trend. */
const MIN_TREND_STEPS = 8;
/** What the last quarter of the steps keeps over what the first quarter keeps. */
const MIN_TREND = 1.5;
const MIN_RANK_CORRELATION = 0.9;
/** A cache by key has at least this share of different sizes. */
const MIN_DIFFERENT = 0.8;
/** Such a cache already has the piece in at least this share of the steps. */
const MIN_HITS = 0.1;
/** If less than this share of the steps keeps something, memory grows in bursts. */
const MAX_RARE_SHARE = 0.8;

/** @param steps of the recording: a cache is asked in each of them and filled in some */
function growthLaw(
  context: AnalysisInput,
  sites: readonly GrowingSite[],
  steps: StepSequence,
): GrowthLaw {
  const { sizeBytes, requestedBytes } = context.input.replay.allocations;
  const all = bytesByStep(sites).slice(beginOf(sites));
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
  return { kind, keptBytes, steps: all.length, pieces, sizes };
}

/** Share of the steps between a site's first and last tensor in which it made none. */
function shareWithout(
  { input, sites }: AnalysisInput,
  { site, kept }: GrowingSite,
  sequence: StepSequence,
): number {
  const { start, length } = input.replay.allocations;
  const made = new Set<number>();
  for (let id = kept[0]; id < length; id++)
    if (sites[id] === site) made.add(stepOf(sequence, start[id]));
  return 1 - made.size / (highest([...made]) - lowest([...made]) + 1);
}

function isTrend(bytes: readonly number[]): boolean {
  if (bytes.length < MIN_TREND_STEPS) return false;
  const quarter = bytes.length >> 2;
  const isLarger = mean(bytes.slice(-quarter)) >= MIN_TREND * mean(bytes.slice(0, quarter));
  return isLarger && rankCorrelation(bytes) >= MIN_RANK_CORRELATION;
}

/** Spearman's, against the order of the values: 1 if each is larger than the one before. */
function rankCorrelation(values: readonly number[]): number {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const n = values.length;
  const squares = sumBy(order.entries(), ([rank, at]) => (at - rank) ** 2);
  return 1 - (6 * squares) / (n * (n * n - 1));
}

const mean = (values: readonly number[]): number => sumBy(values, (value) => value) / values.length;

/** 'by about the same each time'. */
function lawText(law: GrowthLaw): string {
  const { kind, keptBytes, steps, sizes, pieces } = law;
  const range = `${formatBytes(pieces[0])} to ${formatBytes(pieces[1])}`;
  switch (kind) {
    case 'growing':
      return `by more each time: ${formatBytes(keptBytes[0])} at first, ${formatBytes(keptBytes[keptBytes.length - 1])} at last`;
    case 'by-key':
      return `by one piece for each new key, as a cache without a limit does: ${plural(sizes, 'size')}, ${range}`;
    case 'in-bursts':
      return `in ${keptBytes.length} of ${plural(steps, 'step')}, and not in the others`;
    case 'flat':
      return isUneven(law)
        ? `by about the same each time on average, in pieces of ${range}`
        : 'by about the same each time';
  }
}

/** Steps differ by more than a quarter of the mean. */
function isUneven({ keptBytes }: GrowthLaw): boolean {
  // The first may include set-up, and the last is not over.
  const inner = keptBytes.length > 4 ? keptBytes.slice(1, -1) : keptBytes;
  return highest(inner) - lowest(inner) > 0.25 * mean(inner);
}
