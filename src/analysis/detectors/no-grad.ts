/** Evaluation or inference that keeps the graph: activations saved for a backward that never comes. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { addTo, groupBy, memoized, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, formatCount, formatPercent, plural } from '../../base/format.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex, FrameIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { peakWithout, seenOoms } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  findingOf,
  placeText,
  series,
  sumBySite,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { innermostOwn } from '../findings/user-lines.ts';
import { type ForwardRun, forwardRuns, idsOf, MIN_ALLOCATIONS } from '../steps/forward-runs.ts';
import {
  checkedText,
  evidentRuns,
  isUnderNoGrad,
  isUnusedGraph,
  isUsedGraph,
} from '../steps/pass-graphs.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';

export const noGrad = {
  id: 'no-grad',
  about: 'forward passes that keep their graph for a backward that never comes',
  titles: {
    'graph-without-backward': 'Graph without backward',
    'graph-at-oom': 'Graph without backward',
  },
  bytesAre: 'at its highest',
  highlight: { style: 'growth', label: 'first to last pass without backward' },
  evidenceSearch: 'blocks',
} as const satisfies Detector;
type NoGradFinding = FindingBy<typeof noGrad>;

const MIN_RUNS = 2;
/** Of the peak: from here on a single pass counts too. */
const LARGE_SHARE = 0.25;
/** Share of a call's passes: if nearly all had their backward, the rest are not an evaluation. */
const MIN_RUNS_SHARE = 0.1;
/** Share of the peak: less is not worth a code change. */
const MIN_PEAK_SHARE = 0.02;
/** For a pass that an OOM cut short. Even without a graph, half of a block's tensors may be live then. */
const MIN_ALLOCATIONS_OF_FAILED = 16;
const GRAPH_SHARE_OF_FAILED = 0.5;
/** Or so much of what training passes keep, and at least this share. */
const OF_TRAINED = 0.75;
const MIN_GRAPH_SHARE = 0.2;
/** Passes of another call that must have had a backward: a program's first step has each call once. */
const MIN_TRAINED = 2;

export function detectNoGrad(context: AnalysisInput): DetectorResult<NoGradFinding> {
  const { replay } = context.input;
  const runs = context.once(evidentRuns);
  const all = context.once(forwardRuns).length;
  if (all === 0) return cannotTell('No call of a torch.nn.Module is in the recorded stacks.');
  if (runs.length === 0) return tooShort(all);
  const minBytes = MIN_PEAK_SHARE * replay.peaks.allocatedBytes.bytes;
  const unused = context.once(unusedGraphs);
  const failed = [...byCall(runs)].flatMap(([call, own]) =>
    isUnderNoGrad(context, call) ||
    unused.some((graphs) => graphs.own.some((run) => run.call === call))
      ? []
      : (failedEvaluation(context, call, own, runs) ?? []),
  );
  const findings = [...unused.map((graphs) => unusedFinding(context, graphs)), ...failed]
    .filter(({ bytes }) => bytes >= minBytes)
    .sort((a, b) => b.bytes - a.bytes);
  if (findings.length > 0) return { status: 'found', findings };
  if (runs.length < SHORT_SHARE * all) return tooShort(all, all - runs.length);
  return runs.every(({ isCutOff }) => isCutOff)
    ? cannotTell('The recording breaks off in its only forward pass.')
    : clear(checkedText(context, runs));
}

const tooShort = (calls: number, short = calls) =>
  cannotTell(
    `${short === calls ? plural(calls, 'call') : `${formatCount(short)} of ${plural(calls, 'call')}`} of modules made fewer than ${MIN_ALLOCATIONS} tensors each: too few to tell a graph from an output.`,
  );

/** A program that calls its layers one by one has no passes to judge, but for a few. */
const SHORT_SHARE = 0.05;

/**
 * Whether a cut-off pass kept so much that only a graph explains it.
 *
 * @param trained passes that surely had a graph: if these keep a third of what they allocate, half is not to be asked for
 */
