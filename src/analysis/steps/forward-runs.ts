/**
 * Forward passes: what one call of an outermost module allocates. What is live at the end of one shows whether
 * autograd recorded it: without a graph each activation is freed once the next is computed; with one, most stay until
 * backward or until the graph is dropped.
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { addUp, largestFirst, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { freesHaveStacks, isApart, OUTPUTS } from '../../device/classes/passes.ts';
import { Evidence, MemoryClass } from '../../device/classes/types.ts';
import { type EventIndex, type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { seenOoms } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';

export interface ForwardRun {
  readonly call: StackIndex;
  readonly first: AllocationIndex;
  last: AllocationIndex;
  /** Last event of the run: an allocation or, if frees have stacks, what its functions free as they return. */
  close: EventIndex;
  allocations: number;
  bytes: number;
  /** Allocations still live after `close`, and after what its functions free as they return. */
  kept: AllocationIndex[];
  keptCount: number;
  keptBytes: number;
  /**
   * Kept bytes freed before any backward began, or never freed if none came. Excludes the output: a loss frees the
   * logits before backward starts, and backward has no use for them. The recording doesn't show which of the last few
   * tensors is the output (an LSTM's reserve is larger than the logits), so all of them are excluded.
   */
  unusedBytes: number;
  /** Kept bytes that may be the output. */
  lateBytes: number;
  /** Of the last few kept tensors the one that goes apart from the graph, or the last: the output, kept in any case. -1: none. */
  output: AllocationIndex;
  /** The trace ended, or an OOM came, before anything showed what the graph was for: most of it was there still. */
  isCutOff: boolean;
  /** The OOM that came before a backward or another pass, if any. */
  oom: EventIndex | undefined;
  /** The last event of the backward that came before any other pass, if one did and ended. */
  ownBackward: EventIndex | undefined;
}

/** What a graph may keep. Parameters gathered by FSDP, caches and workspaces outlive a pass even without one. */
const GRAPH_CLASSES: ReadonlySet<number> = new Set([
  MemoryClass.Unknown,
  MemoryClass.Activations,
  MemoryClass.Temporaries,
  MemoryClass.Kept,
  MemoryClass.Inputs,
]);
/**
 * No graph keeps an operator's scratch memory, though it is live where memory runs out within a pass:
 *
 *     gelu.py:12  freed as the next is made, in each layer before
 *     gelu.py:12  live at the OOM, freed as the exception leaves the layer
 */
const SCRATCH: ReadonlySet<number> = new Set([Evidence.ForwardFreed, Evidence.FreedEarlier]);
/**
 * This many frees in a row mean that a graph was dropped or a scope ended, unless their stacks show that the call goes
 * on: a layer's locals go as it returns to the model. With fewer, the program may call layers one by one.
 */
const DROP_FREES = 8;
/** Shorter runs (a single layer, a loss module) are not evidence. */
export const MIN_ALLOCATIONS = 8;

export function forwardRuns(context: AnalysisInput): ForwardRun[] {
  const ooms = seenOoms(context);
  const runs = findRuns(context, ooms);
  measureKept(context, runs, ooms);
  return runs;
}

function findRuns(context: AnalysisInput, ooms: readonly EventIndex[]): ForwardRun[] {
  const isFailure = new Set(ooms);
  const { classifier, input } = context;
  const { allocations: table, allocationOfEvent } = input.replay;
  const { action, stack } = input.trace.events;
  const hasFreeStacks = freesHaveStacks(input.trace.events, allocationOfEvent, table);
  const runs: ForwardRun[] = [];
  let open: ForwardRun | undefined;
  let frees = 0;
  for (let t = 0; t < action.length; t++) {
    if (open !== undefined && action[t] === TraceAction.FreeRequested) {
      const isInside = hasFreeStacks && classifier.moduleCall(stack[t]) === open.call;
      if (isInside) open.close = t;
      else if (++frees >= DROP_FREES) open = undefined;
    }
    if (isFailure.has(t)) open = undefined;
    if (action[t] !== TraceAction.Alloc) continue;
    frees = 0;
    const id = allocationOfEvent[t];
    const call = classifier.isForward(table.stack[id]) ? classifier.moduleCall(table.stack[id]) : 0;
    if (call === 0) {
      open = undefined;
      continue;
    }
    if (open?.call !== call) {
      open = { call, first: id, last: id, ...NOTHING, kept: [] };
      runs.push(open);
    }
    open.last = id;
    open.close = t;
    open.allocations++;
    open.bytes += table.sizeBytes[id];
  }
  return runs;
}

