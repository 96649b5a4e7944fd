/**
 * Cohorts: what one call in the program's loop left behind and never gave back.
 *
 *     for batch in loader:
 *         loss = loss_of(model, batch)   ← its line: activations, output and loss of every pass are one cohort
 *         losses.append(loss)
 *
 * The growth detector finds what grows, down to 512 bytes a step. The classes add what else the same calls kept:
 * from single evaluations, from before a ring's oldest event, and from lines whose sizes differ.
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addTo, groupBy, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { type GrowthKind, isOutput } from '../detectors/growth-groups.ts';
import { growthOf, type Leak, olderOf, SURE_STEPS } from '../detectors/growth-leaks.ts';
import { agedOutOf } from '../detectors/growth-sites.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { statementFrame, userLines } from '../findings/user-lines.ts';
import { backwardEnds } from '../steps/forward-runs.ts';
import { rateOfLeaks, rateSoFar } from './leak-rate.ts';
import { linesFrom, type Places, placesOf } from './places.ts';
import { isOfOneRepetition, isStillGrowing, rateOf } from './repetitions.ts';
import type { AccountEntry, EntryRate } from './types.ts';

export interface Draft
  extends Pick<AccountEntry, 'kind' | 'lines' | 'rate' | 'isGrowing' | 'replaced'> {
  readonly ids: readonly AllocationIndex[];
  /** The cohort's allocations over the whole run, freed ones included; undefined if the entry is no cohort. */
  readonly all: readonly AllocationIndex[] | undefined;
}

/** What is kept, in the order it claims blocks: certain growth first, then what only the classes know. */
export interface Cohorts {
  readonly leaks: readonly Draft[];
  readonly others: readonly Draft[];
}

/** A program that ran out of memory in its first step has kept nothing from earlier ones. */
export const repeats = ({ stepSequences }: AnalysisInput): boolean => stepSequences.length > 0;

/** @param live allocations live at the moment, ascending */
export function cohortsAt(context: AnalysisInput, live: Int32Array): Cohorts {
  const places = context.once(placesOf);
  const isLive = new Set(live);
  const taken = new Set<AllocationIndex>();
  const rest = context.once(keptIds);
  // A hook keeps what it saw without the graph around it, so it claims first.
  const isHook = ([{ group }]: readonly Leak[]) => Number(group.kind === 'kept-hook');
  const byClaim = context.once(mergedLeaks).toSorted((a, b) => isHook(b) - isHook(a));
  const leaks = byClaim.map((same): Draft => {
    const kept = leakIds(context, same, rest, taken);
    const latest = latestOf(context, kept, live, places, taken);
    for (const id of latest) taken.add(id);
    const all = [...kept, ...latest];
    const ids = all.filter((id) => isLive.has(id));
    const draft = leakDraft(context, places, same, ids);
    const rate = rateSoFar(context, live, { rate: draft.rate, all }, same[0]);
    return { ...draft, rate, all: withGivenBack(context, same, all) };
  });
  const byPlace = groupBy(
    rest.filter((id) => !taken.has(id)),
    (id) => places.keyOf(id),
  );
  const others = mergedByFunction(context, places, [...byPlace.values()]).map((kept) => {
    const latest = latestOf(context, kept, live, places, taken);
    const withLatest = [...kept, ...latest];
    const isAdding =
      repeats(context) &&
      isStillGrowing(
        context,
        withLatest.filter((id) => isLive.has(id)),
        [...agedOutOf(context, kept), ...withLatest],
      );
    const all = isAdding ? withLatest : kept;
    if (isAdding) for (const id of latest) taken.add(id);
    const ids = all.filter((id) => isLive.has(id));
    return ids.length === 0 ? undefined : placeDraft(context, places, ids, all, isAdding);
  });
  return { leaks, others: others.filter((draft) => draft !== undefined) };
}

/** What the last repetition left of these is needed: the newest optimizer's state, and scratch memory. */
const IN_USE: ReadonlySet<number> = new Set([MemoryClass.OptimizerState, MemoryClass.Workspaces]);

