/**
 * Groups growing sites: the many tensors of one kept autograd graph are one leak. Also finds the statement that holds a
 * graph, which the graph's tensors can't show: they were made in the model.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { addUp, groupBy, largestFirst, memoized, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { OUTPUTS } from '../../device/classes/passes.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { locationText } from '../findings/finding-parts.ts';
import type { LineRole } from '../findings/types.ts';
import { callerOfModel, runStartFrame } from '../findings/user-lines.ts';
import { type ForwardRun, forwardRuns } from '../steps/forward-runs.ts';
import { beginOfBackward, keepsGraph } from '../steps/pass-graphs.ts';
import { type StepSequence, stepCount } from '../steps/step-sequence.ts';
import type { growth } from './growth.ts';
import type { GrowingSite } from './growth-sites.ts';

export type GrowthKind = Exclude<keyof (typeof growth)['titles'], 'freed-in-bursts'>;

export interface GrowthGroup {
  readonly kind: GrowthKind;
  /** The largest first. */
  readonly sites: readonly GrowingSite[];
  /** What holds the others, judged by the order of allocation. The finding uses its stack. */
  readonly holder: GrowingSite;
}

/** A graph keeps at least an activation, what backward needs from it, an output and a loss. */
export const GRAPH_SITES = 4;
/** Tensors of one number: losses, norms, accuracies. */
const SCALAR_BYTES = 8;

/**
 * Share of a pass's tensors that are kept, from which on they are its graph: with no_grad() too, a program may keep
 * many tensors of a pass (outputs, hidden states, a cache of keys and values), but most are freed in it.
 */
const GRAPH_SHARE = 0.25;

const RECURRENT = /[\\/]nn[\\/]modules[\\/]rnn\.py$/;

/**
 * How many call sites these are of. A recurrent layer makes all its tensors in one call of cuDNN: its output, its states, and a
 * reserve that only backward needs, which a graph alone keeps. There each size counts.
 */
export function sitesAmong({ input }: AnalysisInput, ids: readonly AllocationIndex[]): number {
  const { stack, requestedBytes } = input.replay.allocations;
  const isRecurrent = memoized((site: StackIndex) =>
    RECURRENT.test(input.stacks.innermostFrameView(site)?.filename ?? ''),
  );
  const keys = ids.map((id) => `${stack[id]} ${isRecurrent(stack[id]) ? requestedBytes[id] : ''}`);
  return new Set(keys).size;
}

/** Whether the passes that made these tensors keep most of what they made. */
export function keepsPasses(context: AnalysisInput, ids: readonly AllocationIndex[]): boolean {
  const { classifier, input } = context;
  const { stack } = input.replay.allocations;
  const inForward = ids.filter((id) => classifier.isForward(stack[id])).sort((a, b) => a - b);
  const runs = context.once(forwardRuns);
  let [made, kept, next] = [0, 0, 0];
  const behind: ForwardRun[] = [];
  for (const run of runs) {
    const { first, last, allocations } = run;
    let own = 0;
    for (; inForward[next] <= last; next++) if (inForward[next] >= first) own++;
    if (own > 0) {
      made += allocations;
      behind.push(run);
    }
    kept += own;
  }
  // A pass that makes many small temporaries keeps less of what it made, but as much as those that a backward uses.
  const graphs = behind.filter((run) => keepsGraph(context, run));
  const isOfGraphs =
    2 * graphs.length > behind.length && 2 * kept > sumBy(graphs, (run) => run.keptCount);
  // Passes from before a ring's oldest event are judged by later ones of the same calls.
  if (made === 0) {
    const calls = new Set(inForward.map((id) => classifier.moduleCall(stack[id])));
    const later = runs.filter(({ call }) => calls.has(call));
    made = sumBy(later, ({ allocations }) => allocations);
    kept = sumBy(later, ({ keptCount }) => keptCount);
  }
  return inForward.length > 0 && (isOfGraphs || kept >= GRAPH_SHARE * made);
}