const NOTHING = {
  ...{
    close: 0,
    allocations: 0,
    bytes: 0,
    keptCount: 0,
    keptBytes: 0,
    unusedBytes: 0,
    lateBytes: 0,
  },
  ...{ output: -1, isCutOff: false, oom: undefined, ownBackward: undefined },
};

export const idsOf = ({ first, last }: ForwardRun): AllocationIndex[] =>
  Array.from({ length: last + 1 - first }, (_, i) => first + i);

function measureKept(
  context: AnalysisInput,
  runs: readonly ForwardRun[],
  ooms: readonly EventIndex[],
): void {
  const { start, freeRequested, sizeBytes } = context.input.replay.allocations;
  const { classOf, evidenceOf } = context.classification;
  const backward = nextBackwardAfter(context, runs);
  const ends = context.once(backwardEnds);
  const end = context.input.trace.events.length - 1;
  runs.forEach((run, i) => {
    const oom = ooms.find((event) => event > run.close) ?? end + 1;
    const after = Math.min(start[run.last + 1] ?? end + 1, oom);
    const held = idsOf(run).filter((id) => freeRequested[id] > run.close);
    // What the run's functions held goes as they return; if that is most of it, it was the graph.
    const outlive = held.filter((id) => freeRequested[id] > after);
    for (const id of outlive.length >= held.length / 2 ? outlive : held) {
      if (!GRAPH_CLASSES.has(classOf[id]) || SCRATCH.has(evidenceOf[id])) continue;
      run.kept.push(id);
      run.keptCount++;
      run.keptBytes += sizeBytes[id];
      const isLate = id > run.last - OUTPUTS;
      const isUnused = freeRequested[id] < backward[i] || backward[i] > end;
      if (isLate) run.lateBytes += sizeBytes[id];
      else if (isUnused) run.unusedBytes += sizeBytes[id];
    }
    run.output = outputOf(context, run);
    const isLastRun = i === runs.length - 1;
    const until = Math.min(backward[i], isLastRun ? end + 1 : start[runs[i + 1].first]);
    run.oom = oom < until ? oom : undefined;
    let next = i + 1;
    // A loss module's few tensors are no pass of their own.
    while (next < runs.length && runs[next].allocations < MIN_ALLOCATIONS) next++;
    if (backward[i] < (next < runs.length ? start[runs[next].first] : end + 1))
      run.ownBackward = ends[lowerBound(ends, backward[i])];
    const dropped = run.kept.filter((id) => freeRequested[id] <= end);
    const isDropped = sumBy(dropped, (id) => sizeBytes[id]) > run.keptBytes / 2;
    run.isCutOff = run.oom !== undefined || (isLastRun && backward[i] > end && !isDropped);
  });
}

/** The last of a pass's last tensors that goes apart from the others, which are its graph; else the last one: see `output`. */
function outputOf(
  { input }: AnalysisInput,
  { kept, last }: Pick<ForwardRun, 'kept' | 'last'>,
): AllocationIndex {
  const { allocations } = input.replay;
  const { freeRequested } = allocations;
  const late = kept.filter((id) => id > last - OUTPUTS);
  const frees = kept.slice(0, kept.length - late.length).map((id) => freeRequested[id]);
  const [begin, end] = [lowest(frees), highest(frees)];
  const goesApart = (id: AllocationIndex) => {
    const free = freeRequested[id];
    return (
      (free < begin && isApart(allocations, free, begin)) ||
      (free > end && isApart(allocations, end, free))
    );
  };
  return late.findLast(goesApart) ?? late.at(-1) ?? -1;
}

