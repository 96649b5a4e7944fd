/** Memory that climbs step after step and is not given back. */
import { lowest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { StackIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { evidence, fingerprint, place, thinned } from '../finding-parts.ts';
import { type GrowingSite, judgeSites } from '../growing-sites.ts';
import { GROWTH_WORDS } from '../growth-advice.ts';
import { burstFindings } from '../growth-bursts.ts';
import { type GrowthGroup, groupSites } from '../growth-groups.ts';
import { runningTotal, statementFrame } from '../growth-holder.ts';
import { frameLocation, percent } from '../labels.ts';
import { sitePart } from '../live-sites.ts';
import { MIN_STEPS, type StepSequence, stepCount } from '../steps/step-sequence.ts';
import type { DetectorResult, Fact, Finding, PerStep, Severity } from '../types.ts';

/** From so many steps that kept something, a rise is no start any more. */
const SURE_STEPS = 10;
/** Or fewer of them, over so long a time. */
const SURE_RARE_STEPS = 5;
const SURE_SPAN_STEPS = 30;

export function detectGrowth(study: AnalysisContext): DetectorResult {
  const { replay } = study.input;
  if (!study.hasTrace) return cannotTell('The file has no trace: growth shows only over time.');
  const [primary] = study.rhythms;
  if (primary === undefined) {
    const { stack: stacks, preexisting } = replay.allocations;
    const why = stacks.subarray(preexisting).every((stack) => stack <= 0)
      ? 'No call stacks were recorded, and no annotation marks the steps'
      : `Nothing in the recording repeats at least ${MIN_STEPS} times: no optimizer, annotation or loop`;
    return cannotTell(`${why}, so there are no steps to compare.`);
  }
  const findings: Finding[] = [];
  const claimed = new Set<number>();
  let suspects: readonly StackIndex[] = [];
  for (const rhythm of study.rhythms) {
    study.checkCancelled();
    if (rhythm !== primary && !mayStandAlone(study, rhythm, primary)) continue;
    const { leaks, bursts, suspects: unsure } = judgeSites(study, rhythm);
    const fresh = leaks.filter(
      (site) => !claimed.has(site.site) && isCredible(study, site, rhythm, primary),
    );
    for (const { site } of fresh) claimed.add(site);
    for (const group of groupSites(study, fresh)) findings.push(toFinding(study, group, rhythm));
    if (rhythm !== primary) continue;
    suspects = unsure.filter((stack) => !study.traits.isBuilding(stack));
    findings.push(...burstFindings(study, rhythm, bursts));
  }
  if (findings.length > 0) return { status: 'found', findings };
  const steps = stepCount(primary);
  if (suspects.length > 0) {
    const where = frameLocation(study.input.stacks.topUserFrameView(suspects[0]));
    return cannotTell(
      `Only ${plural(steps, 'step')} were recorded, and in each of them ${where} kept something: too few to tell a leak from a start. Record ten or more.`,
    );
  }
  if (replay.recording === 'truncated') {
    const reason = `${replay.recordingReason} In the ${plural(steps, 'step')} that are left nothing grows`;
    return cannotTell(`${reason}, but slow growth before them cannot be seen.`);
  }
  return {
    status: 'clear',
    checked: `${plural(steps, 'step')}, from ${primary.description}: no call site has more live tensors step after step.${steps < SURE_STEPS ? ' A leak slower than every step would need a longer recording.' : ''}`,
  };
}

const cannotTell = (reason: string): DetectorResult => ({ status: 'cannot-tell', reason });

/** Loops that the primary rhythm does not see: a phase of their own, or one within its steps. */
function mayStandAlone(
  { traits }: AnalysisContext,
  rhythm: StepSequence,
  primary: StepSequence,
): boolean {
  if (rhythm.source !== 'loop' || traits.isBuilding(rhythm.row)) return false;
  const inside = traits.moduleCall(rhythm.row) > 0;
  return !inside && rhythm.row !== primary.row && stepCount(rhythm) >= MIN_STEPS * 2;
}

/**
 * Building a model or loading data is a loop that keeps everything, and no leak. In a loop within the
 * steps, what is kept must come from at least two of them: once is a start.
 */
function isCredible(
  study: AnalysisContext,
  site: GrowingSite,
  rhythm: StepSequence,
  primary: StepSequence,
): boolean {
  if (rhythm.source !== 'loop') return true;
  if (study.traits.isBuilding(site.stack)) return false;
  if (rhythm === primary) return true;
  if (!goesOn(study, site)) return false;
  const { start } = study.input.replay.allocations;
  const { bounds } = primary;
  const end = bounds[bounds.length - 1];
  const steps = new Set<number>();
  let after = 0;
  for (const id of site.kept) {
    if (start[id] > end) after++;
    else {
      let step = 0;
      while (step < bounds.length - 2 && start[id] > bounds[step + 1]) step++;
      if (step > 0) steps.add(step);
    }
  }
  return steps.size >= 2 || after > site.kept.length / 2;
}

/**
 * A loop that ended long ago and what it kept (a data set cached in the first epoch) grow no more: the
 * pause since must not be much longer than the longest before.
 */
function goesOn({ input }: AnalysisContext, { kept }: GrowingSite): boolean {
  const { start, length } = input.replay.allocations;
  let longest = 0;
  for (let i = 1; i < kept.length; i++) {
    longest = Math.max(longest, start[kept[i]] - start[kept[i - 1]]);
  }
  return start[length - 1] - start[kept[kept.length - 1]] <= 2 * longest;
}

function toFinding(study: AnalysisContext, group: GrowthGroup, rhythm: StepSequence): Finding {
  const { kind, sites, holder } = group;
  const { allocations: table } = study.input.replay;
  const kept = sites.flatMap((site) => site.kept);
  const bytes = kept.reduce((sum, id) => sum + table.sizeBytes[id], 0);
  const perStep = perStepOf(sites, rhythm);
  const keptSteps = Math.max(...sites.map((site) => site.keptSteps));
  const isFrameOfLoop = kind === 'kept-graph';
  const holderStack = isFrameOfLoop
    ? (runningTotal(study, holder, rhythm) ?? holder.stack)
    : holder.stack;
  const first = isFrameOfLoop ? statementFrame(study, holderStack, study.rhythms) : undefined;
  const where = place(study, holderStack, first);
  const severity = severityOf(study, bytes, perStep, keptSteps);
  const what = GROWTH_WORDS[kind];
  const headline = claimOf(kind, frameLocation(where.frame), perStep, {
    keptSteps,
    sites: sites.length,
    bytes,
    kept: kept.length,
  });
  return {
    detector: 'growth',
    kind,
    severity,
    bytes,
    headline,
    claim: `${headline} After ${plural(perStep.steps, 'step')} that is ${formatBytes(bytes)}, and none of it was given back. ${what.looksLike}`,
    ...where,
    perStep,
    events: { first: lowest(kept.map((id) => table.start[id])), last: lastOf(rhythm) },
    parts: sites.map((site) => {
      const kept = site.keptBytes.reduce((sum, value) => sum + value, 0);
      const sum = { stack: site.stack, bytes: kept, count: site.kept.length };
      return sitePart(study, sum, noteOf(study, site));
    }),
    facts: [
      ...factsOf(study, rhythm, perStep, sites, bytes),
      {
        label: 'asked for, without rounding',
        bytes: kept.reduce((sum, id) => sum + table.requestedBytes[id], 0),
      },
    ],
    evidence: evidence(
      study,
      kept,
      sites.map(({ stack }) => stack),
    ),
    series: seriesOf(sites, rhythm),
    advice: what.advice,
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
    fingerprint: fingerprint(study, 'growth', kind, holderStack),
  };
}

const lastOf = ({ bounds }: StepSequence): number => bounds[bounds.length - 1];

/** What is kept in all. */
interface Amounts {
  readonly bytes: number;
  readonly kept: number;
  readonly keptSteps: number;
  readonly sites: number;
}

/** Of what does not come every step the amounts are those of the steps that keep something. */
function claimOf(kind: string, where: string, perStep: PerStep, amounts: Amounts): string {
  const { keptSteps, sites } = amounts;
  const every = Math.round(perStep.steps / keptSteps);
  const isRare = every >= 2;
  const rhythm = isRare ? `about every ${every} steps` : 'every step';
  const bytes = isRare ? amounts.bytes / keptSteps : perStep.bytes;
  const tensors = isRare ? amounts.kept / keptSteps : perStep.count;
  const amount = `${formatBytes(Math.round(bytes))} in ${plural(Math.max(1, Math.round(tensors)), 'tensor')}`;
  if (kind === 'kept-graph') {
    return `A whole autograd graph stays alive ${rhythm}: ${amount} from ${plural(sites, 'call site')}, held as far as one can tell by ${where}.`;
  }
  if (kind === 'kept-gradients') return `Backward leaves ${amount} alive ${rhythm}.`;
  return `${where} keeps ${amount} ${rhythm}.`;
}

/**
 * Over the steps from its beginning; the last is not over, and the first may hold the set-up. Of the one
 * before the last a tensor may be there still that the next of its kind replaces (`x = f(x)`). What
 * comes every tenth step is measured from one time to the last, or the steps before and after count too.
 */
function perStepOf(sites: readonly GrowingSite[], { firstIsOpen, bounds }: StepSequence): PerStep {
  const steps = bounds.length - 1;
  const begin = Math.min(...sites.map(({ firstStep }) => firstStep));
  const isRare = Math.max(...sites.map(({ keptSteps }) => keptSteps)) < 0.8 * (steps - begin);
  let from = begin === 0 && firstIsOpen && steps > MIN_STEPS ? 1 : begin;
  let to = steps - from > SURE_STEPS ? steps - 2 : steps - 1;
  if (isRare) {
    const [{ keptCount }] = sites;
    from = keptCount.findIndex((count, i) => i >= from && count > 0) + 1;
    while (keptCount[to - 1] === 0) to--;
  }
  let bytes = 0;
  let count = 0;
  for (const { keptBytes, keptCount } of sites) {
    for (let i = from; i < to; i++) {
      bytes += keptBytes[i];
      count += keptCount[i];
    }
  }
  const measured = to - from;
  return { bytes: bytes / measured, count: count / measured, steps: steps - begin };
}

function severityOf(
  study: AnalysisContext,
  bytes: number,
  perStep: PerStep,
  keptSteps: number,
): Severity {
  const isSure =
    keptSteps >= SURE_STEPS || (keptSteps >= SURE_RARE_STEPS && perStep.steps >= SURE_SPAN_STEPS);
  if (!isSure) return 'low';
  const peak = study.input.replay.peaks.allocatedBytes.bytes;
  const isCostly = bytes >= 0.05 * peak || perStep.bytes * 1000 >= 0.5 * peak;
  return isCostly ? 'high' : 'medium';
}

function noteOf({ traits }: AnalysisContext, { stack }: GrowingSite): string {
  if (traits.isBackward(stack)) return 'allocated in backward: no line of Python';
  if (traits.isForward(stack)) return 'made in forward';
  return 'made outside the model';
}

function factsOf(
  study: AnalysisContext,
  rhythm: StepSequence,
  perStep: PerStep,
  sites: readonly GrowingSite[],
  bytes: number,
): Fact[] {
  const began = Math.min(...sites.map(({ firstStep }) => firstStep));
  const peak = study.input.replay.peaks.allocatedBytes.bytes;
  const facts: Fact[] = [
    { label: 'steps are', text: rhythm.description },
    { label: 'began at step', count: began },
    { label: 'kept by the end', bytes },
    { label: 'share of the peak', text: percent(bytes / peak) },
    { label: 'cost of 1,000 more steps', bytes: perStep.bytes * 1000 },
  ];
  const room = roomAtOom(study);
  if (room !== undefined) {
    facts.push({
      label: 'steps until the memory is full',
      count: Math.floor(room / perStep.bytes),
    });
  }
  return facts;
}

/** Bytes between the end of the steps and what the device had when it ran out; unknown without an OOM. */
function roomAtOom({ input }: AnalysisContext): number | undefined {
  let limit: number | undefined;
  for (const [, free] of input.trace.events.oomDeviceFreeBytes) {
    const total = input.replay.peaks.reservedBytes.bytes + free;
    limit = Math.min(limit ?? total, total);
  }
  return limit === undefined
    ? undefined
    : Math.max(0, limit - input.replay.peaks.allocatedBytes.bytes);
}

function seriesOf(sites: readonly GrowingSite[], { bounds }: StepSequence): Finding['series'] {
  const total = new Float64Array(bounds.length - 1);
  let bytes = 0;
  for (let i = 0; i < total.length; i++) {
    for (const { keptBytes } of sites) bytes += keptBytes[i];
    total[i] = bytes;
  }
  return {
    unit: 'step',
    label: 'bytes kept',
    events: thinned(bounds.subarray(1)),
    bytes: thinned(total),
  };
}
