/**
 * A phase of the program that had never been completed when memory ran out in it: what is live is only a part of what
 * it needs, so no figure says how much the run takes, and no remedy is known to be enough.
 */
import { formatBytes } from '../../base/format.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { type Account, sumOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { forwardRuns } from '../steps/forward-runs.ts';
import type { Pattern } from './types.ts';

export type Phase = 'forward' | 'backward' | 'optimizer';

export interface Unfinished {
  readonly phase: Phase;
  /** 'the first backward pass' */
  readonly text: string;
}

export function unfinishedAt(
  context: AnalysisInput,
  event: EventIndex,
  pattern: Pattern | undefined,
): Unfinished | undefined {
  const phase = pattern === 'first-optimizer-step' ? 'optimizer' : firstPass(context, event);
  if (!context.hasTrace || phase === undefined) return undefined;
  if (phase === 'optimizer') return { phase, text: "the optimizer's first step" };
  const isFirst = context.input.replay.recording === 'complete';
  return { phase, text: `the ${isFirst ? 'first' : 'only recorded'} ${phase} pass` };
}

/** Undefined if a backward pass had ended, or if forward passes had, in a program that only runs those. */
function firstPass(context: AnalysisInput, event: EventIndex): Phase | undefined {
  const { classifier, input, stepSequences } = context;
  const { start, stack, length, preexisting } = input.replay.allocations;
  let ranBackward = false;
  for (let id = preexisting; id < length && start[id] < event; id++) {
    if (classifier.isBackward(stack[id])) ranBackward = true;
    else if (ranBackward && (classifier.isForward(stack[id]) || classifier.isOptimizer(stack[id])))
      return undefined;
  }
  const runs = context.once(forwardRuns).filter(({ first }) => start[first] < event);
  if (runs.length === 0) return undefined;
  if (classifier.isBackward(input.trace.events.stack[event])) return 'backward';
  const isRepeated = new Set(runs.map(({ call }) => call)).size < runs.length;
  return ranBackward || isRepeated || stepSequences.length > 0 ? undefined : 'forward';
}

/** What is known of what was still to come. */
export function remainderText({ phase, text }: Unfinished, account: Account): string {
  const parameters = sumOf(account, ['parameters']);
  if (phase !== 'backward' || parameters === 0)
    return `That was in ${text}, which would have requested more after it.`;
  return `That was in ${text}: its gradients need as many bytes as the parameters that are trained (up to ${formatBytes(parameters)}); ${formatBytes(sumOf(account, ['gradients']))} of them was there.`;
}