/** The first allocation of the first pass; later than any event if there is none. */
export function firstPassBegin(context: AnalysisInput): EventIndex {
  const [run] = context.once(forwardRuns);
  return run === undefined ? NEVER : context.input.replay.allocations.start[run.first];
}

/** Earlier passes of a call that show what it usually keeps. */
const MIN_PASSES = 3;
/** Of what the largest of them keeps. */
const LARGER = 1.05;

export interface LargerPass {
  readonly bytes: number;
  /** Of the passes before, and their number. */
  readonly mostBytes: number;
  readonly count: number;
  /** If each of them kept more than the one before: by how much, on average. */
  readonly risesBytes: number | undefined;
  /** What the pass before made and this one still used, such as the states of a recurrence: of one line. */
  readonly carried: { readonly bytes: number; readonly stack: StackIndex } | undefined;
}

/**
 * The last pass before an event, if it keeps more than all passes of its call before: of longer sequences, of a solver
 * that takes more steps, of a memory that is never cut.
 */
export function largerPass(context: AnalysisInput, event: EventIndex): LargerPass | undefined {
  const { start } = context.input.replay.allocations;
  const runs = context.once(forwardRuns).filter(({ first }) => start[first] < event);
  // A criterion is a module too.
  const own = runs.slice(-2).reduce((a, b) => (b.keptBytes > a.keptBytes ? b : a), runs[0]);
  const before = runs.filter((run) => run.call === own.call && run !== own);
  const mostBytes = highest(before.map(({ keptBytes }) => keptBytes));
  if (before.length < MIN_PASSES || own.keptBytes < LARGER * mostBytes) return undefined;
  const isRising = before.every(({ keptBytes }, i) => keptBytes < (before[i + 1] ?? own).keptBytes);
  const risesBytes = isRising ? (own.keptBytes - before[0].keptBytes) / before.length : undefined;
  const carried = isRising ? carriedInto(context, own, before[before.length - 1]) : undefined;
  return { bytes: own.keptBytes, mostBytes, count: before.length, risesBytes, carried };
}

/** Of a pass: less does not make it larger. */
const CARRIED_SHARE = 0.05;

/** Of what the pass before left and gave up once this one had begun, its outputs aside, what one line made. */
function carriedInto({ input }: AnalysisInput, own: ForwardRun, before: ForwardRun) {
  const { start, freeRequested, sizeBytes, stack } = input.replay.allocations;
  const byLine = new Map<StackIndex, number>();
  for (const id of before.kept)
    if (id <= before.last - OUTPUTS && freeRequested[id] > start[own.first])
      addUp(byLine, stack[id], sizeBytes[id]);
  const [[line, bytes] = [0, 0]] = largestFirst(byLine);
  return bytes < CARRIED_SHARE * before.keptBytes ? undefined : { bytes, stack: line };
}

/** For each run, the first allocation in a backward thread after it; past the end if none comes. */
function nextBackwardAfter(context: AnalysisInput, runs: readonly ForwardRun[]): Int32Array {
  const { classifier, input } = context;
  const { start, stack, length } = input.replay.allocations;
  const next = new Int32Array(runs.length);
  let upcoming = 2 ** 31 - 2;
  let id = length - 1;
  for (let i = runs.length - 1; i >= 0; i--) {
    for (; id > runs[i].last; id--) if (classifier.isBackward(stack[id])) upcoming = start[id];
    next[i] = upcoming;
  }
  return next;
}

/** The passes that made most of what they keep among these. */
export function passesAmong(context: AnalysisInput, ids: readonly AllocationIndex[]): ForwardRun[] {
  const own = new Set(ids);
  return context
    .once(forwardRuns)
    .filter(({ kept }) => 2 * kept.filter((id) => own.has(id)).length > kept.length);
}

/** The last allocation of each backward pass that ended, as events. */
export function backwardEnds({ classifier, input }: AnalysisInput): EventIndex[] {
  const { start, stack, length, preexisting } = input.replay.allocations;
  const ends: EventIndex[] = [];
  for (let id = preexisting + 1; id < length; id++)
    if (classifier.isBackward(stack[id - 1]) && !classifier.isBackward(stack[id]))
      ends.push(start[id - 1]);
  return ends;
}
