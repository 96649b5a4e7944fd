/** The finding of one leak: how much it is a step, how severe, what it looks like and the fix that belongs to it. */
import { lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { limitOf } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  evidence,
  fingerprint,
  locationOf,
  locationText,
  series,
  sitePart,
} from '../findings/finding-parts.ts';
import type { AnyFinding, Fact, LineRole, PerStep, Series, Severity } from '../findings/types.ts';
import { commonUserFrame } from '../findings/user-lines.ts';
import { MIN_STEPS, type StepSequence, stepCount } from '../steps/step-sequence.ts';
import type { GrowthGroup, GrowthKind } from './growth-groups.ts';
import { extrapolation, type GrowthLaw, growthLaw, isUneven, lawText } from './growth-law.ts';
import { growthLead, isLeftByErrors } from './growth-lead.ts';
import type { GrowingSite } from './growth-sites.ts';

/** From so many steps that kept something, a rise is no start any more. */
export const SURE_STEPS = 10;
/** Or fewer of them, over so long a time. */
const SURE_RARE_STEPS = 5;
const SURE_SPAN_STEPS = 30;

export function growthFinding(
  context: AnalysisInput,
  group: GrowthGroup,
  sequence: StepSequence,
): AnyFinding<'growth', GrowthKind> {
  const { kind, sites } = group;
  const { allocations: table } = context.input.replay;
  const kept = sites.flatMap((site) => site.kept);
  const bytes = kept.reduce((sum, id) => sum + table.sizeBytes[id], 0);
  const keptSteps = Math.max(...sites.map((site) => site.keptSteps));
  const [primary] = context.stepSequences;
  const law = growthLaw(context, sites, sequence, primary);
  const perStep =
    law.kind === 'by-key' ? overAllSteps(bytes, kept.length, primary) : perStepOf(sites, sequence);
  const isOfSteps = law.kind === 'by-key' || sequence === primary;
  const lead = growthLead(context, group, sequence);
  const { frameIs } = lead;
  const where = locationOf(context, lead.stack, frameIs, lead.frame);
  const what = labelsOf(context, group, law);
  const amounts = { keptSteps, sites: sites.length, bytes, kept: kept.length };
  const headline = claimOf({
    ...{ kind, law, perStep, amounts, frameIs, madeAt: lead.madeAt },
    where: locationText(where.frame),
    round: roundOf(context, sequence),
  });
  const searchFrame = commonUserFrame(
    context,
    sites.map(({ stack }) => stack),
  );
  return {
    detector: 'growth',
    kind,
    severity: severityOf(context, bytes, perStep, keptSteps),
    bytes,
    claim: `${headline} After ${plural(perStep.steps, isOfSteps ? 'step' : 'time')} that is ${formatBytes(bytes)}, and none of it was given back. ${what.looksLike}`,
    ...where,
    searchFrame,
    perStep,
    law: law.kind,
    events: { first: lowest(kept.map((id) => table.start[id])), last: lastOf(sequence) },
    parts: sites.map((site) => {
      const kept = site.keptBytes.reduce((sum, value) => sum + value, 0);
      const nativeSite = site.stack > EMPTY_STACK ? undefined : context.nativeSiteOf(site.kept[0]);
      const sum = { stack: site.stack, nativeSite, bytes: kept, count: site.kept.length };
      return sitePart(context, sum, noteOf(context, site));
    }),
    facts: [
      ...(lead.madeAt === undefined ? [] : [{ label: 'allocated at', text: lead.madeAt }]),
      ...factsOf(context, sequence, perStep, sites, bytes, law),
      {
        label: 'requested, before rounding',
        bytes: kept.reduce((sum, id) => sum + table.requestedBytes[id], 0),
      },
    ],
    evidence: evidence(context, kept, sites),
    series: keptSeries(sites, sequence),
    advice: what.advice,
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
    fingerprint: fingerprint(context, 'growth', kind, lead.stack),
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

interface Claim {
  readonly kind: GrowthKind;
  readonly law: GrowthLaw;
  readonly where: string;
  readonly frameIs: LineRole;
  readonly madeAt: string | undefined;
  readonly perStep: PerStep;
  readonly amounts: Amounts;
  /** The line of a loop within or beside the steps: 'train.py:21 (main)'; undefined where it is the steps. */
  readonly round: string | undefined;
}

function claimOf({ kind, law, where, frameIs, madeAt, perStep, amounts, round }: Claim): string {
  if (law.kind === 'by-key') {
    return `${where} fills a cache that only grows: ${plural(amounts.kept, 'tensor')} of ${plural(law.sizes, 'different size')}, ${formatBytes(law.pieces[0])} to ${formatBytes(law.pieces[1])}, one for each new key.`;
  }
  const [interval, amount, trend] = intervalAndAmount(law, perStep, amounts, round);
  if (kind === 'kept-graph') {
    const from = `from ${plural(amounts.sites, 'call site')}`;
    const made = madeAt === undefined ? '' : `, allocated at ${madeAt}`;
    return `A whole autograd graph stays live ${interval}: ${amount} ${from}${trend}${made}, probably held by ${where}.`;
  }
  if (kind === 'kept-gradients') return `Backward leaves ${amount} live ${interval}${trend}.`;
  if (kind === 'kept-optimizer' && frameIs === 'started at') {
    return `A new optimizer's state stays live ${interval}: ${amount}${trend}, for steps that ${where} starts.`;
  }
  return `${where} keeps ${amount} ${interval}${trend}.`;
}

/** Of what does not come every step the amounts are those of the steps that keep something. */
function intervalAndAmount(
  law: GrowthLaw,
  perStep: PerStep,
  { keptSteps, bytes, kept }: Amounts,
  round: string | undefined,
): readonly [interval: string, amount: string, trend: string] {
  const every = Math.round(perStep.steps / keptSteps);
  const isRare = every >= 2;
  const interval =
    round === undefined
      ? isRare
        ? `about every ${every} steps`
        : 'every step'
      : isRare
        ? `about every ${every} times that ${round} runs`
        : `each time ${round} runs`;
  const count = Math.max(1, Math.round(isRare ? kept / keptSteps : perStep.count));
  const tensors = plural(count, 'tensor');
  const bytesEach = formatBytes(Math.round(isRare ? bytes / keptSteps : perStep.bytes));
  const isMean = law.kind === 'growing' || isUneven(law);
  const amount = `${isMean ? 'on average ' : ''}${bytesEach} in ${tensors}`;
  if (law.kind !== 'growing') return [interval, amount, ''];
  const [first] = law.keptBytes;
  const last = law.keptBytes[law.keptBytes.length - 1];
  const more = formatBytes(Math.round(law.moreBytes));
  const trend = `, and more each time: ${formatBytes(first)} at first, ${formatBytes(last)} at last, about ${more} more than the time before`;
  return [interval, amount, trend];
}

const roundOf = (
  { input, stepSequences }: AnalysisInput,
  { loop }: StepSequence,
): string | undefined =>
  loop === undefined || loop === stepSequences[0].loop
    ? undefined
    : locationText(input.stacks.frame(loop.line));

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

/** Of a cache, which is asked in each step and fills in some. */
function overAllSteps(bytes: number, count: number, primary: StepSequence): PerStep {
  const steps = stepCount(primary);
  return { bytes: bytes / steps, count: count / steps, steps };
}

function severityOf(
  context: AnalysisInput,
  bytes: number,
  perStep: PerStep,
  keptSteps: number,
): Severity {
  const isSure =
    keptSteps >= SURE_STEPS || (keptSteps >= SURE_RARE_STEPS && perStep.steps >= SURE_SPAN_STEPS);
  if (!isSure) return 'low';
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  // What inference returns has to be kept: it counts where it is a good part of the memory.
  if (bytes < 0.05 * peak && !hasBackward(context)) return 'low';
  const isCostly = bytes >= 0.05 * peak || perStep.bytes * 1000 >= 0.5 * peak;
  return isCostly ? 'high' : 'medium';
}

function noteOf({ classifier }: AnalysisInput, { stack }: GrowingSite): string {
  if (classifier.isBackward(stack)) return 'allocated in backward: no line of Python';
  if (classifier.isForward(stack)) return 'made in forward';
  return 'made outside the model';
}

function factsOf(
  context: AnalysisInput,
  sequence: StepSequence,
  perStep: PerStep,
  sites: readonly GrowingSite[],
  bytes: number,
  law: GrowthLaw,
): Fact[] {
  const began = Math.min(...sites.map(({ firstStep }) => firstStep));
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  return [
    { label: 'steps are', text: sequence.description },
    { label: 'began at step', count: began },
    { label: 'kept by the end', bytes },
    { label: 'share of the peak', text: formatPercent(bytes / peak) },
    { label: 'how it grows', text: lawText(law) },
    ...extrapolation(law, perStep, roomAtOom(context)),
  ];
}

/**
 * Bytes between the end of the recording and what the process could have when it ran out; unknown without an
 * OOM, or when it is full. A request that fails beside enough free memory met a limit of the process.
 */
function roomAtOom(context: AnalysisInput): number | undefined {
  const limit = limitOf(context);
  const room = limit === undefined ? 0 : limit - context.input.replay.end.allocatedBytes;
  return room > 0 ? room : undefined;
}

function keptSeries(sites: readonly GrowingSite[], { bounds }: StepSequence): Series {
  const total = new Float64Array(bounds.length - 1);
  let bytes = 0;
  for (let i = 0; i < total.length; i++) {
    for (const { keptBytes } of sites) bytes += keptBytes[i];
    total[i] = bytes;
  }
  return series('step', 'bytes kept', bounds.subarray(1), total);
}

interface GrowthLabels {
  readonly looksLike: string;
  readonly advice: readonly string[];
}

function labelsOf(
  context: AnalysisInput,
  { kind, sites: [site] }: GrowthGroup,
  law: GrowthLaw,
): GrowthLabels {
  if (law.kind === 'by-key') return CACHE_LABELS;
  if (kind === 'kept-graph' && !hasBackward(context)) return OUTPUT_GRAPH_LABELS;
  return kind === 'kept-tensor' && isLeftByErrors(context, site)
    ? EXCEPTION_LABELS
    : GROWTH_LABELS[kind];
}

function hasBackward({ classifier, input }: AnalysisInput): boolean {
  const { stack } = input.replay.allocations;
  return [...new Set(stack)].some((site) => classifier.isBackward(site));
}

const CACHE_LABELS: GrowthLabels = {
  looksLike:
    'The sizes differ, and steps whose size was there before made none: it looks like a cache without a limit (functools.lru_cache, a dictionary by shape).',
  advice: [
    'Bound the cache: functools.lru_cache(maxsize=32), or a dictionary that drops its oldest entry.',
    'Round the key up (sequence lengths to a multiple of 64), so that fewer pieces serve all.',
    'If the pieces are cheap to compute, do not keep them; or keep the largest and slice it.',
  ],
};

const EXCEPTION_LABELS: GrowthLabels = {
  looksLike:
    'Each of these tensors belongs to a call that ran out of memory soon after: a stored exception keeps them, for its traceback holds the local variables of the call.',
  advice: [
    'Store str(error), not the exception; or call traceback.clear_frames(error.__traceback__) first.',
    'Leave the except block before you try again: inside it the error and its traceback are alive.',
  ],
};

/** Without a backward nothing is trained: there is no loss that could be summed up. */
const OUTPUT_GRAPH_LABELS: GrowthLabels = {
  looksLike:
    'No backward ran in this recording, so most likely outputs are collected together with the graph that made them.',
  advice: [
    'Run evaluation under torch.inference_mode() (or torch.no_grad()), so that no graph is made.',
    'Store outputs.detach().cpu() in place of the outputs.',
  ],
};

const GROWTH_LABELS: Readonly<Record<GrowthKind, GrowthLabels>> = {
  'kept-graph': {
    looksLike:
      'Most likely something that requires grad (a loss that is summed up, an output in a list) outlives the step.',
    advice: [
      'If a loss or metric is accumulated, add its number: total += loss.item(), or loss.detach() where the synchronisation costs too much.',
      'If outputs are collected, store outputs.detach().cpu(), and run evaluation under torch.inference_mode().',
      'Drop retain_graph=True unless backward really runs twice over the same graph.',
    ],
  },
  'kept-hook': {
    looksLike:
      'The tensors are made in a function that a module calls, other than forward: a hook keeps what it captures.',
    advice: [
      'Keep the handle of register_forward_hook and call handle.remove() when enough is captured.',
      'Overwrite the last capture in place of appending, or store capture.detach().cpu().',
    ],
  },
  'kept-scalar': {
    looksLike:
      'One small tensor a time (a loss, a norm, a metric) goes into something that outlives the step. Each takes a whole 512-byte block, and its graph too if it requires grad.',
    advice: [
      'Store the number: losses.append(loss.item()), or loss.detach() in one preallocated tensor to avoid a synchronisation a step.',
      'Move what must be kept off the GPU in batches: torch.stack(losses).cpu() now and then.',
    ],
  },
  'kept-output': {
    looksLike:
      'Tensors made in a forward pass are kept, without the rest of the graph: outputs or features in a list or a cache.',
    advice: [
      'Store output.detach().cpu(), or reduce it to the numbers that are needed.',
      'If it is a cache, bound it; if it is a metric, reset it at the end of the epoch.',
    ],
  },
  'kept-gradients': {
    looksLike:
      'The tensors were allocated by backward threads, which have no Python stack: the recording cannot name the line. Gradients that are stored, create_graph=True or a tensor hook do this.',
    advice: [
      'Look for stored .grad, autograd.grad(…, create_graph=True) and register_hook on tensors.',
      'Use optimizer.zero_grad(set_to_none=True), and store gradients as g.detach().cpu().',
      "Record again with torch.cuda.memory._record_memory_history(stacks='all'): C++ frames name the backward node.",
    ],
  },
  'kept-optimizer': {
    looksLike:
      'An optimizer makes its state in its first step: new ones are made again and again, and something keeps the old ones (a list, a history, a scheduler).',
    advice: [
      'Make the optimizer once, before the loop: it is made where these steps are started, or a few lines before. Do not add the same parameters again (add_param_group).',
      'Do not keep copies of optimizer.state_dict(): it holds the tensors themselves.',
    ],
  },
  'kept-tensor': {
    looksLike:
      'Each time the line runs a tensor is kept: a list, a dictionary or an attribute that only grows.',
    advice: [
      'Store tensor.detach().cpu() or the number that is needed, or bound the container (collections.deque(maxlen=…)).',
      'If it requires grad it holds its graph too: detach() first.',
    ],
  },
};
