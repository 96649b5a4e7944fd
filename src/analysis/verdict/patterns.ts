/** What people meet every week, recognised by the code on the stack and by how the memory behaves. */
import { memoized } from '../../base/memoized.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AccountEntry } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';
import type { Pattern } from './types.ts';

const LOSS = /cross_entropy|log_softmax|nll_loss/;
const GRAPH_NETWORK = /(^|[\\/])(torch_geometric|dgl|torch_sparse|torch_scatter)[\\/]/;
const GATHERS =
  /^(nested_concat|torch_pad_and_concatenate|gather_for_metrics|pad_across_processes|all_gather)/;
const EVALUATION = /eval|valid|predict|test/i;

/** @param stack the line that stands for the request: see `requestOrigin` */
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

/** No module ran again after an optimizer had: its state is still being made. */
function isFirstOptimizerStep({ classifier, input }: AnalysisInput, event: EventIndex): boolean {
  const { start, stack, length, preexisting } = input.replay.allocations;
  let ranOptimizer = false;
  for (let id = preexisting; id < length && start[id] < event; id++) {
    if (classifier.isOptimizer(stack[id])) ranOptimizer = true;
    else if (ranOptimizer && classifier.isForward(stack[id])) return false;
  }
  return true;
}

/** Of tensors that are kept: what keeps them, as far as the code on the stack shows it. */
export function patternOfGrowth(
  context: AnalysisInput,
  entry: AccountEntry,
  finding: Finding | undefined,
): Pattern | undefined {
  if (finding?.kind === 'kept-hook') return 'kept-by-hook';
  if (finding?.kind === 'kept-optimizer') return 'kept-optimizers';
  if (finding?.law === 'by-key') return 'unbounded-cache';
  if (entry.kind === 'kept-graph' && isBackwardLonger(context)) return 'state-not-detached';
  return undefined;
}

/** Steps at the end against those at the start, each of them a quarter of all. */
const LONGER = 1.5;
const MIN_STEPS = 8;

/** Whether each step's backward pass goes through more than the one before: through the steps before it too. */
function isBackwardLonger({ classifier, input, stepSequences }: AnalysisInput): boolean {
  const [primary] = stepSequences;
  if (primary === undefined || primary.bounds.length - 1 < MIN_STEPS) return false;
  const { bounds } = primary;
  const { start, stack, length, preexisting } = input.replay.allocations;
  const counts = new Float64Array(bounds.length - 1);
  const isBackward = memoized((site: StackIndex) => classifier.isBackward(site));
  let step = 0;
  for (let id = preexisting; id < length && start[id] <= bounds[counts.length]; id++) {
    while (start[id] > bounds[step + 1]) step++;
    if (start[id] > bounds[0] && isBackward(stack[id])) counts[step]++;
  }
  const quarter = counts.length >> 2;
  const mean = (from: number, to: number) =>
    counts.subarray(from, to).reduce((sum, count) => sum + count, 0) / (to - from);
  // The first step has the optimizer's set-up beside it, so it is left out.
  return (
    mean(-quarter + counts.length, counts.length) >= LONGER * Math.max(1, mean(1, quarter + 1))
  );
}

/** Of a tensor that is replaced by a larger one: an evaluation that gathers its outputs, or any other. */
export function patternOfReplaced(
  context: AnalysisInput,
  { allocations }: AccountEntry,
): Pattern | undefined {
  const { stack } = context.input.replay.allocations;
  const [largest] = allocations;
  if (largest === undefined) return undefined;
  const gathers = hasFrame(
    context,
    stack[largest],
    ({ name }) => GATHERS.test(name) || EVALUATION.test(name),
  );
  return gathers ? 'evaluation-gathers' : undefined;
}

function hasFrame(
  { input }: AnalysisInput,
  stack: StackIndex,
  test: (frame: { readonly name: string; readonly filename: string }) => boolean,
): boolean {
  if (stack <= EMPTY_STACK) return false;
  for (const frame of input.stacks.frames(stack)) if (test(input.stacks.frame(frame))) return true;
  return false;
}