export function groupSites(context: AnalysisInput, sites: readonly GrowingSite[]): GrowthGroup[] {
  const { classifier } = context;
  return clusters(sites).flatMap((cluster) => {
    const rest = cluster.filter(({ stack }) => !classifier.isHook(stack));
    const forward = rest.filter(
      ({ stack }) => !classifier.isBackward(stack) && !classifier.isOptimizer(stack),
    );
    const ids = forward.flatMap(({ kept }) => kept);
    if (sitesAmong(context, ids) < GRAPH_SITES || !keepsPasses(context, ids))
      return singles(context, cluster);
    const graph = sitesOfGraph(context, rest);
    const hooks = cluster.filter((site) => !rest.includes(site));
    const apart = [...rest, ...hooks].filter((site) => !graph.includes(site));
    const holder = lastBorn(graph, context);
    return [{ kind: 'kept-graph', sites: graph, holder }, ...singles(context, apart)];
  });
}

/** Sites that keep something in (nearly) the same steps. */
function clusters(sites: readonly GrowingSite[]): GrowingSite[][] {
  const found: GrowingSite[][] = [];
  const bytesOf = ({ keptBytes }: GrowingSite) => sumBy(keptBytes, (bytes) => bytes);
  for (const site of sites.toSorted((a, b) => bytesOf(b) - bytesOf(a))) {
    const home = found.find(([leader]) => overlap(leader, site) >= 0.8);
    if (home === undefined) found.push([site]);
    else home.push(site);
  }
  return found;
}

/** Steps in both over steps in either; the first and last may differ. */
function overlap(a: GrowingSite, b: GrowingSite): number {
  let [both, either] = [0, 0];
  for (let i = 0; i < a.keptCount.length - 1; i++) {
    const inA = a.keptCount[i] > 0 && i >= a.firstStep;
    const inB = b.keptCount[i] > 0 && i >= b.firstStep;
    if (inA && inB) both++;
    if (inA || inB) either++;
  }
  return both / either;
}

/**
 * What is allocated after backward is not part of the step's graph, but a scalar made there may hold the graph:
 * `total = total + loss`.
 */
function sitesOfGraph(context: AnalysisInput, sites: readonly GrowingSite[]): GrowingSite[] {
  const { classifier } = context;
  const { stack } = context.input.replay.allocations;
  const forward = sites.filter((site) => classifier.isForward(site.stack));
  const lastForward = highest(forward.map(bornInStep));
  const backward = sites.filter((site) => classifier.isBackward(site.stack));
  // A loss of second order takes gradients before the backward that keeps it: what comes before that is of the graph.
  const lastBackward = highest([-1, ...backward.map(bornInStep)]);
  return sites.filter((site) => {
    if (classifier.isOptimizer(site.stack) || goesOn(context, lastForward, bornInStep(site)))
      return false;
    if (classifier.isBackward(site.stack) || isScalar(context, site)) return true;
    if (bornInStep(site) < lastBackward) return true;
    const between = stack.subarray(lastForward, Math.max(lastForward, bornInStep(site)));
    return !between.some((own) => classifier.isBackward(own));
  });
}

/** Whether the model runs on between two tensors, and keeps none of it: what follows is not of the graph. */
function goesOn({ classifier, input }: AnalysisInput, from: AllocationIndex, to: AllocationIndex) {
  const between = input.replay.allocations.stack.subarray(from + 1, Math.max(from + 1, to));
  return between.filter((own) => classifier.isForward(own)).length > OUTPUTS;
}

/** Last tensor of a middle step: a typical step, and the same one for all sites of a cluster. */
function bornInStep({ keptCount, kept, firstStep }: GrowingSite): AllocationIndex {
  const middle = (firstStep + keptCount.length) >> 1;
  const before = sumBy(keptCount.subarray(0, middle + 1), (count) => count);
  return kept[Math.max(0, before - 1)];
}