/** A line whose kept tensors have more sizes than this share of their number may keep one of any size. */
const MANY_SIZES = 0.1;

/**
 * What the last repetitions left: too young to count as kept, but still live and from the same lines as what is kept.
 * Gradients of weights have no lines, and the last ones are needed: a hook that keeps `grad_output[0]`, 9 MiB of
 * AddmmBackward0 in each step, keeps none of the weights' gradients, 2 MiB of AddmmBackward0. A hook that keeps the output
 * of the last of twenty convolutions of one line, 9 MiB each time, does not keep that of the first, 150 MiB.
 *
 * @param live allocations live at the moment, ascending
 */
function latestOf(
  { classification: { classOf }, input }: AnalysisInput,
  kept: readonly AllocationIndex[],
  live: Int32Array,
  places: Places,
  taken: ReadonlySet<AllocationIndex>,
): AllocationIndex[] {
  const stacks = new Set(kept.map((id) => places.stackOf(id)));
  const { requestedBytes } = input.replay.allocations;
  const sizes = new Set(kept.map((id) => requestedBytes[id]));
  const isOfAnySize = sizes.size > MANY_SIZES * kept.length;
  const isInUse = (id: AllocationIndex) =>
    IN_USE.has(classOf[id]) ||
    (!sizes.has(requestedBytes[id]) && (classOf[id] === MemoryClass.Gradients || !isOfAnySize));
  const last = kept[kept.length - 1] ?? 0;
  return Array.from(live.subarray(upperBound(live, last))).filter(
    (id) => !taken.has(id) && stacks.has(places.stackOf(id)) && !isInUse(id),
  );
}

/** A function may keep outputs and tensors side by side (a cache's keys and values): they are one cohort. */
const SINGLE: readonly GrowthKind[] = ['kept-output', 'kept-tensor'];

/**
 * The largest of each cohort comes first. What the modules that one statement of the loop runs all leave behind in the
 * same repetitions is one cohort too: a loss holds the graphs of the model and of the criterion.
 */
export function mergedLeaks(context: AnalysisInput): Leak[][] {
  const places = context.once(placesOf);
  const groups = groupBy(growthOf(context).leaks, ({ group: { kind, holder }, sequence }) => {
    const key = places.functionOf(holder.stack);
    return SINGLE.includes(kind) && key !== undefined
      ? `${key} ${holder.keptSteps} ${sequence.row}`
      : `site ${holder.site}`;
  });
  const merged = groupBy(groups, ([key, [{ group, sequence }]]) => {
    const { kind, holder } = group;
    const statement = statementFrame(context, holder.stack);
    return kind === 'kept-output' && statement !== undefined
      ? `${statement} ${holder.keptSteps} ${sequence.row}`
      : key;
  });
  const cohorts = withSameSteps([...merged.values()].map((same) => same.flatMap(([, own]) => own)));
  // A line that keeps tensors of training and of evaluation has one list for both.
  const keyOf = (same: Leak[]) => {
    const [{ group }] = same;
    return (SINGLE.includes(group.kind) ? places.lineOf(group.holder.stack) : undefined) ?? same;
  };
  const byLine = groupBy(cohorts, (same) => keyOf(withSameCounts(cohorts, same) ?? same));
  return [...byLine.values()].map((same) => same.flat());
}

/** In which steps a line keeps something, and how much of its most: equal for 2 2 0 2 and for 1 1 0 1. */
function rhythmOf(counts: Int32Array): string {
  // The first may include set-up, and the last may be cut off.
  const whole = counts.subarray(1, -1);
  const most = highest(whole);
  return Array.from(whole, (count) => count / most).join(' ');
}

/**
 * Lines that keep something in the same steps, in the same proportions, keep it for one reason: the keys of a cache and
 * its values, a batch and its output. One cohort has one figure, the largest leak first.
 */
function withSameSteps(cohorts: readonly Leak[][]): Leak[][] {
  const groups = groupBy(cohorts, (same) => {
    const [{ group, sequence }] = same;
    const isSingle = SINGLE.includes(group.kind) && group.holder.keptSteps >= SURE_STEPS;
    return isSingle ? `${rhythmOf(group.holder.keptCount)} ${sequence.row}` : same;
  });
  return [...groups.values()].map((same) => same.flat().sort((a, b) => b.bytes - a.bytes));
}

