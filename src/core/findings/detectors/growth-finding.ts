/** The finding of one leak: how much it is a step, how severe, what it looks like and the fix that belongs to it. */
import { lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import {
  evidence,
  fingerprint,
  frameLocation,
  place,
  sitePart,
  thinned,
} from '../finding-parts.ts';
import { MIN_STEPS, type StepSequence } from '../steps/step-sequence.ts';
import type { AnyFinding, Fact, PerStep, Severity } from '../types.ts';
import {
  type GrowthGroup,
  type GrowthKind,
  runningTotal,
  statementFrame,
} from './growth-groups.ts';
import type { GrowingSite } from './growth-sites.ts';

/** From so many steps that kept something, a rise is no start any more. */
export const SURE_STEPS = 10;
/** Or fewer of them, over so long a time. */
const SURE_RARE_STEPS = 5;
const SURE_SPAN_STEPS = 30;

export function growthFinding(
  context: AnalysisContext,
  group: GrowthGroup,
  sequence: StepSequence,
): AnyFinding<'growth', GrowthKind> {
  const { kind, sites, holder } = group;
  const { allocations: table } = context.input.replay;
  const kept = sites.flatMap((site) => site.kept);
  const bytes = kept.reduce((sum, id) => sum + table.sizeBytes[id], 0);
  const perStep = perStepOf(sites, sequence);
  const keptSteps = Math.max(...sites.map((site) => site.keptSteps));
  const isFrameOfLoop = kind === 'kept-graph';
  const holderStack = isFrameOfLoop
    ? (runningTotal(context, holder, sequence) ?? holder.stack)
    : holder.stack;
  const first = isFrameOfLoop
    ? statementFrame(context, holderStack, context.stepSequences)
    : undefined;
  const where = place(context, holderStack, first);
  const severity = severityOf(context, bytes, perStep, keptSteps);
  const what = GROWTH_LABELS[kind];
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
    events: { first: lowest(kept.map((id) => table.start[id])), last: lastOf(sequence) },
    parts: sites.map((site) => {
      const kept = site.keptBytes.reduce((sum, value) => sum + value, 0);
      const sum = { stack: site.stack, bytes: kept, count: site.kept.length };
      return sitePart(context, sum, noteOf(context, site));
    }),
    facts: [
      ...factsOf(context, sequence, perStep, sites, bytes),
      {
        label: 'asked for, without rounding',
        bytes: kept.reduce((sum, id) => sum + table.requestedBytes[id], 0),
      },
    ],
    evidence: evidence(
      context,
      kept,
      sites.map(({ stack }) => stack),
    ),
    series: seriesOf(sites, sequence),
    advice: what.advice,
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
    fingerprint: fingerprint(context, 'growth', kind, holderStack),
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
  const interval = isRare ? `about every ${every} steps` : 'every step';
  const bytes = isRare ? amounts.bytes / keptSteps : perStep.bytes;
  const tensors = isRare ? amounts.kept / keptSteps : perStep.count;
  const amount = `${formatBytes(Math.round(bytes))} in ${plural(Math.max(1, Math.round(tensors)), 'tensor')}`;
  if (kind === 'kept-graph') {
    return `A whole autograd graph stays alive ${interval}: ${amount} from ${plural(sites, 'call site')}, held as far as one can tell by ${where}.`;
  }
  if (kind === 'kept-gradients') return `Backward leaves ${amount} alive ${interval}.`;
  return `${where} keeps ${amount} ${interval}.`;
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
  context: AnalysisContext,
  bytes: number,
  perStep: PerStep,
  keptSteps: number,
): Severity {
  const isSure =
    keptSteps >= SURE_STEPS || (keptSteps >= SURE_RARE_STEPS && perStep.steps >= SURE_SPAN_STEPS);
  if (!isSure) return 'low';
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  const isCostly = bytes >= 0.05 * peak || perStep.bytes * 1000 >= 0.5 * peak;
  return isCostly ? 'high' : 'medium';
}

function noteOf({ classifier }: AnalysisContext, { stack }: GrowingSite): string {
  if (classifier.isBackward(stack)) return 'allocated in backward: no line of Python';
  if (classifier.isForward(stack)) return 'made in forward';
  return 'made outside the model';
}

function factsOf(
  context: AnalysisContext,
  sequence: StepSequence,
  perStep: PerStep,
  sites: readonly GrowingSite[],
  bytes: number,
): Fact[] {
  const began = Math.min(...sites.map(({ firstStep }) => firstStep));
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  const facts: Fact[] = [
    { label: 'steps are', text: sequence.description },
    { label: 'began at step', count: began },
    { label: 'kept by the end', bytes },
    { label: 'share of the peak', text: formatPercent(bytes / peak) },
    { label: 'cost of 1,000 more steps', bytes: perStep.bytes * 1000 },
  ];
  const room = roomAtOom(context);
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

function seriesOf(sites: readonly GrowingSite[], { bounds }: StepSequence): AnyFinding['series'] {
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

interface GrowthLabels {
  readonly looksLike: string;
  readonly advice: readonly string[];
}

const GROWTH_LABELS: Readonly<Record<GrowthKind, GrowthLabels>> = {
  'kept-graph': {
    looksLike:
      'Many sites of a forward pass keep their tensors in the same steps: an autograd graph is kept whole, most likely because something that requires grad (a loss that is summed up, an output in a list) outlives the step.',
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
    looksLike: 'The optimizer keeps more state every step.',
    advice: [
      'Make the optimizer once, before the loop, and do not add the same parameters again (add_param_group).',
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
