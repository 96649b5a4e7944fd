/**
 * What calls left behind that ran out of memory: a stored exception keeps it, because its traceback holds the local
 * variables of all functions that the error went through.
 *
 *     for track in tracks:
 *         try: separate(model, track)                 memory runs out: 2.6 GiB of the model's tensors are live
 *         except RuntimeError as error:
 *             failed.append((track, error))           they stay
 */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { memoized } from '../../base/collections.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { rowsOf, userLines } from '../findings/user-lines.ts';
import { type Draft, isLasting } from './cohorts.ts';
import { isCaught, seenOoms } from './moment.ts';
import { placesOf } from './places.ts';

/** This many requests later the error has been dealt with, and a new call may have begun. */
const LATER = 8;
/** A single failed call may have stored its outputs on purpose. */
const MIN_ERRORS = 2;

/** Tensors of calls that ran out of memory which outlived the error, ascending. */
export function leftByErrors(context: AnalysisInput): ReadonlySet<AllocationIndex> {
  const { start, stack, freeRequested, length, preexisting } = context.input.replay.allocations;
  const callOf = memoized((own: StackIndex) => failedCall(context, own));
  const left = seenOoms(context).flatMap((oom, i, ooms) => {
    const next = upperBound(start, oom);
    const call = callOf(context.input.trace.events.stack[oom]);
    if (call <= EMPTY_STACK || !isCaught(context, oom)) return [];
    const later = start[Math.min(length - 1, next + LATER)];
    const own: AllocationIndex[] = [];
    for (let id = next - 1; id >= preexisting && start[id] > (ooms[i - 1] ?? -1); id--) {
      if (callOf(stack[id]) !== call) break;
      if (freeRequested[id] > later && !isLasting(context, id)) own.push(id);
    }
    return own.length > 0 ? [own] : [];
  });
  return new Set(left.length >= MIN_ERRORS ? left.flat().sort((a, b) => a - b) : []);
}

/** The call that an error on this stack leaves in any case: the model's, or else the user's innermost function's. */
function failedCall({ input, classifier }: AnalysisInput, stack: StackIndex): StackIndex {
  const { frame, parent } = input.snapshot.stacks;
  const model = classifier.moduleCall(stack);
  if (model > 0) return parent[model];
  const isUser = (row: StackIndex) => input.stacks.frame(frame[row]).kind === 'user';
  return parent[rowsOf(input, stack).find(isUser) ?? EMPTY_STACK];
}

/** Lines listed beyond the loop. */
const CALLERS = 4;

/** @param live allocations live at the moment, ascending */
export function errorDrafts(context: AnalysisInput, live: Int32Array): Draft[] {
  const left = context.once(leftByErrors);
  const ids = Array.from(live).filter((id) => left.has(id));
  if (ids.length === 0) return [];
  const stack = context.once(placesOf).heaviest(ids);
  const call = context.classifier.moduleCall(stack);
  // Whoever caught the error is further out.
  const from = call > 0 ? context.input.snapshot.stacks.parent[call] : stack;
  return [
    {
      ...{ kind: 'kept', ids, all: [...left], rate: undefined, isGrowing: true },
      lines: userLines(context, from, undefined, CALLERS),
    },
  ];
}