/** Gradients have no line: they belong to a line that keeps as many in each step, as in `kept.append((x, grad))`. */
function withSameCounts(cohorts: readonly Leak[][], [own]: readonly Leak[]): Leak[] | undefined {
  if (own.group.kind !== 'kept-gradients') return undefined;
  const counts = own.group.holder.keptCount;
  return cohorts.find(
    ([{ group, sequence }]) =>
      SINGLE.includes(group.kind) &&
      sequence === own.sequence &&
      group.holder.keptCount.every((count, step) => count === counts[step]),
  );
}

/**
 * Everything kept: what the classes call kept, if there were earlier steps that could keep it, and what was live before
 * the ring began. Ascending.
 */
function keptIds(context: AnalysisInput): AllocationIndex[] {
  const { classOf } = context.classification;
  const { preexisting } = context.input.replay.allocations;
  const isOld = keptBeforeRing(context);
  const isStepped = repeats(context);
  const replaced = replacedOptimizers(context);
  const ids: AllocationIndex[] = [];
  for (let id = 0; id < classOf.length; id++) {
    const isKept = (isStepped && classOf[id] === MemoryClass.Kept) || replaced.has(id);
    if (isKept || (id < preexisting && isOld(id))) ids.push(id);
  }
  return ids;
}

/** States of optimizers that a later one replaced, but that are still there. */
function replacedOptimizers({ classification, input }: AnalysisInput): Set<AllocationIndex> {
  const { classOf, copies } = classification;
  const { stack, requestedBytes } = input.replay.allocations;
  const lineOf = (id: AllocationIndex) => `${input.stacks.siteOf(stack[id])} ${requestedBytes[id]}`;
  const latest = new Map<string, number>();
  for (const [id, set] of copies) {
    if (classOf[id] === MemoryClass.OptimizerState) latest.set(lineOf(id), set);
  }
  const isReplaced = (id: AllocationIndex) =>
    classOf[id] === MemoryClass.OptimizerState &&
    (copies.get(id) ?? 0) < (latest.get(lineOf(id)) ?? 0);
  return new Set([...classOf.keys()].filter((id) => latest.size > 0 && isReplaced(id)));
}

/** Made once and kept by every program, or scratch memory. */
const LASTING: ReadonlySet<number> = new Set([
  MemoryClass.Parameters,
  MemoryClass.Gradients,
  MemoryClass.OptimizerState,
  MemoryClass.Workspaces,
  MemoryClass.GrowingState,
]);
export const isLasting = (
  { classification, classifier, input }: AnalysisInput,
  id: AllocationIndex,
): boolean =>
  LASTING.has(classification.classOf[id]) && !classifier.isCopy(input.replay.allocations.stack[id]);

/** What a forward pass makes for its backward. */
const OF_PASS: ReadonlySet<number> = new Set([
  MemoryClass.Activations,
  MemoryClass.Temporaries,
  MemoryClass.Kept,
]);

/** A tensor from before the ring must outlive this many later calls of its line; a copy, all of them. */
const OUTLIVED = 2;

/**
 * Tensors from before a ring's oldest event that repetitions long past left behind: what a forward pass made lives until
 * its backward, so what outlives later ones is kept; and so is what a line made that runs again. Weights and buffers
 * come from lines that don't run again, but for copies (checkpoints, averages).
 */
