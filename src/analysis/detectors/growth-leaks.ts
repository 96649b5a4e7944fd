/** What grows step after step: each leak with its tensors, its rate and the law of its growth. */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { Evidence } from '../../device/classes/types.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import { unitOf } from '../account/repetitions.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { GrowthLawKind, PerStep } from '../findings/types.ts';
import { MIN_STEPS, type StepSequence, stepCount, stepOf } from '../steps/step-sequence.ts';
import {
  areScalars,
  type GrowthGroup,
  type GrowthLead,
  groupSites,
  growthLead,
} from './growth-groups.ts';
import { type BurstSite, type GrowingSite, judgeSites } from './growth-sites.ts';

/** After this many steps that kept something, a rise is more than a warm-up. */
export const SURE_STEPS = 10;
/** Or this many over a span this long. */
const SURE_RARE_STEPS = 5;
const SURE_SPAN_STEPS = 30;
/** Share of the peak. */
const COSTLY_SHARE = 0.05;
const FAR_STEPS = 1000;

export interface Leak {
  readonly group: GrowthGroup;
  readonly sequence: StepSequence;
  readonly lead: GrowthLead;
  readonly law: GrowthLaw;
  readonly bytes: number;
  readonly perStep: PerStep;
  /** Enough steps to be no start; in inference, which has to keep what it returns, enough bytes too. */
  readonly isSure: boolean;
  /** A large part of the peak, now or in a thousand steps. */
  readonly isCostly: boolean;
}

interface Growth {
  readonly leaks: readonly Leak[];
  readonly bursts: readonly BurstSite[];
  /** In a recording too short to judge: stacks that kept something in every step. */
  readonly suspects: readonly StackIndex[];
}

/** Computed once for the detector and the account. */
export const growthOf = (context: AnalysisInput): Growth => context.once(findGrowth);

function findGrowth(context: AnalysisInput): Growth {
  const [primary] = context.stepSequences;
  const leaks: Leak[] = [];
  if (primary === undefined) return { leaks, bursts: [], suspects: [] };
  const claimed = new Set<number>();
  const ofPrimary = judgeSites(context, primary);
  for (const sequence of context.stepSequences) {
    if (sequence !== primary && !mayStandAlone(context, sequence, primary)) continue;
    const judged = sequence === primary ? ofPrimary : judgeSites(context, sequence);
    // What the loop keeps beside the graphs, such as the losses, goes with them.
    const isOfOneBatch = judged.leaks.some((site) => waitsForBackward(context, site));
    const fresh = judged.leaks.filter(
      (site) =>
        !claimed.has(site.site) &&
        !(isOfOneBatch && isGone(context, site)) &&
        isCredible(context, site, sequence, primary),
    );
    for (const { site } of fresh) claimed.add(site);
    for (const group of groupSites(context, fresh)) leaks.push(leakOf(context, group, sequence));
  }
  return {
    leaks: leaks.sort((a, b) => b.bytes - a.bytes),
    bursts: ofPrimary.bursts,
    suspects: ofPrimary.suspects.filter((stack) => !context.classifier.isBuilding(stack)),
  };
}

/** Loops that the primary sequence misses: a separate phase, or a loop within its steps. */
function mayStandAlone(
  { classifier }: AnalysisInput,
  sequence: StepSequence,
  primary: StepSequence,
): boolean {
  if (sequence.source !== 'loop' || classifier.isBuilding(sequence.row)) return false;
  const inside = classifier.moduleCall(sequence.row) > 0;
  return !inside && sequence.row !== primary.row && stepCount(sequence) >= MIN_STEPS * 2;
}

/**
 * Made by the passes of a loop for one backward that comes after it, such as those of a decoder's time steps: a recording of
 * a single batch shows them grow.
 */
const waitsForBackward = ({ classification }: AnalysisInput, { kept }: GrowingSite): boolean =>
  kept.filter((id) => classification.evidenceOf[id] === Evidence.FreedInBackward).length >
  kept.length / 2;

const isGone = ({ input }: AnalysisInput, { kept }: GrowingSite): boolean =>
  kept.every((id) => input.replay.allocations.freeRequested[id] !== NEVER);

/**
 * Building a model or loading data is a loop that keeps everything, but no leak. In a loop within the steps, kept
 * tensors must come from at least two steps: one may be a warm-up.
 */
function isCredible(
  context: AnalysisInput,
  site: GrowingSite,
  sequence: StepSequence,
  primary: StepSequence,
): boolean {
  if (sequence.source !== 'loop') return true;
  if (context.classifier.isBuilding(site.stack)) return false;
  if (sequence === primary) return true;
  if (!goesOn(context, site)) return false;
  const { start } = context.input.replay.allocations;
  const steps = site.kept.map((id) => stepOf(primary, start[id]));
  const after = steps.filter((step) => step >= stepCount(primary));
  const within = new Set(steps.filter((step) => step > 0 && step < stepCount(primary)));
  return within.size >= 2 || after.length > site.kept.length / 2;
}

/**
 * A loop that ended long ago, and what it kept (a data set cached in the first epoch), no longer grows: the pause since
 * then must not be much longer than the longest one before.
 */
export function goesOn({ input }: AnalysisInput, { kept }: Pick<GrowingSite, 'kept'>): boolean {
  const { start, length } = input.replay.allocations;
  const pauses = kept.map((id, i) => (i === 0 ? 0 : start[id] - start[kept[i - 1]]));
  return start[length - 1] - start[kept[kept.length - 1]] <= 2 * highest(pauses);
}