function surelyKeepsGraph(run: ForwardRun, trained: readonly ForwardRun[] = []): boolean {
  const usual = trained.length === 0 ? 1 : sumBy(trained, shareKept) / trained.length;
  const least = Math.min(GRAPH_SHARE_OF_FAILED, Math.max(MIN_GRAPH_SHARE, OF_TRAINED * usual));
  return run.allocations >= MIN_ALLOCATIONS_OF_FAILED && shareKept(run) >= least;
}

const shareKept = ({ keptCount, allocations }: ForwardRun): number => keptCount / allocations;

/**
 * The user's line that only these passes have: with `iteration()` for training and for the test, `self.iteration(test)`
 * rather than the line in it that calls the model. Otherwise that line, even if its model is called by `forward`.
 */
function callerOf(context: AnalysisInput, call: StackIndex): StackIndex {
  const { parent } = context.input.snapshot.stacks;
  const used = context.once(framesOfUsed);
  const isOwn = (frame: FrameIndex) => (used.get(frame) ?? []).every((other) => other === call);
  return innermostOwn(context, parent[call], isOwn) ?? parent[call];
}

/** By frame: the calls through it whose graphs a backward used. */
function framesOfUsed(context: AnalysisInput): Map<FrameIndex, StackIndex[]> {
  const { snapshot, stacks } = context.input;
  const frames = new Map<FrameIndex, StackIndex[]>();
  for (const [call, own] of byCall(context.once(evidentRuns))) {
    if (!own.some((run) => isUsedGraph(context, run))) continue;
    for (const frame of stacks.frames(snapshot.stacks.parent[call])) addTo(frames, frame, call);
  }
  return frames;
}

/** By the user's line: `evaluate(model, train_set)` and `evaluate(model, test_set)` call the model in one. */
const byLine = (context: AnalysisInput): ForwardRun[][] => {
  const { frame } = context.input.snapshot.stacks;
  const lineOf = memoized((call: StackIndex) => frame[callerOf(context, call)]);
  return [...groupBy(context.once(evidentRuns), ({ call }) => lineOf(call)).values()];
};

const byCall = (runs: readonly ForwardRun[]): Map<StackIndex, ForwardRun[]> =>
  groupBy(runs, ({ call }) => call);

/** Share of the peak that could be saved. */
const NOTABLE_SHARE = 0.05;
const SEVERE_SHARE = 0.2;
/** From this many graphs' worth on they pile up: the last one is still live while the next is made. */
const PILED_UP = 2.5;

/** Passes whose graphs no backward used, of the lines that lead to one call of the model. */
interface UnusedGraphs extends ReturnType<typeof highestAtOnce> {
  /** One of each line, that of the largest graph first. */
  readonly calls: readonly StackIndex[];
  /** All passes of these lines. */
  readonly own: readonly ForwardRun[];
  /** Those without a backward, in time. */
  readonly runs: readonly ForwardRun[];
  readonly graph: readonly KeptTensor[];
  /** Of the graph, by run. */
  readonly bytesOfRuns: readonly number[];
}

/** A test after training may be a single pass; what an error drops is no test. */
function isLargeAlone(context: AnalysisInput, own: readonly ForwardRun[]): boolean {
  const [only, ...others] = own;
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  if (others.length > 0 || seenOoms(context).length > 0) return false;
  return isUnusedGraph(context, only) && only.keptBytes >= LARGE_SHARE * peak;
}

/**
 * Without the lines that have too few such passes. `train(model, val_set)` and `train(model, test_set)` call the model in one
 * function, and so do `model(shots)` and `model(queries)` of one loop: they need one change.
 */
