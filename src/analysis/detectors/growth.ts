/** Memory that grows step after step and is not given back. */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { accountAtEnd } from '../account/account.ts';
import { mergedLeaks } from '../account/cohorts.ts';
import { lineShare, othersText } from '../account/line-share.ts';
import { moreText } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  findingOf,
  locationText,
  placeText,
  series,
} from '../findings/finding-parts.ts';
import type { AnyFinding, Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { MIN_STEPS, type StepSequence, stepCount } from '../steps/step-sequence.ts';
import { isLeftByErrors } from '../verdict/patterns.ts';
import { adviceFor } from '../verdict/remedies.ts';
import type { Pattern } from '../verdict/types.ts';
import type { GrowthGroup, GrowthKind } from './growth-groups.ts';
import {
  beginOf,
  bytesByStep,
  type GrowthLaw,
  growthOf,
  isMean,
  isUneven,
  type Leak,
  SURE_STEPS,
} from './growth-leaks.ts';
import type { GrowingSite } from './growth-sites.ts';

export const growth = {
  id: 'growth',
  about: 'tensors that a program keeps, more of them step after step',
  titles: {
    'kept-graph': 'Growth: a kept graph',
    'kept-hook': 'Growth: kept by a hook',
    'kept-scalar': 'Growth: kept numbers',
    'kept-output': 'Growth: kept outputs',
    'kept-gradients': 'Growth: kept in backward',
    'kept-optimizer': 'Growth: optimizer state',
    'kept-tensor': 'Growth: kept tensors',
    'freed-in-bursts': 'Growth, freed in bursts',
  },
  bytesAre: 'kept in all',
  bytesOfKind: { 'freed-in-bursts': 'at its highest' },
  highlight: { style: 'growth', label: 'grows' },
  evidenceSearch: 'blocks',
} as const satisfies Detector;
type GrowthFinding = FindingBy<typeof growth>;

export function detectGrowth(context: AnalysisInput): DetectorResult<GrowthFinding> {
  const { replay } = context.input;
  const [primary] = context.stepSequences;
  if (primary === undefined) {
    const { stack: stacks, preexisting } = replay.allocations;
    const why = stacks.subarray(preexisting).every((stack) => stack <= 0)
      ? 'No call stacks were recorded, and no annotation marks the steps'
      : `Nothing in the recording repeats at least ${MIN_STEPS} times: no optimizer, annotation or loop`;
    return cannotTell(`${why}, so there are no steps to compare.`);
  }
  const { bursts, suspects } = growthOf(context);
  const findings = [
    ...context.once(mergedLeaks).map((same) => growthFinding(context, same)),
    ...burstFindings(context, primary, bursts),
  ];
  if (findings.length > 0) return { status: 'found', findings };
  const steps = stepCount(primary);
  if (suspects.length > 0) {
    const where = placeText(context, suspects[0]);
    return cannotTell(
      `Only ${plural(steps, 'step')} were recorded, and in each of them ${where} kept something: too few to tell a leak from a start. Record ten or more.`,
    );
  }
  const added = addedText(context);
  if (added !== undefined)
    return cannotTell(
      `${plural(steps, 'step')}, from ${primary.description}: nothing grows from step to step, but ${added}.`,
    );
  if (replay.recording === 'truncated') {
    const reason = `${replay.recordingReason} In the ${plural(steps, 'step')} that are left nothing grows`;
    return cannotTell(`${reason}, but slow growth before them cannot be seen.`);
  }
  return clear(
    `${plural(steps, 'step')}, from ${primary.description}: no call site has more live tensors step after step.${steps < SURE_STEPS ? ' A leak slower than every step would need a longer recording.' : ''}`,
  );
}

/** Share of the peak: what is kept of it beside the steps is worth a line. */
const ADDED_SHARE = 0.05;

/** 'train.py:355 (test) has 1.06 GiB that is kept, 108.99 MiB more in each of 2 iterations in test' */
function addedText(context: AnalysisInput): string | undefined {
  const least = ADDED_SHARE * context.input.replay.peaks.allocatedBytes.bytes;
  const entry = context
    .once(accountAtEnd)
    .entries.find(
      ({ kind, isGrowing, bytes }) =>
        (kind === 'kept' || kind === 'kept-graph') && isGrowing && bytes >= least,
    );
  if (entry === undefined) return undefined;
  const { bytes, rate, lines } = entry;
  const from = lines[0] === undefined ? '' : ` from ${locationText(lines[0])}`;
  return `${formatBytes(bytes)}${from} is kept${rate === undefined ? '' : `, ${moreText(rate)}`}`;
}

type BurstSites = ReturnType<typeof growthOf>['bursts'];

/** Share of the peak: smaller piles are not worth a line. */
const MIN_SHARE = 0.01;

/**
 * What piles up over steps and is freed at once: garbage cycles, or caches that are dropped on purpose. All such sites
 * share one finding of low severity, because the memory comes back.
 */
function burstFindings(context: AnalysisInput, { bounds }: StepSequence, bursts: BurstSites) {
  if (bursts.length === 0) return [];
  const { bytes, ids, ends } = pileOf(context, bounds, bursts);
  const top = highest(bytes);
  if (top < MIN_SHARE * context.input.replay.peaks.allocatedBytes.bytes) return [];
  const largest = bursts.reduce((a, b) => (highest(b.live) > highest(a.live) ? b : a));
  const drops = highest(bursts.map((burst) => burst.drops.length));
  const finding: GrowthFinding = findingOf(context, {
    detector: 'growth',
    kind: 'freed-in-bursts',
    severity: 'low',
    bytes: top,
    stack: largest.stack,
    claim: (where) =>
      `Up to ${formatBytes(top)} from ${plural(bursts.length, 'call site')} (${where} first) piles up over several steps and is given back at once, ${plural(drops, 'time')}. It is not a leak: it looks like reference cycles that wait for Python's garbage collector, or a cache that is dropped by design.`,
    events: { first: bounds[0], last: bounds[bounds.length - 1] },
    sites: bursts.map(({ stack, live }) => ({ stack, bytes: 0, count: highest(live) })),
    note: 'tensors at the highest',
    facts: [{ label: 'times given back', count: drops }],
    ids,
    moment: ends[bytes.indexOf(top)],
    series: series('step', 'bytes not freed', bounds, bytes),
    advice: [
      'If nothing here is a cache, break the cycle: an object that refers to itself (a closure over self, an exception kept with its traceback) keeps its tensors until gc runs. With gc.collect() in each step such a pile is gone.',
    ],
    disproof:
      'With gc.collect() in each step the curve stays as it is: then something holds them on purpose.',
  });
  return [finding];
}

/** The sites' total after each step, the event it is of, and the allocations that outlived their step. */
function pileOf(context: AnalysisInput, bounds: Int32Array, bursts: BurstSites) {
  const { start, freeRequested, sizeBytes, preexisting, length } = context.input.replay.allocations;
  const isBurst = new Set(bursts.map(({ site }) => site));
  // By step the change, then the total.
  const bytes = new Float64Array(bounds.length);
  const ids: AllocationIndex[] = [];
  for (let id = preexisting; id < length; id++) {
    if (!isBurst.has(context.sites[id])) continue;
    const step = Math.min(lowerBound(bounds, start[id]), bounds.length - 1);
    if (freeRequested[id] <= bounds[step]) continue;
    ids.push(id);
    bytes[step] += sizeBytes[id];
    const freed = lowerBound(bounds, freeRequested[id], step);
    if (freed < bounds.length) bytes[freed] -= sizeBytes[id];
  }
  for (let i = 1; i < bytes.length; i++) bytes[i] += bytes[i - 1];
  // The last one also counts what came after the last step.
  const ends = bounds.slice();
  ends[ends.length - 1] = highest([bounds[bounds.length - 1], ...ids.map((id) => start[id])]);
  return { bytes, ids, ends };
}

/** What an error or the end of a function gives back after the last step was not kept for good. */
const leftText = (liveBytes: number, bytes: number): string =>
  liveBytes === bytes
    ? 'none of it was given back by the end'
    : `${liveBytes === 0 ? 'none' : formatBytes(liveBytes)} of it was still live at the end`;

/** @param same leaks of one cohort, the largest first */
function growthFinding(
  context: AnalysisInput,
  same: readonly Leak[],
): AnyFinding<'growth', GrowthKind> {
  const [{ group, sequence, law, lead }] = same;
  const { classifier, input } = context;
  const { sizeBytes, requestedBytes, start, freeRequested } = input.replay.allocations;
  const sites = same.flatMap((leak) => leak.group.sites);
  const kept = sites.flatMap((site) => site.kept);
  const own = new Set(kept);
  const isOwn = (id: AllocationIndex) => own.has(id);
  const ownBytes = sumBy(kept, (id) => sizeBytes[id]);
  // The account knows more from the same statements: one leak has one figure.
  const { entries } = context.once(accountAtEnd);
  const entry = entries.find((one) => one.bytes > ownBytes && one.allocations.some(isOwn));
  const { bytes = ownBytes, allocations: ids = kept, rate } = entry ?? {};
  const liveBytes = sumBy(ids, (id) => (freeRequested[id] === NEVER ? sizeBytes[id] : 0));
  const perStep = {
    ...same[0].perStep,
    bytes: sumBy(same, (leak) => leak.perStep.bytes),
    count: sumBy(same, (leak) => leak.perStep.count),
  };
  const pattern = patternOf(context, group, law);
  const each = `${formatBytes(rate?.bytes ?? Math.round(perStep.bytes))} each ${rate?.unit ?? perStep.unit}`;
  const mean = isMean(law) ? 'on average ' : '';
  const frame =
    lead.frame === undefined
      ? input.stacks.topUserFrameView(lead.stack)
      : input.stacks.frame(lead.frame);
  const isMaker = lead.frameIs === 'allocated at' && frame !== undefined;
  const besides = isMaker ? othersText(lineShare(context, ids, frame)) : '';
  const isSure = same.some((leak) => leak.isSure);
  const peak = input.replay.peaks.allocatedBytes.bytes;
  return findingOf(context, {
    detector: 'growth',
    kind: group.kind,
    severity: isSure ? (same.some((leak) => leak.isCostly) ? 'high' : 'medium') : 'low',
    bytes,
    stack: lead.stack,
    frameIs: lead.frameIs,
    lead: lead.frame,
    claim: (where) =>
      `${formatBytes(bytes)} in ${plural(ids.length, 'tensor')} from ${group.kind === 'kept-gradients' ? 'the backward pass, which has no Python stack,' : `${where}${besides}`} is kept, ${mean}${each}, and ${leftText(liveBytes, bytes)}. It grows ${lawText(law)}.`,
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
    note: ({ stack }) => {
      if (classifier.isBackward(stack)) return 'allocated in backward: no line of Python';
      return classifier.isForward(stack) ? 'made in forward' : 'made outside the model';
    },
    facts: [
      ...(lead.madeAt === undefined ? [] : [{ label: 'allocated at', text: lead.madeAt }]),
      { label: 'steps are', text: sequence.description },
      { label: 'began at step', count: beginOf(sites) },
      { label: liveBytes === bytes ? 'kept by the end' : 'kept by the last step', bytes },
      { label: 'compared with the peak', text: formatPercent(bytes / peak) },
      { label: 'how it grows', text: lawText(law) },
      { label: 'requested, before rounding', bytes: sumBy(kept, (id) => requestedBytes[id]) },
    ],
    ids,
    series: series('step', 'bytes kept', sequence.bounds.subarray(1), runningTotals(sites)),
    advice: adviceFor(group.kind === 'kept-graph' ? 'kept-graph' : 'kept', pattern),
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

function runningTotals(sites: readonly GrowingSite[]): number[] {
  let total = 0;
  return bytesByStep(sites).map((bytes) => {
    total += bytes;
    return total;
  });
}

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
      return `${keptBytes.length} of ${plural(steps, 'time')}, and not the others`;
    case 'flat':
      return isUneven(law)
        ? `by about the same each time on average, in pieces of ${range}`
        : 'by about the same each time';
  }
}
