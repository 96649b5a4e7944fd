/** Which statement holds a kept graph. The tensors themselves do not say: they were made in the model. */
import type { StackIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import type { GrowingSite } from './growing-sites.ts';
import { SCALAR_BYTES } from './growth-groups.ts';
import type { StepSequence } from './steps/step-sequence.ts';

/**
 * The running total of `total = total + loss` is no kept tensor: each is freed when the next replaces
 * it, and its graph is what stays. So look for scalars made outside the model, after the last tensor
 * of the graph, once a step, each freed soon after the next was made. Undefined when the model's own output
 * is kept: then that is what holds the graph.
 */
export function runningTotal(
  study: AnalysisContext,
  holder: GrowingSite,
  { bounds }: StepSequence,
): StackIndex | undefined {
  const { traits, input } = study;
  const { allocations: table } = input.replay;
  const steps = bounds.length - 1;
  const middle = Math.max(1, steps >> 1);
  const from = holder.kept.find((id) => table.start[id] > bounds[middle]);
  if (from === undefined) return undefined;
  if (traits.isForward(holder.stack) && isOutputKept(study, from, bounds[steps])) return undefined;
  const next = holder.kept.find((id) => table.start[id] > bounds[middle + 1]) ?? from;
  let found: StackIndex | undefined;
  // Up to the model of the next step: the total may be made after the optimizer has run.
  for (let id = from; id < next; id++) {
    const stack = table.stack[id];
    if (table.start[id] > bounds[middle + 1] && traits.isForward(stack)) break;
    const isCandidate =
      table.requestedBytes[id] <= SCALAR_BYTES &&
      traits.hasPython(stack) &&
      !traits.isBackward(stack) &&
      !traits.isForward(stack) &&
      !traits.isOptimizer(stack);
    if (isCandidate && isReplacedByNext(study, id)) found = stack;
  }
  return found;
}

/** Whether the last tensor that the forward pass of `inside` makes is alive at the end. */
function isOutputKept({ traits, input }: AnalysisContext, inside: number, end: number): boolean {
  const { stack, freeRequested, length } = input.replay.allocations;
  let output = inside;
  for (let id = inside; id < length && traits.isForward(stack[id]); id++) output = id;
  return freeRequested[output] > end;
}

/** Freed within a few events after the next allocation of its own site, which is not at once. */
function isReplacedByNext(study: AnalysisContext, id: number): boolean {
  const { stack, start, freeRequested, length } = study.input.replay.allocations;
  for (let next = id + 1; next < length; next++) {
    if (start[next] > freeRequested[id]) return false;
    if (stack[next] === stack[id]) {
      const isOld = start[next] - start[id] > 100;
      return isOld && freeRequested[id] - start[next] <= 4;
    }
  }
  return false;
}

/**
 * The statement in the loop that leads to a stack: for a graph it says more than the innermost line,
 * which is somewhere in the model. The innermost user frame at or below the loop's own function.
 */
export function statementFrame(
  { tree, input, traits }: AnalysisContext,
  stack: StackIndex,
  loops: readonly StepSequence[],
): number | undefined {
  if (!traits.hasPython(stack)) return undefined;
  const path: number[] = [];
  for (let row = tree.rowOf[stack]; row > 0; row = tree.parent[row]) path.push(row);
  for (const loop of loops) {
    if (loop.source !== 'loop') continue;
    const around = tree.parent[tree.rowOf[loop.row]];
    const at = path.findIndex((row) => tree.parent[row] === around);
    if (at < 0) continue;
    // Outward in, from the loop's own line: the first line that is the user's.
    for (let i = at; i >= 0; i--) {
      if (input.stacks.frame(tree.frame[path[i]]).role === 'user') return tree.frame[path[i]];
    }
  }
  return input.stacks.topUserFrame(stack);
}
