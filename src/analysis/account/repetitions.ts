/** How often a cohort's memory was added, and whether it was still being added. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { addUp, groupBy, largestFirst, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { AGED_STEPS } from '../detectors/growth-sites.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { backwardEnds, forwardRuns } from '../steps/forward-runs.ts';
import { forEachMade, type StepSequence, stepCount } from '../steps/step-sequence.ts';
import type { EntryRate } from './types.ts';

/** A training step has one backward pass, or a few: of two models, or of parts of its batch. */
const PASSES_OF_STEP: readonly [least: number, most: number] = [0.5, 4];

/** 'step' only if each repetition trains: an evaluation's batch or a server's token is an 'iteration in estimate_loss'. */
export function unitOf(context: AnalysisInput, sequence: StepSequence): string {
  const { source, unit, row } = sequence;
  if (source !== 'loop' || row !== context.stepSequences[0]?.row) return unit;
  const passes = context.once(backwardEnds).length / stepCount(sequence);
  return passes >= PASSES_OF_STEP[0] && passes <= PASSES_OF_STEP[1] ? 'step' : unit;
}

/** 'step', 'batch' or 'iteration': what the program repeats. */
export function turnOf(context: AnalysisInput): string {
  const [primary] = context.stepSequences;
  const [noun = 'repetition'] =
    /^(step|batch|iteration)/.exec(primary ? unitOf(context, primary) : '') ?? [];
  return noun;
}

/**
 * How many repetitions of the innermost loop left these tensors behind.
 *
 * @param ids in order of allocation @param stack where most of them were allocated
 */
export function rateOf(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
  stack: StackIndex,
): EntryRate | undefined {
  const sequence = loopAround(context, stack);
  if (sequence === undefined) return undefined;
  const recorded = ids.filter((id) => context.input.replay.allocations.start[id] >= 0);
  const { length: steps } = typical([...bytesByStep(context, recorded, sequence).values()]);
  if (steps === 0) return undefined;
  const within = steps === 1 ? rateWithin(context, recorded) : undefined;
  if (within !== undefined) return within;
  const left = recorded.filter((id) => isLeft(context, id, sequence));
  const byStep = bytesByStep(context, left.length > 0 ? left : recorded, sequence);
  const sums = typical([...byStep.values()]);
  const bytes = Math.round(sumBy(sums, (sum) => sum) / sums.length);
  const varies = standardError(sums) > MOST_ERROR * bytes;
  const unit = unitOf(context, sequence);
  const bursts = burstsOf(byStep, bytes);
  return { bytes, steps, unit, isMean: varies, varies, ...bursts };
}

/** If most repetitions between the first and the last left nothing: how many there are, and how many left something. */
function burstsOf(byStep: ReadonlyMap<number, number>, bytes: number) {
  const left = [...byStep.keys()].filter((step) => step !== BEFORE);
  const steps = highest(left) - lowest(left) + 1;
  if (left.length < LEAST_TURNS || 2 * left.length > steps) return {};
  return { steps, bursts: { bytes, count: left.length } };
}

/** Fewer turns show no loop. */
const LEAST_TURNS = 3;

/** All in one repetition, such as the evaluation after the last step: of a loop that was not found. */
function rateWithin(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
): EntryRate | undefined {
  const { sizeBytes } = context.input.replay.allocations;
  const steps = turnsWithin(context, ids);
  if (steps < LEAST_TURNS) return undefined;
  const bytes = Math.round(sumBy(ids, (id) => sizeBytes[id]) / steps);
  return { bytes, steps, unit: 'iteration', isMean: true, varies: true };
}

/**
 * How often a loop that was not found turned: as often as most of the stacks in it allocated, but not more often than the
 * model was called. Twelve layers of one line are one turn.
 */
