/** Common mistakes, recognized by the code on the stack and by how the memory behaves. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';

import { leftByErrors } from '../account/left-by-errors.ts';
import { type Account, type AccountEntry, allocationsOf } from '../account/types.ts';
import { areScalars } from '../detectors/growth-groups.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { forEachMade, stepCount } from '../steps/step-sequence.ts';
import type { Pattern } from './types.ts';

const LOSS = /cross_entropy|log_softmax|nll_loss/;
const GRAPH_NETWORK = /(^|[\\/])(torch_geometric|dgl|torch_sparse|torch_scatter)[\\/]/;
const GATHERS =
  /^(nested_concat|torch_pad_and_concatenate|gather_for_metrics|pad_across_processes|all_gather)/;
const EVALUATION = /eval|valid|predict|test/i;

/** @param stack the line that represents the request: see `requestOrigin` */
export function patternOfRequest(
  context: AnalysisInput,
  event: EventIndex,
  stack: StackIndex,
): Pattern | undefined {
  const { classifier, input } = context;
  if (classifier.isOptimizer(input.trace.events.stack[event]))
    return isFirstOptimizerStep(context, event) ? 'first-optimizer-step' : undefined;
  if (hasFrame(context, stack, ({ name }) => LOSS.test(name))) return 'logits-in-loss';
  const isGraphNetwork = hasFrame(context, stack, ({ filename }) => GRAPH_NETWORK.test(filename));
  return isGraphNetwork ? 'whole-graph' : undefined;
}

/** No module has run again after an optimizer: the optimizer state is still being made. */
function isFirstOptimizerStep({ classifier, input }: AnalysisInput, event: EventIndex): boolean {
  const { start, stack, length, preexisting } = input.replay.allocations;
  let ranOptimizer = false;
  for (let id = preexisting; id < length && start[id] < event; id++) {
    if (classifier.isOptimizer(stack[id])) ranOptimizer = true;
    else if (ranOptimizer && classifier.isForward(stack[id])) return false;
  }
  return true;
}

/** For kept tensors: what keeps them, judged by the code on the stack. */
export function patternOfKept(
  context: AnalysisInput,
  { kind, allocations }: AccountEntry,
): Pattern | undefined {
  if (kind === 'kept-graph') return isBackwardLonger(context) ? 'state-not-detached' : undefined;
  const isOptimizer = context.classification.classOf[allocations[0]] === MemoryClass.OptimizerState;
  if (isOptimizer)
    return isHistory(context, allocations[0]) ? 'optimizer-history' : 'kept-optimizers';
  const { stack } = context.input.replay.allocations;
  // Gradients of weights stay with an old model or in a list; a hook keeps those of activations.
  const isOfWeights = context.classification.classOf[allocations[0]] === MemoryClass.Gradients;
  if (context.classifier.isBackward(stack[allocations[0]]))
    return isOfWeights ? 'kept-weight-gradients' : 'kept-gradients';
  const left = context.once(leftByErrors);
  if (allocations.filter((id) => left.has(id)).length > allocations.length / 2)
    return 'kept-exceptions';
  if (context.classifier.isCopy(stack[allocations[0]])) return 'kept-copies';
  return areScalars(context, allocations) ? 'kept-numbers' : undefined;
}

/** How many copies of the model an account has beside the first: an average or a reference is one. */
export function copiesIn(
  { classification }: AnalysisInput,
  { entries }: Pick<Account, 'entries'>,
): number {
  const ids = allocationsOf({ entries }, ['second-model']);
  return new Set(ids.map((id) => classification.copies.get(id))).size;
}

/** LBFGS keeps two tensors of the size of all gradients for each of its last iterations. */
const isHistory = (context: AnalysisInput, id: AllocationIndex): boolean =>
  hasFrame(context, context.input.replay.allocations.stack[id], ({ filename }) =>
    /(^|[\\/])\w*lbfgs\w*\.py$/i.test(filename),
  );

/** The last quarter of the steps compared with the first. */
const LONGER = 1.5;
const MIN_STEPS = 8;

/** Whether each step's backward does more than the one before: it also goes through earlier steps. */
function isBackwardLonger({ classifier, input, stepSequences }: AnalysisInput): boolean {
  const [primary] = stepSequences;
  if (primary === undefined || stepCount(primary) < MIN_STEPS) return false;
  const { allocations } = input.replay;
  const counts = new Float64Array(stepCount(primary));
  forEachMade(allocations, primary, (id, step) => {
    if (classifier.isBackward(allocations.stack[id])) counts[step]++;
  });
  const quarter = counts.length >> 2;
  const mean = (steps: Float64Array) => sumBy(steps, (count) => count) / quarter;
  // The first step includes the optimizer's set-up, so skip it.
  const before = mean(counts.subarray(1, quarter + 1));
  return mean(counts.subarray(-quarter)) >= LONGER * Math.max(1, before);
}

/** For a tensor replaced by larger ones: an evaluation that gathers its outputs, or something else. */
export function patternOfReplaced(
  context: AnalysisInput,
  { allocations }: AccountEntry,
): Pattern | undefined {
  const { stack } = context.input.replay.allocations;
  const [largest] = allocations;
  if (largest === undefined) return undefined;
  const isGathering = ({ name }: { readonly name: string }) =>
    GATHERS.test(name) || EVALUATION.test(name);
  return hasFrame(context, stack[largest], isGathering) ? 'evaluation-gathers' : undefined;
}

function hasFrame(
  { input }: AnalysisInput,
  stack: StackIndex,
  test: (frame: { readonly name: string; readonly filename: string }) => boolean,
): boolean {
  const frames = [...input.stacks.frames(stack)];
  return frames.some((frame) => test(input.stacks.frame(frame)));
}