export function unusedGraphs(context: AnalysisInput): UnusedGraphs[] {
  const { parent } = context.input.snapshot.stacks;
  const lines = byLine(context).flatMap((own) => unusedOfLine(context, own) ?? []);
  const alone = besideUnused(context, lines);
  const functions = new Set(alone.map(({ call }) => functionOf(context, call)));
  const keyOf = ({ call }: UnusedOfLine) => {
    const name = functionOf(context, call);
    return functions.has(name) ? name : functionAt(context, parent[call]);
  };
  const mostKept = ({ runs }: UnusedOfLine) => highest(runs.map(({ keptBytes }) => keptBytes));
  return [...groupBy([...lines, ...alone], keyOf).values()].map((group) => {
    const same = group.toSorted((a, b) => mostKept(b) - mostKept(a));
    const runs = same.flatMap((line) => line.runs).sort((a, b) => a.first - b.first);
    const graphs = graphsOf(context, runs);
    const { sizeBytes } = context.input.replay.allocations;
    const bytesOfRuns = graphs.map((kept) => sumBy(kept, ({ id }) => sizeBytes[id]));
    const graph = graphs.flat();
    const own = same.flatMap((line) => line.own);
    const calls = same.map(({ call }) => call);
    return { calls, own, runs, graph, bytesOfRuns, ...highestAtOnce(context, graph) };
  });
}

/** The lines of the passes that kept some of these, one for each call: the evaluation of two data sets has two. */
export function linesOfUnused(
  context: AnalysisInput,
  allocations: ArrayLike<AllocationIndex>,
): FrameView[] {
  const own = new Set(Array.from(allocations));
  const graphs = context.once(unusedGraphs).find(({ ids }) => ids.some((id) => own.has(id)));
  const { frame } = context.input.snapshot.stacks;
  const calls = graphs?.calls ?? [];
  return calls.map((call) => context.input.stacks.frame(frame[callerOf(context, call)]));
}

/** Single passes, too small to tell alone, in the function of such lines: `net(content)` beside `net(style)`. */
function besideUnused(context: AnalysisInput, lines: readonly UnusedOfLine[]): UnusedOfLine[] {
  const functions = new Set(lines.map(({ call }) => functionOf(context, call)));
  const calls = new Set(lines.map(({ call }) => call));
  return byLine(context).flatMap((own) => {
    const [only, ...others] = own;
    const { call } = only;
    const isBeside =
      others.length === 0 && !calls.has(call) && functions.has(functionOf(context, call));
    const isUnused = isBeside && isUnusedGraph(context, only) && !isUnderNoGrad(context, call);
    return isUnused ? [{ call, own, runs: own }] : [];
  });
}

const functionOf = (context: AnalysisInput, call: StackIndex): string =>
  functionAt(context, callerOf(context, call));

function functionAt(context: AnalysisInput, row: StackIndex): string {
  const { frame } = context.input.snapshot.stacks;
  const { filename, name } = context.input.stacks.frame(frame[row]);
  return `${filename} ${name}`;
}

type UnusedOfLine = NonNullable<ReturnType<typeof unusedOfLine>>;

function unusedOfLine(context: AnalysisInput, own: readonly ForwardRun[]) {
  const [{ call }] = own;
  const unused = own.filter((run) => isUnusedGraph(context, run));
  const isRare =
    unused.length < Math.max(MIN_RUNS, MIN_RUNS_SHARE * own.length) && !isLargeAlone(context, own);
  if (isRare || isUnderNoGrad(context, call)) return undefined;
  // If no pass had a backward, the cut-off one would not have had one either.
  const isAlways = own.every((run) => run.isCutOff || unused.includes(run));
  const runs = own.filter(
    (run) => unused.includes(run) || (isAlways && run.isCutOff && surelyKeepsGraph(run)),
  );
  return { call, own, runs };
}