export function turnsWithin(context: AnalysisInput, ids: readonly AllocationIndex[]): number {
  const { stack } = context.input.replay.allocations;
  const times = new Map<number, number>();
  for (const same of groupBy(ids, (id) => stack[id]).values()) addUp(times, same.length, 1);
  const [[most]] = largestFirst(times);
  const begins = context.once(forwardRuns).map(({ first }) => first);
  const calls = new Set(ids.map((id) => upperBound(begins, id)));
  return Math.min(most, calls.size);
}

/** How many repetitions a link may take, on average, to be one of each. */
const MOST_A_LINK = 1.5;

/**
 * What is repeated about as often as something happened between two events, the innermost loop first: 'step', 'iteration
 * in generate'.
 */
export function unitBetween(
  context: AnalysisInput,
  stack: StackIndex,
  [from, to]: readonly [EventIndex, EventIndex],
  times: number,
): string | undefined {
  const awayFromOne = (sequence: StepSequence) =>
    Math.abs(Math.log((stepAt(sequence, to) - stepAt(sequence, from)) / times));
  const innermost = loopAround(context, stack);
  const loops = innermost === undefined ? [] : [innermost];
  const [closest] = [...loops, ...context.stepSequences].sort(
    (a, b) => Math.round(10 * awayFromOne(a)) - Math.round(10 * awayFromOne(b)),
  );
  if (closest === undefined || awayFromOne(closest) > Math.log(MOST_A_LINK)) return undefined;
  return unitOf(context, closest);
}

/** Whether it outlived the repetition after its own. One that is running, or just ended, still holds what it will free. */
function isLeft({ input }: AnalysisInput, id: AllocationIndex, sequence: StepSequence): boolean {
  const { start, freeRequested } = input.replay.allocations;
  const end = Math.min(freeRequested[id], input.trace.events.length);
  return stepAt(sequence, end) > stepAt(sequence, start[id]) + 1;
}

/** Of the mean: a forecast should be right within a tenth. */
const MOST_ERROR = 0.1;

/** Of the mean, in the same unit: 0 for 34, 34, 34 and 22 for 123, 34, 34, 34. */
function standardError(amounts: readonly number[]): number {
  const mean = sumBy(amounts, (own) => own) / amounts.length;
  const squares = sumBy(amounts, (own) => (own - mean) ** 2);
  return Math.sqrt(squares / Math.max(1, amounts.length - 1) / amounts.length);
}

/** Share of the most that one repetition left. */
const TYPICAL_SHARE = 0.1;

/** Without the few that left next to nothing, such as the one that was cut off: 205, 205, 205 of 205, 205, 205, 1. */
function typical(sums: readonly number[]): readonly number[] {
  const most = highest([0, ...sums]);
  const large = sums.filter((bytes) => bytes >= TYPICAL_SHARE * most);
  return large.length >= sums.length / 2 ? large : sums;
}

/** The rest is from the first repetition, such as a workspace. */
const ONE_SHARE = 0.9;
/** It ends in the next one, or in the one after. */
const MORE_REPETITIONS = 2;

/** From so many repetitions on, the last two are few of them. */
const MIN_REPETITIONS = 4;

/**
 * Whether one repetition of the innermost loop made nearly all of it: the loop's variables hold what the last one made,
 * until the next one assigns them again. Of many repetitions it may also be two: `out = model(x)` makes the next one
 * while `out` still holds the last.
 */
export function isOfOneRepetition(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
  stack: StackIndex,
): boolean {
  const sequence = loopAround(context, stack);
  if (sequence === undefined) return false;
  const sums = bytesByStep(context, ids, sequence);
  const [[step, largest]] = largestFirst(sums);
  const isLong = stepCount(sequence) >= MIN_REPETITIONS;
  const beside = isLong ? Math.max(sums.get(step - 1) ?? 0, sums.get(step + 1) ?? 0) : 0;
  const most = largest + beside;
  if (step === BEFORE || most < ONE_SHARE * sumBy(sums.values(), (own) => own)) return false;
  const { start, freeRequested } = context.input.replay.allocations;
  const made = highest(ids.map((id) => start[id]));
  const freed = lowest(ids.map((id) => freeRequested[id]));
  const end = Math.min(freed, context.input.trace.events.length);
  // The loop may return to a line several times in a step, and another loop may hold its variables for many steps.
  return [sequence, context.stepSequences[0]].some(
    (one) => stepAt(one, end) - stepAt(one, made) <= MORE_REPETITIONS,
  );
}

