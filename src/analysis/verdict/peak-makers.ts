/**
 * What sets the peak of a run that works: data that stays on the GPU, what piles up for a while, one line's scratch
 * tensors, one part of the program. No fault while it fits, but what to change if it must fit elsewhere:
 *
 *     data set, 2.62 GiB for the whole run      table.py:15
 *     everything else, 0.38 GiB
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import { Evidence, MemoryClass } from '../../device/classes/types.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { peakOutside } from '../account/moment.ts';
import { type Account, allocationsOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel } from '../findings/user-lines.ts';
import { firstPassBegin, forwardRuns } from '../steps/forward-runs.ts';
import { type Case, type Diagnosis, DOES, plain } from './case.ts';
import { longLoop } from './long-loops.ts';
import { callsModule, ofLine } from './one-line.ts';
import { MIN_BYTES, piledUp, retainedGraphs } from './outstaying.ts';
import { untrainedPart } from './untrained-part.ts';

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