function keptBeforeRing(context: AnalysisInput) {
  const { input, classifier } = context;
  const { stack, start, freeRequested, preexisting, length } = input.replay.allocations;
  const calls = new Map<StackIndex, EventIndex[]>();
  for (let id = preexisting; id < length && preexisting > 0; id++) {
    if (stack[id] > EMPTY_STACK) addTo(calls, stack[id], start[id]);
  }
  const { classOf } = context.classification;
  // Beside the one that it begins with.
  const isTraining = preexisting > 0 && context.once(backwardEnds).length >= OUTLIVED;
  return (id: AllocationIndex): boolean => {
    const isOfPass = OF_PASS.has(classOf[id]) && classifier.isForward(stack[id]);
    if (isTraining && isOfPass && freeRequested[id] === NEVER) return true;
    const later = calls.get(stack[id]);
    if (classifier.isCopy(stack[id])) return later !== undefined && freeRequested[id] === NEVER;
    const outlived = later?.[OUTLIVED - 1];
    return outlived !== undefined && freeRequested[id] > outlived && !isLasting(context, id);
  };
}

/**
 * What a leak keeps, plus what the classes add: other tensors from its lines and, for a whole graph, everything from
 * the same statement.
 */
function leakIds(
  context: AnalysisInput,
  same: readonly Leak[],
  rest: readonly AllocationIndex[],
  taken: Set<AllocationIndex>,
): AllocationIndex[] {
  const places = context.once(placesOf);
  const sites = same.flatMap(({ group }) => group.sites);
  const { classOf } = context.classification;
  // A line's first matrix product makes cuBLAS's workspace too.
  const isWorkspace = (id: AllocationIndex) => classOf[id] === MemoryClass.Workspaces;
  const own = sites.flatMap(({ kept }) => kept).filter((id) => !taken.has(id) && !isWorkspace(id));
  for (const id of own) taken.add(id);
  const stacks = new Set(sites.map(({ stack }) => stack));
  const [{ kind }] = same.map(({ group }) => group);
  const isWide = kind === 'kept-graph' || kind === 'kept-output';
  const keys = new Set(isWide ? own.map((id) => places.keyOf(id)) : []);
  const lines = new Set(SINGLE.includes(kind) ? [...stacks].map(places.lineOf) : []);
  lines.delete(undefined);
  const older = SINGLE.includes(kind) ? olderOf(context, sites) : [];
  const inputs = SINGLE.includes(kind) ? context.once(keptInputs) : [];
  for (const id of [...rest, ...older, ...inputs]) {
    const stack = places.stackOf(id);
    const isSame =
      stacks.has(stack) || keys.has(places.keyOf(id)) || lines.has(places.lineOf(stack));
    if (taken.has(id) || !isSame) continue;
    taken.add(id);
    own.push(id);
  }
  return own.sort((a, b) => a - b);
}

/**
 * What came from the host and was never given back. A data set with a cache keeps what it returned before the loop
 * too, as a sample of 500 for the normalizer's mean.
 */
const keptInputs = ({ classification: { classOf }, input }: AnalysisInput): AllocationIndex[] =>
  [...classOf.keys()].filter(
    (id) =>
      classOf[id] === MemoryClass.Inputs && input.replay.allocations.freeRequested[id] === NEVER,
  );

/** And what the same lines made, of the same sizes, that the program gave back: it was kept for a while too. */
function withGivenBack(
  context: AnalysisInput,
  same: readonly Leak[],
  all: readonly AllocationIndex[],
): AllocationIndex[] {
  if (!GIVEN_BACK.includes(same[0].group.kind)) return [...all];
  const { requestedBytes } = context.input.replay.allocations;
  const sizes = new Set(all.map((id) => requestedBytes[id]));
  const freed = context.once(freedOfLeaks);
  const own = new Set(all);
  for (const { stack } of same.flatMap(({ group }) => group.sites))
    for (const id of freed.get(stack) ?? []) if (sizes.has(requestedBytes[id])) own.add(id);
  return [...own].sort((a, b) => a - b);
}

/** By stack of such leaks, what was made there and freed: one pass over millions of allocations, for all leaks and moments. */
function freedOfLeaks(context: AnalysisInput): ReadonlyMap<StackIndex, AllocationIndex[]> {
  const { stack, freeRequested, length, preexisting } = context.input.replay.allocations;
  const leaks = growthOf(context).leaks.filter(({ group }) => GIVEN_BACK.includes(group.kind));
  const freed = new Map<StackIndex, AllocationIndex[]>(
    leaks.flatMap(({ group }) => group.sites.map((site) => [site.stack, []])),
  );
  for (let id = preexisting; id < length && freed.size > 0; id++)
    if (freeRequested[id] !== NEVER) freed.get(stack[id])?.push(id);
  return freed;
}
const GIVEN_BACK: readonly GrowthKind[] = [...SINGLE, 'kept-gradients'];

