/** When each tensor would be freed if nothing kept it longer than it is used: what a leak's "needs about" rests on. */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { getOrMake, groupBy, memoized } from '../../base/collections.ts';
import { highest, median } from '../../base/extremes.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import { fatalOom } from './moment.ts';
import { bytesByStep, loopAround, stepAt, turnsWithin } from './repetitions.ts';

/** Share of the repetitions in which a line makes as many tensors as in each. */
const USUAL_SHARE = 0.75;

/**
 * When each tensor would be freed if nothing kept it: at the end of the repetition that made it, or earlier, as its line
 * makes one more than it usually does in a repetition or, if all are of one, in a turn of a loop in it. An optimizer that
 * skips its first 13 steps leaves 13 passes before its first, each with a tensor of its own. -1 for what is from before the
 * recording, or if nothing repeats.
 *
 * @param kept in order of allocation
 */
export function endOfRepetition(context: AnalysisInput, kept: readonly AllocationIndex[]) {
  const { start, stack } = context.input.replay.allocations;
  const loop = loopAround(context, stack[kept[0]]);
  const bounds = loop?.bounds.slice(0, breaksOff(context, loop) ? -1 : undefined) ?? [];
  const stepOf = (id: AllocationIndex) => lowerBound(bounds, start[id]);
  const next = new Map<AllocationIndex, EventIndex>();
  const byStack = groupBy(kept, (id) => stack[id]);
  const turns = turnsWithin(context, kept);
  for (const same of byStack.values()) {
    const counts = [...groupBy(same, stepOf).values()].map((own) => own.length);
    const isOne = counts.length === 1;
    const usual = isOne ? Math.max(1, Math.round(same.length / turns)) : Math.ceil(median(counts));
    const isUsual = (count: number) => count === usual;
    if (!isOne && counts.filter(isUsual).length < USUAL_SHARE * counts.length) continue;
    for (let i = 0; i + usual < same.length; i++) next.set(same[i], start[same[i + usual]]);
  }
  const nextBurst = burstsAfter(kept, start, stepOf);
  return (id: AllocationIndex): EventIndex => {
    if (start[id] < 0 || bounds.length === 0) return -1;
    const step = stepOf(id);
    return Math.min(nextBurst?.get(step) ?? bounds[step] ?? NEVER, next.get(id) ?? NEVER);
  };
}

/**
 * Whether memory ran out within a loop's last turn: in backward, or in a line that earlier turns ran too, but that the last
 * one had not begun with. What that turn made was in use then.
 */
function breaksOff(context: AnalysisInput, { loop, bounds }: StepSequence): boolean {
  const event = fatalOom(context);
  if (event === undefined || loop === undefined) return false;
  const asking = context.input.trace.events.stack[event];
  if (context.classifier.isBackward(asking)) return true;
  const { start, stack, preexisting } = context.input.replay.allocations;
  const { parent } = context.input.snapshot.stacks;
  /** The row of the looping function, at one of its lines. */
  const lineOf = memoized((own: StackIndex) => {
    let row = own;
    while (row > 0 && parent[row] !== loop.caller) row = parent[row];
    return row;
  });
  const recorded = start.subarray(preexisting);
  const firstAfter = (bound: EventIndex) => preexisting + upperBound(recorded, bound);
  const [first, before, last] = [bounds[0], bounds.at(-3) ?? bounds[0], bounds.at(-2) ?? 0].map(
    firstAfter,
  );
  const line = lineOf(asking);
  const isRepeated = stack.subarray(first, last).some((own) => lineOf(own) === line);
  const isAsking = (own: StackIndex) => own === asking;
  // It asks for what the turn began with, as often as the turn before did: then that is over.
  const isNext =
    stack[last] === asking &&
    stack.subarray(last).filter(isAsking).length >=
      stack.subarray(before, last).filter(isAsking).length;
  return line > 0 && isRepeated && !isNext;
}

/**
 * A copy of the model for each tenth step is used until the next copy is made. By step: when the next step with such a
 * tensor makes its first. Undefined if most steps make some.
 */
function burstsAfter(
  kept: readonly AllocationIndex[],
  start: ArrayLike<EventIndex>,
  stepOf: (id: AllocationIndex) => number,
): ReadonlyMap<number, EventIndex> | undefined {
  const bursts = [...groupBy(kept, stepOf)].sort(([a], [b]) => a - b);
  const [first, last] = [bursts[0], bursts[bursts.length - 1]];
  if (bursts.length < 2 || 2 * bursts.length > last[0] - first[0] + 1) return undefined;
  const begins = bursts.map(([, own]) => start[own[0]]);
  return new Map(bursts.map(([step], i) => [step, begins[i + 1] ?? NEVER]));
}

/** Share of the largest optimizer's state: in later steps one may make the state of a few more parameters. */
const WHOLE_OPTIMIZER = 0.5;

/**
 * When each optimizer's state would be freed if nothing kept it: as the next optimizer's is made. Until then, its training
 * needs it. -1 for what is from before the recording.
 *
 * @param states of all optimizers, in order of allocation: each makes its own in one step
 */
export function startOfNextOptimizer(context: AnalysisInput, states: readonly AllocationIndex[]) {
  const { start } = context.input.replay.allocations;
  const [steps] = context.stepSequences;
  const recorded = states.filter((id) => start[id] >= 0);
  if (steps === undefined || recorded.length === 0)
    return (id: AllocationIndex): EventIndex => (start[id] < 0 ? -1 : NEVER);
  const sums = bytesByStep(context, states, steps);
  const most = highest([...sums.values()]);
  /** By step, in order: when an optimizer's first state was made. */
  const begins = new Map<number, EventIndex>();
  for (const id of recorded) {
    const step = stepAt(steps, start[id]);
    if ((sums.get(step) ?? 0) >= WHOLE_OPTIMIZER * most) getOrMake(begins, step, () => start[id]);
  }
  const inOrder = [...begins];
  return (id: AllocationIndex): EventIndex => {
    if (start[id] < 0) return -1;
    const own = stepAt(steps, start[id]);
    return inOrder.find(([step]) => step > own)?.[1] ?? NEVER;
  };
}