function lastBorn(sites: readonly GrowingSite[], { classifier }: AnalysisInput): GrowingSite {
  const named = sites.filter(
    ({ stack }) => classifier.hasPython(stack) && !classifier.isBackward(stack),
  );
  return (named.length > 0 ? named : sites).reduce((a, b) =>
    bornInStep(b) > bornInStep(a) ? b : a,
  );
}

/** One group per site, except that all backward threads share one, and each line has one. */
function singles(context: AnalysisInput, sites: readonly GrowingSite[]): GrowthGroup[] {
  const byPlace = groupBy(sites, ({ site, stack }) =>
    context.classifier.isBackward(stack)
      ? 'backward'
      : (context.input.stacks.topUserFrame(stack) ?? `site ${site}`),
  );
  return [...byPlace.values()].map((same) => ({
    kind: kindOf(context, same[0]),
    sites: same,
    holder: same[0],
  }));
}

function kindOf(context: AnalysisInput, site: GrowingSite): GrowthKind {
  const { classifier } = context;
  if (classifier.isHook(site.stack)) return 'kept-hook';
  if (site.stack <= EMPTY_STACK || classifier.isBackward(site.stack)) return 'kept-gradients';
  if (classifier.isOptimizer(site.stack)) return 'kept-optimizer';
  if (isScalar(context, site)) return 'kept-scalar';
  return classifier.isForward(site.stack) ? 'kept-output' : 'kept-tensor';
}

const isScalar = (context: AnalysisInput, { kept }: GrowingSite): boolean =>
  areScalars(context, kept);

export function areScalars({ input }: AnalysisInput, ids: readonly AllocationIndex[]): boolean {
  const { requestedBytes } = input.replay.allocations;
  return ids.every((id) => requestedBytes[id] <= SCALAR_BYTES);
}

/**
 * The running total of `total = total + loss` is not kept: each one is freed when the next replaces it, and only its
 * graph stays. So look for scalars made outside the model after the graph's last tensor, once a step, each freed soon
 * after the next was made. Undefined if the model's own output is kept: then the output holds the graph.
 */
function runningTotal(
  context: AnalysisInput,
  holder: GrowingSite,
  { bounds, source }: StepSequence,
) {
  const { classifier, input } = context;
  const { allocations: table } = input.replay;
  const steps = bounds.length - 1;
  const middle = Math.max(1, steps >> 1);
  const from = holder.kept.findLast((id) => table.start[id] <= bounds[middle + 1]);
  if (from === undefined || table.start[from] <= bounds[middle]) return undefined;
  if (classifier.isForward(holder.stack) && isOutputKept(context, from, bounds[steps]))
    return undefined;
  const next = holder.kept.find((id) => table.start[id] > bounds[middle + 1]) ?? from;
  let found: StackIndex | undefined;
  // Up to the model call of the next step: the total may be made after the optimizer has run. A loop's next step begins
  // with its own line, and what follows is of that step.
  for (let id = from; id < next; id++) {
    const stack = table.stack[id];
    const isNext = table.start[id] > bounds[middle + 1];
    if (isNext && (source === 'loop' || classifier.isForward(stack))) break;
    const isCandidate =
      table.requestedBytes[id] <= SCALAR_BYTES &&
      classifier.hasPython(stack) &&
      !classifier.isBackward(stack) &&
      !classifier.isForward(stack) &&
      !classifier.isOptimizer(stack);
    if (isCandidate && !goesOn(context, from, id) && isReplacedByNext(context, id)) found = stack;
  }
  return found;
}

/** Whether the last tensor of the forward pass of `inside` is live at the end. */
function isOutputKept({ classifier, input }: AnalysisInput, inside: number, end: number): boolean {
  const { stack, freeRequested, length } = input.replay.allocations;
  let output = inside;
  for (let id = inside; id < length && classifier.isForward(stack[id]); id++) output = id;
  return freeRequested[output] > end;
}