function unusedFinding(context: AnalysisInput, graphs: UnusedGraphs): NoGradFinding {
  const { calls, own, runs, graph, bytesOfRuns, bytes, event, ids } = graphs;
  const { replay } = context.input;
  const { start } = replay.allocations;
  const peak = replay.peaks.allocatedBytes.bytes;
  const largest = runs.reduce((a, b) => (b.keptBytes > a.keptBytes ? b : a));
  const mostBytes = highest(bytesOfRuns);
  const last = runs[runs.length - 1];
  const lines = calls.map((call) => callerOf(context, call));
  const others = lines.slice(1).map((line) => placeText(context, line));
  const lowersPeakBytes =
    peak -
    peakWithout(
      context.input,
      graph.map(({ id }) => id),
    );
  // Graphs that are dropped one by one, as in an evaluation or a target network with a detached output, do no harm as
  // long as one of them fits.
  const isShort = bytes >= PILED_UP * mostBytes || seenOoms(context).length > 0;
  const isNotable = isShort && lowersPeakBytes >= NOTABLE_SHARE * peak;
  const isSevere = last.oom !== undefined || (isNotable && lowersPeakBytes >= SEVERE_SHARE * peak);
  return findingOf(context, {
    ...ofBoth(context, ids),
    moment: event,
    kind: 'graph-without-backward',
    severity: isSevere ? 'high' : isNotable ? 'medium' : 'low',
    bytes,
    lowersPeakBytes,
    stack: lines[0],
    claim: (where) =>
      `${countText(graphs)} at ${[where, ...others].join(', ')} kept ${runs.length === 1 ? 'its' : 'their'} activations for a backward that never came: ${formatPercent(largest.keptCount / largest.allocations)} of the tensors of a pass were live at its end, up to ${formatBytes(mostBytes)}. Under torch.no_grad() up to ${formatBytes(bytes)} less would have been in use while they were live${peakText(lowersPeakBytes)}.${last.oom === undefined ? '' : ` Memory ran out in ${runs.length === 1 ? 'it' : 'the last of them'}.`}`,
    events: { first: start[runs[0].first], last: Math.max(event, last.close, last.oom ?? 0) },
    facts: [
      {
        label: `forward passes from ${calls.length > 1 ? 'these lines' : 'this call'}`,
        count: own.length,
      },
      { label: 'of them surely without backward', count: runs.length },
      { label: 'kept at the end of one, without its output', bytes: mostBytes },
      { label: 'alone it lowers the peak by', bytes: lowersPeakBytes },
    ],
    series: series(
      'step',
      'bytes kept by each pass',
      runs.map(({ close }) => close),
      bytesOfRuns,
    ),
    disproof:
      'A backward over these passes comes later, outside this recording, or through another process.',
  });
}

/** Of passes that were live while some backward ran, it may have been theirs. */
function countText({ runs, own }: UnusedGraphs): string {
  if (runs.length === own.length) return plural(runs.length, 'forward pass', 'forward passes');
  return `At least ${formatCount(runs.length)} of ${plural(own.length, 'forward pass', 'forward passes')}`;
}

/** ', but the peak of the run would stay': something else set it. */
const peakText = (lowersPeakBytes: number): string =>
  lowersPeakBytes === 0
    ? ', but that alone does not lower the peak of the run'
    : `, and ${formatBytes(lowersPeakBytes)} less at the peak of the run`;

const ofBoth = (context: AnalysisInput, ids: readonly AllocationIndex[]) =>
  ({
    detector: 'no-grad',
    frameIs: 'called by',
    note: 'kept for backward',
    pattern: 'evaluation-without-no-grad',
    advice: adviceFor('kept-graph', 'evaluation-without-no-grad'),
    sites: sumBySite(context, ids),
    ids,
  }) as const;

/**
 * A call that ran out of memory in its first pass, with a graph, while another call's passes all had their backward: an
 * evaluation after training. A training step that fails in its own forward is different: earlier passes of its call had
 * a backward, or nothing was trained before it.
 */
