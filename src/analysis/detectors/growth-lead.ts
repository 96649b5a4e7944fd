/** Which of the user's lines a growth finding leads with, and what that line does. */
import { lowerBound } from '../../base/binary-search.ts';
import { type FrameIndex, type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { locationText } from '../findings/finding-parts.ts';
import type { LineRole } from '../findings/types.ts';
import { modelCallFrame, runStartFrame, statementFrame } from '../findings/user-lines.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import { type GrowthGroup, runningTotal } from './growth-groups.ts';
import type { GrowingSite } from './growth-sites.ts';

export interface GrowthLead {
  readonly stack: StackIndex;
  /** Where it is not the innermost user frame. */
  readonly frame: FrameIndex | undefined;
  readonly frameIs: LineRole;
  /** Where the tensors are made, as text, if they are stored elsewhere. */
  readonly madeAt: string | undefined;
}

/** A pass's last tensors may be its outputs. */
const OUTPUTS = 3;

export function growthLead(
  context: AnalysisInput,
  group: GrowthGroup,
  sequence: StepSequence,
): GrowthLead {
  const { kind, holder } = group;
  const { stack } = holder;
  const made = { stack, frame: undefined, frameIs: 'allocated at', madeAt: undefined } as const;
  switch (kind) {
    case 'kept-graph':
      return graphLead(context, group, sequence);
    case 'kept-output':
      return isOutput(context, holder) ? { ...made, frame: modelCallFrame(context, stack) } : made;
    case 'kept-optimizer': {
      const steps = sequence.bounds.length - 1;
      const isNewInRuns = holder.keptSteps * 2 <= steps;
      const start = isNewInRuns
        ? runStartFrame(context, stack, holder.keptSteps, steps)
        : undefined;
      return start === undefined ? made : { ...made, frame: start, frameIs: 'started at' };
    }
    default:
      return made;
  }
}

/** A running total holds the graph where there is one, else the statement that made its last tensor. */
function graphLead(
  context: AnalysisInput,
  { holder, sites }: GrowthGroup,
  sequence: StepSequence,
): GrowthLead {
  const total = runningTotal(context, holder, sequence);
  const stack = total ?? holder.stack;
  const frame = statementFrame(context, stack);
  if (total === undefined) return { stack, frame, frameIs: 'allocated at', madeAt: undefined };
  const model = sites.find((site) => context.classifier.isForward(site.stack)) ?? holder;
  const made = modelCallFrame(context, model.stack) ?? statementFrame(context, model.stack);
  const madeAt =
    made === undefined || made === frame
      ? undefined
      : locationText(context.input.stacks.frame(made));
  return { stack, frame, frameIs: 'stored at', madeAt };
}

/**
 * What is kept is an output of the model, not something from within it: among the last tensors of its forward pass,
 * or made by the last of its modules, as logits are that the loss in the model goes on to use.
 */
export function isOutput(
  { classifier, input }: AnalysisInput,
  { kept }: Pick<GrowingSite, 'kept'>,
): boolean {
  const { stack, length } = input.replay.allocations;
  const id = kept[kept.length >> 1];
  const call = classifier.moduleCall(stack[id]);
  const own = classifier.innerModule(stack[id]);
  let isLast = own > 0;
  for (let next = id + 1; next < length && classifier.moduleCall(stack[next]) === call; next++) {
    const inner = classifier.innerModule(stack[next]);
    if (inner > 0 && inner !== own) isLast = false;
    if (!isLast && next - id >= OUTPUTS) return false;
  }
  return true;
}

/**
 * Each tensor was made by a call that then ran out of memory, in the function that made it or in one that
 * this called: its caller caught the error, and the call can't use the tensor any more.
 */
export function isLeftByErrors(context: AnalysisInput, { stack, kept }: GrowingSite): boolean {
  const { input } = context;
  const { start } = input.replay.allocations;
  const { stack: stacks } = input.trace.events;
  const { parent } = input.snapshot.stacks;
  const caller = parent[stack];
  const failures = context.eventsOf(TraceAction.Oom).filter((event) => {
    for (let row = stacks[event]; row > 0; row = parent[row]) {
      if (parent[row] === caller) return true;
    }
    return false;
  });
  const left = kept.filter((id, i) => {
    const failure = failures[lowerBound(failures, start[id])];
    return failure !== undefined && failure < (start[kept[i + 1]] ?? Number.POSITIVE_INFINITY);
  });
  return left.length >= 0.8 * kept.length;
}