/** A loop of so many repetitions is one, even if it was not found. */
const PILED = 10;

/** What the same lines made so often after the last repetition is of a loop that was not found: it was too short, say. */
export function isPiledAfterSteps(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
  stack: StackIndex,
): boolean {
  const { stack: stacks, start } = context.input.replay.allocations;
  const last = loopAround(context, stack)?.bounds.at(-1) ?? NEVER;
  const isAfter = ids.every((id) => start[id] > last);
  return isAfter && ids.length >= PILED * new Set(ids.map((id) => stacks[id])).size;
}

/** The step of what was allocated before a ring's oldest event. */
const BEFORE = Number.NEGATIVE_INFINITY;

export function bytesByStep(
  { input }: AnalysisInput,
  ids: readonly AllocationIndex[],
  sequence: StepSequence,
): Map<number, number> {
  const { start, sizeBytes } = input.replay.allocations;
  const sums = new Map<number, number>();
  for (const id of ids)
    addUp(sums, start[id] < 0 ? BEFORE : stepAt(sequence, start[id]), sizeBytes[id]);
  return sums;
}

export const stepAt = ({ bounds }: StepSequence, event: EventIndex): number =>
  lowerBound(bounds, event);

/** Share of a loop's repetitions in which a stack in it allocates. */
const INSIDE_SHARE = 0.75;

/**
 * The program's innermost loop that contains the stack, or else its steps. A function may return to several lines: to that
 * of a batch often, to those of an epoch or of a report rarely. The innermost is the one it returns to most often of those
 * in whose repetitions the stack allocates.
 */
export function loopAround(context: AnalysisInput, stack: StackIndex): StepSequence | undefined {
  const { parent } = context.input.snapshot.stacks;
  // What copy.deepcopy() returns to is no loop of the program.
  const loops = context.stepSequences.filter(
    ({ loop }) => loop !== undefined && context.input.stacks.frame(loop.line).kind !== 'runtime',
  );
  for (let row = stack; row > 0; row = parent[row]) {
    const [first, ...others] = loops.filter(({ loop }) => loop?.caller === parent[row]);
    if (first === undefined) continue;
    const inside = others.filter((one) => insideShare(context, one, stack) >= INSIDE_SHARE);
    return inside.reduce((a, b) => (stepCount(b) > stepCount(a) ? b : a), first);
  }
  return context.stepSequences[0];
}

function insideShare({ input }: AnalysisInput, sequence: StepSequence, own: StackIndex): number {
  const { stack } = input.replay.allocations;
  const steps = new Set<number>();
  forEachMade(input.replay.allocations, sequence, (id, step) => {
    if (stack[id] === own) steps.add(step);
  });
  return steps.size / stepCount(sequence);
}

/** If this share of the live tensors came late, more were still to come. */
const LATE_SHARE = 0.1;
/** The same where tensors predate a ring's oldest event, whose births are unknown. */
const LATE_SHARE_OF_RING = 0.02;
/** Bytes from before the ring over bytes from within it: several repetitions' worth is still live. */
const MANY_BEFORE = 2;
const PARTS = 10;
const MIN_PARTS = 3;
/** A fall below this share of the highest level means that the cohort was given back. */
const GIVEN_BACK_SHARE = 0.6;

/**
 * Whether a cohort was still being added to when the recording ended, and was never given back before:
 *
 *     leak      ▁▂▃▄▅▆▇█   births in many parts of the run, some of them late
 *     cache     ▃▆██████   no late births
 *     sawtooth  ▃▆█▁▃▆█▃   given back before
 *
 * @param ids those live at the moment @param all from the same lines, freed ones included
 */