function failedEvaluation(
  context: AnalysisInput,
  call: StackIndex,
  own: readonly ForwardRun[],
  runs: readonly ForwardRun[],
): NoGradFinding | undefined {
  const run = own.find(({ oom }) => oom !== undefined);
  if (run?.oom === undefined || !own.every(({ isCutOff }) => isCutOff)) return undefined;
  const others = runs.filter((one) => one.last < run.first && one.call !== call);
  const trained = others.filter((one) => isUsedGraph(context, one));
  // The other call that has the most of them.
  const [most = []] = [...byCall(trained).values()].sort((a, b) => b.length - a.length);
  if (most.length < MIN_TRAINED || !surelyKeepsGraph(run, most)) return undefined;
  const { kept: ids, keptBytes: bytes } = run;
  return findingOf(context, {
    ...ofBoth(context, ids),
    kind: 'graph-at-oom',
    severity: 'high',
    bytes,
    stack: callerOf(context, call),
    claim: (where) =>
      `Out of memory in what looks like an evaluation without torch.inference_mode(): the forward pass at ${where} kept ${formatBytes(bytes)} for a backward. ${formatPercent(run.keptCount / run.allocations)} of its tensors were live when memory ran out. No backward belongs to this call, while ${plural(most.length, 'earlier pass', 'earlier passes')} at ${placeText(context, context.input.snapshot.stacks.parent[most[0].call])} had one each.`,
    events: { first: context.input.replay.allocations.start[run.first], last: run.oom },
    facts: [
      { label: 'earlier passes of another call that had a backward', count: most.length },
      { label: 'kept when memory ran out', bytes },
    ],
    disproof: 'The call is a training step of its own, and its backward would have come.',
  });
}

/**
 * cuBLAS's workspace and the like: never freed, and of a size that only the first pass makes, with a stack that later
 * passes need once less.
 */
function setUpTest(context: AnalysisInput, runs: readonly ForwardRun[]): (id: number) => boolean {
  const { stack, sizeBytes, freeRequested } = context.input.replay.allocations;
  // Of a single pass nothing shows what a second one would not make.
  if (runs.length < 2) return () => false;
  const key = (id: number): string => `${stack[id]} ${sizeBytes[id]}`;
  const isRepeated = new Set(runs.slice(1).flatMap((run) => idsOf(run).map(key)));
  const [first, second] = runs.slice(0, 2).map((run) => groupBy(idsOf(run), (id) => stack[id]));
  const { last } = runs[0];
  return (id) =>
    id <= last &&
    freeRequested[id] === NEVER &&
    !isRepeated.has(key(id)) &&
    (first.get(stack[id])?.length ?? 0) > (second.get(stack[id])?.length ?? 0);
}

/**
 * What each of these passes keeps from its return on, without its output, which stays anyway, and without the few tensors
 * that stay for good when the rest of the graph goes: `self.target = gram.detach()`.
 */
function graphsOf(context: AnalysisInput, runs: readonly ForwardRun[]): KeptTensor[][] {
  const isSetUp = setUpTest(context, runs);
  const { classOf } = context.classification;
  const { sizeBytes } = context.input.replay.allocations;
  return runs.map(({ kept, keptBytes, output, close }) => {
    const lasting = kept.filter((id) => classOf[id] === MemoryClass.Kept);
    const areFew = sumBy(lasting, (id) => sizeBytes[id]) < keptBytes / 2;
    const stays = new Set(areFew ? lasting : []).add(output);
    return kept.flatMap((id) => (stays.has(id) || isSetUp(id) ? [] : { id, since: close }));
  });
}

interface KeptTensor {
  readonly id: AllocationIndex;
  readonly since: EventIndex;
}

/** The last moment at which most bytes of these graphs were live together, and what was live then. */
function highestAtOnce({ input }: AnalysisInput, graph: readonly KeptTensor[]) {
  const { freeRequested, sizeBytes } = input.replay.allocations;
  const changes = graph.flatMap(({ id, since }) => [
    { event: since, bytes: sizeBytes[id] },
    { event: freeRequested[id], bytes: -sizeBytes[id] },
  ]);
  changes.sort((a, b) => a.event - b.event || a.bytes - b.bytes);
  let [now, bytes, event] = [0, 0, 0];
  for (const change of changes) {
    now += change.bytes;
    if (now >= bytes) [bytes, event] = [now, change.event];
  }
  const live = graph.filter(({ id, since }) => since <= event && freeRequested[id] > event);
  return { bytes, event, ids: live.map(({ id }) => id) };
}