function leakDraft(
  context: AnalysisInput,
  places: Places,
  same: readonly Leak[],
  ids: readonly AllocationIndex[],
): Omit<Draft, 'all'> & { readonly rate: EntryRate } {
  const [{ group, sequence, lead }] = same;
  // The output may be all that the growth check saw of a graph.
  const isSpread = group.kind === 'kept-output' && places.isSpread(ids);
  const isGraph = group.kind === 'kept-graph' || (isSpread && places.isGraph(ids));
  // A running total shows where the graph is held, and a backward that makes one where it is kept. Otherwise the statement
  // that called the model is closest to it.
  const isCalled = (isGraph || isSpread) && lead.frameIs === 'allocated at' && ids.length > 0;
  const first = lead.frame ?? context.input.stacks.topUserFrame(lead.stack);
  return {
    kind: isGraph ? 'kept-graph' : 'kept',
    ids,
    lines: isCalled
      ? places.linesOf(ids, isGraph ? [sequence] : [])
      : linesFrom(
          first === undefined ? [] : [context.input.stacks.frame(first)],
          userLines(context, lead.stack, lead.frame, lead.frameIs === 'started at' ? 1 : 0),
        ),
    rate: rateOfLeaks(same),
    isGrowing: same.some(({ isSure }) => isSure) || isStillGrowing(context, ids, ids),
  };
}

/** A rate of less is of no use to anybody, unless it is known to go on. */
const MIN_RATE_BYTES = 2 ** 20;

function placeDraft(
  context: AnalysisInput,
  places: Places,
  ids: readonly AllocationIndex[],
  all: readonly AllocationIndex[],
  isAdding: boolean,
): Draft {
  const stack = places.heaviest(ids);
  const isGraph = places.isGraph(ids);
  const own = ids.filter((id) => places.stackOf(id) === stack);
  const isFromCall = isGraph || places.isSpread(ids) || isOutput(context, { kept: own });
  const top = context.input.stacks.topUserFrameView(stack);
  const { sizeBytes } = context.input.replay.allocations;
  const bytes = sumBy(ids, (id) => sizeBytes[id]);
  return {
    kind: isGraph ? 'kept-graph' : 'kept',
    ids,
    all,
    lines: isFromCall
      ? places.linesOf(ids, isGraph ? context.stepSequences : [])
      : linesFrom(top && [top], userLines(context, stack)),
    rate: bytes < MIN_RATE_BYTES ? undefined : rateOf(context, all, stack),
    isGrowing: isAdding && !isOfOneRepetition(context, ids, stack),
  };
}

/** One function may keep things on several lines, `out = model(x)` and `loss = criterion(out)`: they are one cohort. */
function mergedByFunction(
  context: AnalysisInput,
  places: Places,
  groups: readonly AllocationIndex[][],
): AllocationIndex[][] {
  const byFunction = groupBy(
    groups,
    ([id]) => places.functionOf(places.stackOf(id)) ?? `stack ${places.keyOf(id)}`,
  );
  const merged = [...byFunction.values()].map((same) => same.flat());
  const byStatement = groupBy(merged, (ids) => statementFrame(context, places.heaviest(ids)));
  const cohorts = [...byStatement].flatMap(([statement, same]) => {
    // So are a graph and what other functions added to it, called by one statement of the loop.
    const isGraph = statement !== undefined && same.some((ids) => places.isGraph(ids));
    return isGraph ? [same.flat()] : same;
  });
  // A line that keeps something in training and in evaluation has one list for both.
  const byLine = groupBy(cohorts, (ids) =>
    places.isGraph(ids) ? ids : (places.lineOf(places.heaviest(ids)) ?? ids),
  );
  return [...byLine.values()].map((same) => same.flat().sort((x, y) => x - y));
}