export function isStillGrowing(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
  all: readonly AllocationIndex[],
): boolean {
  const { start, sizeBytes, length, preexisting } = context.input.replay.allocations;
  if (preexisting >= length) return false;
  const first = start[preexisting];
  // Up to the end of the run, not the account's moment: a cache that is full by the peak doesn't grow.
  const span = Math.max(1, start[length - 1] - first);
  const parts = new Set<number>();
  let [total, late, before] = [0, 0, 0];
  for (const id of ids) {
    total += sizeBytes[id];
    if (start[id] < 0) before += sizeBytes[id];
    else parts.add(Math.floor((PARTS * (start[id] - first)) / span));
    if (start[id] > first + span / 2) late += sizeBytes[id];
  }
  const isFromBefore = before > 0;
  if (isFromBefore && parts.size === 0) return false;
  const isLate = isFromBefore
    ? late > LATE_SHARE_OF_RING * total || before > MANY_BEFORE * (total - before)
    : late > LATE_SHARE * total && parts.size >= MIN_PARTS;
  return isLate && hasRisen(context, all, isFromBefore) && !wasGivenBack(context, all);
}

/** Compare the end with the level before the last part of the run: a full queue stays level. */
const BEFORE_LAST = 0.6;
const MIN_RISE = 1.15;
const MIN_RISE_OF_RING = 1.01;

function hasRisen(
  { input, stepSequences }: AnalysisInput,
  all: readonly AllocationIndex[],
  isFromBefore: boolean,
): boolean {
  const { start, freeRequested, sizeBytes, length, preexisting, stack } = input.replay.allocations;
  const [first, last] = [start[preexisting], start[length - 1]];
  const liveAt = (event: EventIndex): number =>
    all.reduce(
      (sum, id) => (start[id] <= event && freeRequested[id] > event ? sum + sizeBytes[id] : sum),
      0,
    );
  // A ring is short and may end in a phase that keeps nothing, so compare with its beginning. What a queue dropped is
  // known from the third step on.
  const isQueue = all.some((id) => stack[id] <= EMPTY_STACK);
  const begin = (isQueue ? stepSequences[0]?.bounds[AGED_STEPS] : undefined) ?? first - 1;
  if (isFromBefore) return liveAt(last) >= MIN_RISE_OF_RING * liveAt(begin);
  return liveAt(last) >= MIN_RISE * liveAt(first + Math.floor(BEFORE_LAST * (last - first)));
}

/** Whether most of the cohort was freed at some point and then more was added. */
export function wasGivenBack({ input }: AnalysisInput, all: readonly AllocationIndex[]): boolean {
  const { start, freeRequested, sizeBytes } = input.replay.allocations;
  const frees = all
    .filter((id) => freeRequested[id] < input.trace.events.length)
    .sort((a, b) => freeRequested[a] - freeRequested[b]);
  let [live, highest, next] = [0, 0, 0];
  for (const id of all) {
    for (; next < frees.length && freeRequested[frees[next]] < start[id]; next++)
      live -= sizeBytes[frees[next]];
    if (live < (1 - GIVEN_BACK_SHARE) * highest) return true;
    live += sizeBytes[id];
    highest = Math.max(highest, live);
  }
  return false;
}

/** Whether most of the cohort was freed, at once or one by one, while the program's steps went on. */
export function wasDrained(
  { input, stepSequences }: AnalysisInput,
  all: readonly AllocationIndex[],
): boolean {
  const { start, freeRequested, sizeBytes } = input.replay.allocations;
  const lastStep = stepSequences[0]?.bounds.at(-2);
  if (lastStep === undefined) return false;
  const changes = all
    .flatMap((id): [EventIndex, number][] => [
      [start[id], sizeBytes[id]],
      [freeRequested[id], -sizeBytes[id]],
    ])
    .filter(([event]) => event <= lastStep)
    .sort(([a], [b]) => a - b);
  let [live, highest] = [0, 0];
  for (const [, bytes] of changes) {
    live += bytes;
    highest = Math.max(highest, live);
  }
  return live < (1 - GIVEN_BACK_SHARE) * highest;
}
