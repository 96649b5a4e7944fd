/**
 * Gradients that no optimizer uses: of a backbone that was meant to be frozen, of a teacher, of an encoder that runs with
 * gradients. Without them autograd would not keep the activations of that part either.
 *
 *     473 gradients, 262 MiB     22 tensors of Adam's state, 77 MiB: 11 parameters are trained
 */
import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { countOne, groupBy, memoized, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { largestGroup } from '../account/line-share.ts';
import { peakWithout } from '../account/moment.ts';
import { type Account, allocationsOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel } from '../findings/user-lines.ts';
import { type Diagnosis, DOES, plain } from './case.ts';
import { callsModule, type OneLine, ofLine } from './one-line.ts';
import { MIN_BYTES } from './outstaying.ts';

/** Of the peak. */
const LEAST_SHARE = 1 / 3;
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

/** Of the activations, what belongs to it. */
export function untrainedPart(context: AnalysisInput, account: Account): Diagnosis | undefined {
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
  const minBytes = Math.max(MIN_BYTES, LEAST_SHARE * account.allocatedBytes);
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
