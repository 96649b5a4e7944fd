/**
 * A phase of the program that had never been completed when memory ran out in it: what is live is only a part of what
 * it needs, so no figure says how much the run takes, and no remedy is known to be enough.
 */
import { groupBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { type Account, allocationsOf, type EntryKind, sumOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type ForwardRun, forwardRuns, idsOf } from '../steps/forward-runs.ts';
import type { Pattern } from './types.ts';

export type Phase = 'forward' | 'backward' | 'optimizer';

export interface Unfinished {
  readonly phase: Phase;
  /** 'the first backward pass' */
  readonly text: string;
  /** What its inner modules did several times, if so: a sentence, after a space. */
  readonly repeats?: string;
  /** The first pass of an evaluation, beside training. */
  readonly isOfOtherCall?: boolean;
}

export function unfinishedAt(
  context: AnalysisInput,
  event: EventIndex,
  pattern: Pattern | undefined,
): Unfinished | undefined {
  const isOther = isFirstOfCall(context, event);
  const phase =
    pattern === 'first-optimizer-step' ? 'optimizer' : firstPass(context, event, isOther);
  if (!context.hasTrace || phase === undefined) return undefined;
  if (phase === 'optimizer') return { phase, text: "the optimizer's first step" };
  const isFirst = context.input.replay.recording === 'complete';
  // Such a call may run the network many times, as a sampler does.
  const what = (isOther ? callText(context, event) : undefined) ?? `${phase} pass`;
  const text = `the ${isFirst ? 'first' : 'only recorded'} ${what}`;
  const isOfOtherCall = isOther && context.isTraining;
  return { phase, text, repeats: isOther ? repeatedText(context, event) : '', isOfOtherCall };
}

/** An evaluation's first batch: other calls of the model have ended, but none of this one. */
function isFirstOfCall(context: AnalysisInput, event: EventIndex): boolean {
  const { classifier, input } = context;
  const own = input.trace.events.stack[event];
  if (!classifier.isForward(own)) return false;
  const { start } = input.replay.allocations;
  const { parent, frame } = input.snapshot.stacks;
  const lineOf = (call: StackIndex) => frame[parent[call]];
  const line = lineOf(classifier.moduleCall(own));
  const runs = context.once(forwardRuns).filter(({ first }) => start[first] < event);
  const isOwn = ({ call }: ForwardRun) => lineOf(call) === line;
  return runs.filter(isOwn).length === 1 && !runs.every(isOwn);
}

/** 'call of the model at main.py:126 (test)' */
function callText(context: AnalysisInput, event: EventIndex): string | undefined {
  const { classifier, input } = context;
  const caller =
    input.snapshot.stacks.parent[classifier.moduleCall(input.trace.events.stack[event])];
  const line = input.stacks.topUserFrameView(caller);
  return line && `call of the model at ${frameLabel(line)}`;
}

/**
 * ' In it, model.py:41 (forward) had made 8 tensors of 8.00 KiB each.' By what its inner modules made first, a call that
 * runs the network again and again.
 */
function repeatedText(context: AnalysisInput, event: EventIndex): string {
  const { classifier, input } = context;
  const { start, stack, sizeBytes } = input.replay.allocations;
  const run = context.once(forwardRuns).findLast(({ first }) => start[first] < event);
  const ids = run === undefined ? [] : idsOf(run).filter((id) => start[id] < event);
  const first = ids.find((id) => classifier.innerModule(stack[id]) > 0);
  if (first === undefined) return '';
  const same = ids.filter((id) => stack[id] === stack[first] && sizeBytes[id] === sizeBytes[first]);
  const line = input.stacks.topUserFrameView(stack[first]);
  return same.length < 2 || line === undefined
    ? ''
    : ` In it, ${frameLabel(line)} had made ${formatCount(same.length)} tensors of ${formatBytes(sizeBytes[first])} each.`;
}

/**
 * Undefined if a backward pass had ended, or if forward passes had, in a program that only runs those; unless it is the
 * first of another call.
 *
 * @param isOther see {@link isFirstOfCall}
 */
function firstPass(context: AnalysisInput, event: EventIndex, isOther: boolean): Phase | undefined {
  const { classifier, input, stepSequences } = context;
  const { start, stack, length, preexisting } = input.replay.allocations;
  let ranBackward = false;
  for (let id = preexisting; id < length && start[id] < event; id++) {
    if (classifier.isBackward(stack[id])) ranBackward = true;
    else if (ranBackward && (classifier.isForward(stack[id]) || classifier.isOptimizer(stack[id])))
      return isOther ? 'forward' : undefined;
  }
  const runs = context.once(forwardRuns).filter(({ first }) => start[first] < event);
  if (runs.length === 0) return undefined;
  if (classifier.isBackward(input.trace.events.stack[event])) return 'backward';
  const isRepeated = new Set(runs.map(({ call }) => call)).size < runs.length;
  return ranBackward || isRepeated || stepSequences.length > 0 ? undefined : 'forward';
}

/** What is known of what was still to come. */
export function remainderText(context: AnalysisInput, own: Unfinished, account: Account): string {
  const { phase, text, repeats = '' } = own;
  const parameters = sumOf(account, ['parameters']);
  if (phase === 'backward' && parameters > 0)
    return `That was in ${text}: its gradients need as many bytes as the parameters that are trained (up to ${formatBytes(parameters)}); ${formatBytes(sumOf(account, ['gradients']))} of them was there.`;
  const need = modelNeed(context, own, account);
  if (need === undefined)
    return `That was in ${text}, which would have requested more after it.${repeats}`;
  const there = sumOf(account, ['optimizer-state']);
  const state = need - sumOf(account, BESIDE_STATE);
  const by = there > 0 ? ', judged by the parameters that have theirs' : '';
  return `That was in ${text}: its state takes about ${formatBytes(state)} in all${by}; ${there > 0 ? formatBytes(there) : 'nothing'} of it was there. With the whole state, the model takes about ${formatBytes(need)}.`;
}

const BESIDE_STATE: readonly EntryKind[] = ['parameters', 'gradients', 'second-model'];

/** What the model, its copies and its optimizer state take once all is there; undefined if that is not known. */
export function modelNeed(
  context: AnalysisInput,
  { phase }: Unfinished,
  account: Account,
): number | undefined {
  const state = wholeState(context, account);
  if (phase !== 'optimizer' || state === 0) return undefined;
  return sumOf(account, BESIDE_STATE) + state;
}

/** Adam and its relatives keep two moments of each gradient. Of others the first request tells too little. */
const TWO_MOMENTS = /(^|[\\/])torch[\\/]optim[\\/](adam|adamw|nadam|radam|adamax)\.py$/;

/**
 * The state that the whole first step of an optimizer makes: for each gradient as many tensors as the parameters have
 * that already got theirs. 50 and 49 tensors of Adam for 113 gradients are two for each. Before the first of them is
 * there, the optimizer on the stack tells how many. 0 if it does not.
 */
function wholeState({ input }: AnalysisInput, { entries, moment }: Account): number {
  const { requestedBytes } = input.replay.allocations;
  const asking = [...input.stacks.frames(input.trace.events.stack[moment.event])];
  const hasTwo = asking.some((frame) => TWO_MOMENTS.test(input.stacks.frame(frame).filename));
  const sizesOf = (kind: EntryKind) =>
    groupBy(allocationsOf({ entries }, [kind]), (id) => requestedBytes[id]);
  const gradients = sizesOf('gradients');
  const each = [...sizesOf('optimizer-state')].flatMap(([size, { length }]) => {
    const own = gradients.get(size);
    return own === undefined ? [] : Math.ceil(length / own.length);
  });
  return highest([hasTwo ? 2 : 0, ...each]) * sumOf({ entries }, ['gradients']);
}
