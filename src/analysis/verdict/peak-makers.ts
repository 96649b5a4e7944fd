/**
 * What sets the peak of a run that works: data that stays on the GPU, what piles up for a while, one line's scratch
 * tensors, one part of the program. No fault while it fits, but what to change if it must fit elsewhere:
 *
 *     data set, 2.62 GiB for the whole run      table.py:15
 *     everything else, 0.38 GiB
 */

import { liveAt } from '../../allocator/replay/trace-events.ts';
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { countOne, groupBy, memoized, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { Evidence, MemoryClass } from '../../device/classes/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { largestGroup } from '../account/line-share.ts';
import { peakOutside, peakWithout } from '../account/moment.ts';
import { type Account, allocationsOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel, isSameLine, type Line, userLines } from '../findings/user-lines.ts';
import { firstPassBegin, forwardRuns } from '../steps/forward-runs.ts';
import { type Case, type Diagnosis, DOES, plain } from './case.ts';
import { longLoop } from './long-loops.ts';
import { MIN_BYTES, piledUp, retainedGraphs } from './outstaying.ts';
import type { Cause, Pattern } from './types.ts';

/** Of the peak. */
const DATA_SHARE = 0.4;
const SCRATCH_SHARE = 0.5;
const REST_SHARE = 1 / 3;
const MIN_SCRATCH_BYTES = 2 ** 30;

/** The first that applies, as advice. */
export function peakMaker(known: Case): Diagnosis | undefined {
  const { context, account, failure } = known;
  if (failure !== undefined || account.moment.why !== 'peak') return undefined;
  return (
    loadedData(context, account) ??
    residentData(known) ??
    piledUp(known) ??
    retainedGraphs(context, account) ??
    lineScratch(context, account) ??
    innerGraph(context, account) ??
    untrainedPart(context, account) ??
    largerPart(context, account) ??
    longLoop(context, account)
  );
}

/** Passes or steps that a tensor must have been there for: a batch is for one. */
const MIN_LIVED = 3;

/** Of the class inputs, what one line made and the program uses from pass to pass: a data set, a graph, a buffer. */
export function residentData({ context, account }: Case): Diagnosis | undefined {
  const { start, freeRequested } = context.input.replay.allocations;
  const pass = context
    .once(forwardRuns)
    .filter(({ isCutOff }) => !isCutOff)
    .at(-MIN_LIVED);
  const step = context.findPrimarySteps()?.bounds.at(-1 - MIN_LIVED);
  const before = Math.max(step ?? -1, pass === undefined ? -1 : start[pass.first]);
  return ofLine(context, account, {
    ...{ cause: 'inputs', pattern: 'resident-data', isOfFunction: true },
    ids: allocationsOf(account, ['inputs']).filter(
      (id) => freeRequested[id] === NEVER && start[id] < before,
    ),
    minBytes: Math.max(MIN_BYTES, DATA_SHARE * account.allocatedBytes),
  });
}

/** What the lines of one function put on the GPU before the first pass, if the peak was then: data that is cut only there. */
function loadedData(context: AnalysisInput, account: Account): Diagnosis | undefined {
  const { freeRequested } = context.input.replay.allocations;
  const firstPass = firstPassBegin(context);
  if (firstPass === NEVER || account.moment.event >= firstPass) return undefined;
  const found = ofLine(context, account, {
    ...{ cause: 'inputs', pattern: 'loaded-data', isOfFunction: true },
    ids: allocationsOf(account, ['inputs', 'temporaries']),
    minBytes: Math.max(MIN_BYTES, DATA_SHARE * account.allocatedBytes),
  });
  // What stays as it is needs another remedy.
  return found?.tensors?.some((id) => freeRequested[id] !== NEVER) ? found : undefined;
}

/** Differences of all pairs, say: (a[:, None] - b[None]) ** 2. A line that calls a module means all of that module. */
function lineScratch(context: AnalysisInput, account: Account): Diagnosis | undefined {
  const { stack } = context.input.replay.allocations;
  const isOwn = memoized((own: StackIndex) => !callsModule(context, own));
  return ofLine(context, account, {
    ...{ cause: 'temporaries', pattern: 'line-scratch', isOfAllPasses: true },
    ids: allocationsOf(account, ['temporaries']).filter((id) => isOwn(stack[id])),
    minBytes: Math.max(MIN_SCRATCH_BYTES, SCRATCH_SHARE * account.allocatedBytes),
  });
}

/** A single layer's tensors are no graph. */
const MIN_OF_GRAPH = 16;

/**
 * A model inside the model that keeps a graph although nothing is trained through it: a teacher whose output is detached.
 * Its tensors are freed before any backward, but many are still there long after its call.
 */
function innerGraph(context: AnalysisInput, account: Account): Diagnosis | undefined {
  const { replay, stacks, trace } = context.input;
  const { stack } = replay.allocations;
  if (!context.isTraining) return undefined;
  const { classOf, evidenceOf } = context.classification;
  // A model inside the model's own pass has no pass of its own.
  const isUnused = (id: AllocationIndex) =>
    classOf[id] === MemoryClass.Temporaries || evidenceOf[id] === Evidence.GraphFreed;
  const now = new Set(stacks.frames(trace.events.stack[account.moment.event]));
  const isOver = memoized((own: StackIndex) => {
    const line = stacks.topUserFrame(own);
    return line !== undefined && !now.has(line) && callsModule(context, own);
  });
  const found = ofLine(context, account, {
    ...{ cause: 'activations', pattern: 'evaluation-without-no-grad', isOfAllPasses: true },
    ids: allocationsOf(account, ['activations', 'temporaries']).filter(
      (id) => isUnused(id) && isOver(stack[id]),
    ),
    minBytes: Math.max(MIN_SCRATCH_BYTES, REST_SHARE * account.allocatedBytes),
  });
  return (found?.tensors?.length ?? 0) < MIN_OF_GRAPH ? undefined : found;
}

/** Of the gradients' bytes: so many are most of the model. */
const UNTRAINED_SHARE = 0.5;
/** So many are a part of it, if backward made them all after the others: what the step's first call of a model is for. */
const FIRST_SHARE = 0.1;
const MIN_FIRST = 16;
/**
 * Of the largest gradient: states of far smaller tensors may be of an optimizer that keeps one for rows and columns only,
 * such as Adafactor.
 */
const STATE_SHARE = 1 / 8;
/** A state may be float32 where its gradient is bfloat16. */
const TYPE_RATIOS = [1, 2];

/**
 * Gradients that no optimizer uses: of a backbone that was meant to be frozen, or of a teacher. Their parameters have no
 * state where others have some. Without them autograd would not keep the activations of that part either.
 *
 *     473 gradients, 262 MiB     22 tensors of Adam's state, 77 MiB: 11 parameters are trained
 */
function untrainedPart(context: AnalysisInput, account: Account): Diagnosis | undefined {
  const { stack } = context.input.replay.allocations;
  // In the first step there is no state yet, and at the end of the recording none may be left.
  const { event } = account.moment;
  const idle =
    idleGradients(context, event) ??
    idleGradients(context, context.findPrimarySteps()?.bounds.at(-1) ?? event);
  if (idle === undefined) return undefined;
  const isOfModule = memoized((own: StackIndex) => callsModule(context, own));
  const all = allocationsOf(account, ['activations']);
  const ids = all.filter((id) => isOfModule(stack[id]));
  const callOf = memoized((own: StackIndex) => callerOfModel(context, own));
  // Of several models, one is it: the line that calls the largest says more than a line inside all of them.
  const areSeveral = new Set(ids.map((id) => callOf(stack[id]))).size > 1;
  const minBytes = Math.max(MIN_BYTES, REST_SHARE * account.allocatedBytes);
  if (idle.isFirstCall && !areSeveral) return undefined;
  const found = areSeveral
    ? ofCall(context, account, { ids: all, minBytes, isFirstCall: idle.isFirstCall })
    : ofLine(context, account, {
        ...{ cause: 'activations', pattern: 'untrained-part', ids, minBytes },
      });
  return found && { ...found, idle };
}

interface Idle {
  readonly count: number;
  readonly bytes: number;
  /** They are too few to be most of the model, but of what the step's first call needs. */
  readonly isFirstCall: boolean;
}

/** Those without a state, if they are most of the bytes or of the first call; undefined if few or no states match a gradient. */
function idleGradients(
  { input, classification: { classOf } }: AnalysisInput,
  event: EventIndex,
): Idle | undefined {
  const { requestedBytes, sizeBytes, start } = input.replay.allocations;
  // The largest first: a gradient of 4 MiB may have a state of 8 MiB, but one of 8 MiB comes before it.
  // Of one size, the newest: an optimizer's zero_grad() clears only the gradients that it uses.
  const live = [...liveAt(input.replay.allocations, event)].sort(
    (a, b) => requestedBytes[b] - requestedBytes[a] || start[b] - start[a],
  );
  const ofClass = (own: MemoryClass) => live.filter((id) => classOf[id] === own);
  const left = new Map<number, number>();
  for (const id of ofClass(MemoryClass.OptimizerState)) countOne(left, requestedBytes[id]);
  const gradients = ofClass(MemoryClass.Gradients);
  const bytesOf = (ids: readonly AllocationIndex[]) => sumBy(ids, (id) => sizeBytes[id]);
  // Adam has two moments of each: the second is of no other gradient that has the same size by chance.
  const bySize = [...groupBy(gradients, (id) => requestedBytes[id])];
  const haveStates = bySize.filter(([size]) => left.has(size));
  const haveTwo = haveStates.filter(([size, own]) => (left.get(size) ?? 0) >= 2 * own.length);
  const isAdam = 2 * haveTwo.length > haveStates.length;
  if (isAdam) for (const [size, count] of left) left.set(size, Math.ceil(count / 2));
  /** A state of that size, for one gradient each. */
  const takesState = (id: AllocationIndex): boolean => {
    const sizes = TYPE_RATIOS.map((ratio) => ratio * requestedBytes[id]);
    const size = sizes.find((own) => (left.get(own) ?? 0) > 0);
    if (size === undefined) return false;
    left.set(size, (left.get(size) ?? 0) - 1);
    return true;
  };
  const used = new Set(gradients.filter(takesState));
  const idle = gradients.filter((id) => !used.has(id));
  const largest = highest(gradients.map((id) => requestedBytes[id]));
  const isLarge = (id: AllocationIndex) => requestedBytes[id] >= STATE_SHARE * largest;
  const startsOfUsed = [...used].filter(isLarge).map((id) => start[id]);
  const share = bytesOf(idle) / bytesOf(gradients);
  const isFirstCall = share < UNTRAINED_SHARE;
  const largeIdle = idle.filter(isLarge);
  const areLast = largeIdle.every((id) => start[id] > highest(startsOfUsed));
  const areUncleared = largeIdle.every((id) => start[id] < lowest(startsOfUsed));
  const isPart = share >= FIRST_SHARE && idle.length >= MIN_FIRST && (areLast || areUncleared);
  if (startsOfUsed.length === 0 || (isFirstCall && !isPart)) return undefined;
  return { count: idle.length, bytes: bytesOf(idle), isFirstCall };
}

/** What one of several calls of modules made. */
function ofCall(
  context: AnalysisInput,
  account: Account,
  { ids, minBytes, isFirstCall }: Pick<OneLine, 'ids' | 'minBytes'> & Pick<Idle, 'isFirstCall'>,
): Diagnosis | undefined {
  const { stack } = context.input.replay.allocations;
  const largest = largestGroup(context, ids, (id) => callerOfModel(context, stack[id]));
  if (largest === undefined || largest.bytes < minBytes) return undefined;
  const inModels = ids.filter((id) => context.classifier.isForward(stack[id]));
  if (isFirstCall && lowest(largest.own) > lowest(inModels)) return undefined;
  const { key, own, bytes } = largest;
  return {
    ...plain('activations', bytes, [context.input.stacks.frame(key)], DOES['called by']),
    ...{ pattern: 'untrained-part', severity: 'low', tensors: own },
    lowersPeakBytes: account.allocatedBytes - peakWithout(context.input, own),
  };
}

/** Whether the innermost user line on a stack calls a module. */
function callsModule({ input }: AnalysisInput, stack: StackIndex): boolean {
  for (const frame of input.stacks.frames(stack)) {
    const { kind, name } = input.stacks.frame(frame);
    if (kind === 'user') return false;
    if (name === '_call_impl') return true;
  }
  return false;
}

interface OneLine {
  readonly cause: Cause;
  readonly pattern: Pattern;
  readonly ids: readonly AllocationIndex[];
  readonly minBytes: number;
  /** All lines of the largest's function count. */
  readonly isOfFunction?: boolean;
  /** Each pass makes as much, and would set the same peak. */
  readonly isOfAllPasses?: boolean;
}

/** What one user line made of some tensors or, of data, the lines of one function; if that is enough. */
function ofLine(
  context: AnalysisInput,
  account: Account,
  { cause, pattern, ids, minBytes, isOfFunction = false, isOfAllPasses = false }: OneLine,
): Diagnosis | undefined {
  const { replay, stacks } = context.input;
  const { stack } = replay.allocations;
  const largest = largestGroup(context, ids, (id) => {
    const view = stacks.topUserFrameView(stack[id]);
    return view && `${view.filename} ${isOfFunction ? view.name : view.line}`;
  });
  if (largest === undefined || largest.bytes < minBytes) return undefined;
  const { own, bytes } = largest;
  const lines = userLines(context, stack[own[0]]);
  const all = isOfAllPasses ? likeThose(context, own, lines[0]) : own;
  return {
    ...plain(cause, bytes, lines, DOES['allocated at']),
    ...{ pattern, severity: 'low', tensors: own },
    lowersPeakBytes: account.allocatedBytes - peakWithout(context.input, all),
  };
}

/** What a line made in any pass for the same reasons. */
function likeThose(
  { input, classification: { evidenceOf } }: AnalysisInput,
  some: readonly AllocationIndex[],
  line: Line,
): AllocationIndex[] {
  const { stack, length } = input.replay.allocations;
  const isOfLine = memoized((own: StackIndex) =>
    isSameLine(input.stacks.topUserFrameView(own), line),
  );
  const reasons = new Set(some.map((id) => evidenceOf[id]));
  const ids: AllocationIndex[] = [];
  for (let id = 0; id < length; id++)
    if (reasons.has(evidenceOf[id]) && isOfLine(stack[id])) ids.push(id);
  return ids;
}

/** An evaluation in one batch, say: outside of its passes the run needs far less. */
function largerPart(
  context: AnalysisInput,
  { moment, allocatedBytes }: Account,
): Diagnosis | undefined {
  const { start } = context.input.replay.allocations;
  const runs = context.once(forwardRuns);
  const set = runs.find(
    ({ first, close }) => start[first] <= moment.event && moment.event <= close,
  );
  if (set === undefined || runs.every(({ call }) => call === set.call)) return undefined;
  const own = runs.filter(({ call }) => call === set.call);
  const rest = peakOutside(
    context.input,
    own.map(({ first, close }) => [start[first], close]),
  );
  const line = callerOfModel(context, set.call);
  const bytes = allocatedBytes - rest;
  if (rest > REST_SHARE * allocatedBytes || bytes < MIN_SCRATCH_BYTES || line === undefined)
    return undefined;
  const lines = [context.input.stacks.frame(line)];
  return {
    ...plain('temporaries', bytes, lines, DOES['called by']),
    ...{ pattern: 'larger-part', severity: 'low', lowersPeakBytes: bytes },
  };
}