function leakOf(context: AnalysisInput, group: GrowthGroup, sequence: StepSequence): Leak {
  const { sites } = group;
  const { sizeBytes } = context.input.replay.allocations;
  const kept = sites.flatMap((site) => site.kept);
  const bytes = sumBy(kept, (id) => sizeBytes[id]);
  const [primary] = context.stepSequences;
  const law = growthLaw(context, sites, primary);
  // A cache is asked in each step and filled in some.
  const steps = stepCount(primary);
  const isByKey = law.kind === 'by-key';
  const perStep = {
    ...(isByKey
      ? { bytes: bytes / steps, count: kept.length / steps, steps }
      : perStepOf(sites, sequence)),
    unit: unitOf(context, isByKey ? primary : sequence),
  };
  const keptSteps =
    highest(sites.map((site) => site.keptSteps)) *
    (1 + olderOf(context, sites).length / kept.length);
  const isOften =
    keptSteps >= SURE_STEPS || (keptSteps >= SURE_RARE_STEPS && perStep.steps >= SURE_SPAN_STEPS);
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  const isLarge = bytes >= COSTLY_SHARE * peak;
  return {
    ...{ group, sequence, law, bytes, perStep },
    lead: growthLead(context, group, sequence),
    isSure: isOften && (isLarge || context.isTraining),
    isCostly: isLarge || perStep.bytes * FAR_STEPS >= peak / 2,
  };
}

/**
 * What the same lines kept before a ring's oldest event, whatever it is: weights of models that are loaded again and again
 * are no weights that a program has once.
 */
export function olderOf(
  { input }: AnalysisInput,
  sites: readonly GrowingSite[],
): AllocationIndex[] {
  const { stack, requestedBytes, freeRequested, preexisting } = input.replay.allocations;
  const stacks = new Set(sites.map((site) => site.stack).filter((own) => own > EMPTY_STACK));
  const sizes = new Set(sites.flatMap(({ kept }) => kept.map((id) => requestedBytes[id])));
  const isOlder = (id: AllocationIndex) =>
    stacks.has(stack[id]) && sizes.has(requestedBytes[id]) && freeRequested[id] === NEVER;
  return Array.from({ length: preexisting }, (_, id) => id).filter(isOlder);
}

export const beginOf = (sites: readonly GrowingSite[]): number =>
  lowest(sites.map(({ firstStep }) => firstStep));

/**
 * The rate since the growth began. Skip the last step, which is not over, and the first, which may include set-up. Skip
 * the second-to-last step too: its tensor may live until the next step replaces it (`x = f(x)`). For memory that is
 * kept every tenth step, measure from the first time to the last, or the idle steps around it would count.
 */
function perStepOf(sites: readonly GrowingSite[], { firstIsOpen, bounds }: StepSequence) {
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
  // The last step may have ended, by an OOM say, before it came that far.
  const hasLast = sites.some(({ keptCount }) => keptCount[steps - 1] > 0);
  const times = steps - begin - (hasLast || isRare ? 0 : 1);
  return { bytes: rate('keptBytes'), count: rate('keptCount'), steps: times };
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
export interface GrowthLaw {
  readonly kind: GrowthLawKind;
  /** Bytes by step, without the steps that kept nothing. */
  readonly keptBytes: readonly number[];
  /** All steps since it began. */
  readonly steps: number;
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
  const { sizeBytes } = context.input.replay.allocations;
  const all = bytesByStep(sites).slice(beginOf(sites));
  const keptBytes = all.filter((bytes) => bytes > 0);
  const kept = sites.flatMap((site) => site.kept);
  const pieceBytes = kept.map((id) => sizeBytes[id]);
  const sizes = new Set(pieceBytes).size;
  const isCache =
    sites.length === 1 &&
    kept.length >= MIN_TREND_STEPS &&
    sizes >= MIN_DIFFERENT * kept.length &&
    shareWithout(context, sites[0], steps) >= MIN_HITS;
  let kind: GrowthLawKind = 'flat';
  if (!areScalars(context, kept) && isTrend(keptBytes)) kind = 'growing';
  else if (isCache) kind = 'by-key';
  else if (keptBytes.length < MAX_RARE_SHARE * all.length) kind = 'in-bursts';
  return { kind, keptBytes, steps: all.length };
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

/** Steps differ by more than a quarter of the mean. */
export function isUneven({ keptBytes }: GrowthLaw): boolean {
  // The first may include set-up, and the last is not over.
  const inner = keptBytes.length > 4 ? keptBytes.slice(1, -1) : keptBytes;
  return highest(inner) - lowest(inner) > 0.25 * mean(inner);
}

/** The first and the last may add nothing to a law of all: 'flat' with fewer is of all steps. */
const MIN_WITHOUT = 3;

/** What one of the steps adds that add something; undefined if they all do, or not about the same. */
export function burstBytes(law: GrowthLaw): number | undefined {
  const isFlat = law.kind === 'flat' && law.keptBytes.length <= law.steps - MIN_WITHOUT;
  return (isFlat || law.kind === 'in-bursts') && !isUneven(law) ? mean(law.keptBytes) : undefined;
}

export const isMean = (law: GrowthLaw): boolean => law.kind !== 'flat' || isUneven(law);