/** Freed within a few events after the next allocation of its own site, but not immediately. */
function isReplacedByNext(context: AnalysisInput, id: number): boolean {
  const { stack, start, freeRequested, length } = context.input.replay.allocations;
  for (let next = id + 1; next < length; next++) {
    if (start[next] > freeRequested[id]) return false;
    if (stack[next] === stack[id]) {
      const isOld = start[next] - start[id] > 100;
      return isOld && freeRequested[id] - start[next] <= 4;
    }
  }
  return false;
}

/** Which user line a growth finding names, and what that line does. */
export interface GrowthLead {
  readonly stack: StackIndex;
  /** Set if it is not the innermost user frame. */
  readonly frame: FrameIndex | undefined;
  readonly frameIs: LineRole;
  /** Where the tensors are made, as text, if they are stored elsewhere. */
  readonly madeAt: string | undefined;
}

export function growthLead(
  context: AnalysisInput,
  group: GrowthGroup,
  sequence: StepSequence,
): GrowthLead {
  const { kind, holder } = group;
  const { stack, keptSteps } = holder;
  if (kind === 'kept-graph') return graphLead(context, group, sequence);
  const made = { stack, frame: undefined, frameIs: 'allocated at', madeAt: undefined } as const;
  if (kind === 'kept-output' && isOutput(context, holder))
    return { ...made, frame: callerOfModel(context, stack) };
  const steps = stepCount(sequence);
  const isNewInRuns = kind === 'kept-optimizer' && keptSteps * 2 <= steps;
  const start = isNewInRuns ? runStartFrame(context, stack, keptSteps, steps) : undefined;
  return start === undefined ? made : { ...made, frame: start, frameIs: 'started at' };
}

/** Of the graph's bytes. */
const MADE_IN_BACKWARD = 0.5;

/**
 * The stack of the backward() that made most of a graph: with create_graph=True gradients have a graph themselves, and a
 * `.grad` that has one is in a cycle with it.
 */
function backwardThatMade(
  context: AnalysisInput,
  sites: readonly GrowingSite[],
): StackIndex | undefined {
  const { classifier, input } = context;
  const { stack, sizeBytes } = input.replay.allocations;
  const bytesOf = new Map<StackIndex, number>();
  let all = 0;
  for (const id of sites.flatMap(({ kept }) => kept)) {
    all += sizeBytes[id];
    const begin = classifier.isBackward(stack[id]) ? beginOfBackward(context, id) : undefined;
    if (begin !== undefined) addUp(bytesOf, stack[begin], sizeBytes[id]);
  }
  const [[ran, bytes] = [EMPTY_STACK, 0]] = largestFirst(bytesOf);
  return bytes > MADE_IN_BACKWARD * all ? ran : undefined;
}

/**
 * If backward made most of it, its line keeps it; if there is a running total, that holds the graph; otherwise the
 * statement that made its last tensor does.
 */
function graphLead(
  context: AnalysisInput,
  { holder, sites }: GrowthGroup,
  sequence: StepSequence,
): GrowthLead {
  const ran = backwardThatMade(context, sites);
  if (ran !== undefined)
    return { stack: ran, frame: undefined, frameIs: 'kept by backward at', madeAt: undefined };
  const total = runningTotal(context, holder, sequence);
  const stack = total ?? holder.stack;
  const frame = callerOfModel(context, stack);
  if (total === undefined) return { stack, frame, frameIs: 'allocated at', madeAt: undefined };
  const model = sites.find((site) => context.classifier.isForward(site.stack)) ?? holder;
  const made = callerOfModel(context, model.stack);
  const isElsewhere = made !== undefined && made !== frame;
  const madeAt = isElsewhere ? locationText(context.input.stacks.frame(made)) : undefined;
  return { stack, frame, frameIs: 'stored at', madeAt };
}

/**
 * Whether the kept tensor is a model output rather than an inner one: it is among the last tensors of the forward pass,
 * or from its last module (such as logits that a loss inside the model then uses).
 */
export function isOutput(
  { classifier, input }: AnalysisInput,
  { kept }: Pick<GrowingSite, 'kept'>,
) {
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
