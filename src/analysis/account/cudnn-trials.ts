/**
 * cuDNN's search for algorithms. It tries a convolution's algorithms, each with a workspace of its own, and PyTorch gives
 * these back at once. It does so for each new size, if `torch.backends.cudnn.benchmark` is set.
 *
 *     alloc 8 GiB conv.py:548 | free | segment_free 8 GiB | alloc 33 MiB conv.py:548
 */
import { isReleasing } from '../../allocator/replay/trace-events.ts';
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { highestWithout } from './moment.ts';
import { type Account, allocationsOf } from './types.ts';

const ALLOC = TraceAction.Alloc;
/** at::native::run_single_conv, at::native::raw_cudnn_convolution_forward_out */
const CUDNN = /cudnn|run_single_conv/i;

/** c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc: it makes room for a request, cuDNN's output too. */
const REQUEST = /CachingAllocator::malloc/;

/** Whether the C++ frames of an event say that cuDNN's search gave the segment back; undefined if there are none. */
export function isOfSearch(context: AnalysisInput, event: EventIndex): boolean | undefined {
  const isOfCudnn = context.hasNative(event, CUDNN);
  return isOfCudnn === true ? context.hasNative(event, REQUEST) === false : isOfCudnn;
}

/**
 * Without C++ frames: whether the cache was flushed within one call, whose last allocation was given back before. Where
 * segments have no stack, the next allocation's tells.
 * @param before the allocation before the flush @param flush its first event @param after the allocation after it
 */
export function isWithinCall(
  context: AnalysisInput,
  before: EventIndex,
  flush: EventIndex,
  after: EventIndex,
): boolean {
  const { input } = context;
  const { stack } = input.trace.events;
  const own = stack[flush] === NO_STACK ? stack[after] : stack[flush];
  if (before < 0 || own === undefined || stack[before] !== own || own === NO_STACK) return false;
  const { allocations, allocationOfEvent } = input.replay;
  // All of backward has one stack, without Python: then the node must be a convolution's, if its C++ frames tell.
  const node = own > EMPTY_STACK ? undefined : context.nativeSiteOf(allocationOfEvent[before]);
  const isOther = node !== undefined && !/conv/i.test(context.nativeFrame(node)?.name ?? '');
  return !isOther && allocations.end[allocationOfEvent[before]] < flush;
}

/** The largest workspace that is live at an account's moment, if it is one that cuDNN tried and gave back. */
export function triedWorkspace(
  context: AnalysisInput,
  account: Account,
): AllocationIndex | undefined {
  const { sizeBytes, freeRequested, start } = context.input.replay.allocations;
  const { action } = context.input.trace.events;
  const [largest] = allocationsOf(account, ['workspaces']).toSorted(
    (a, b) => sizeBytes[b] - sizeBytes[a],
  );
  if (largest === undefined || freeRequested[largest] === NEVER) return undefined;
  let flush = freeRequested[largest] + 1;
  while (flush < action.length && !isReleasing(action[flush]) && action[flush] !== ALLOC) flush++;
  const next = action.indexOf(ALLOC, flush);
  if (next <= flush) return undefined;
  const isTried = isOfSearch(context, flush) ?? isWithinCall(context, start[largest], flush, next);
  return isTried ? largest : undefined;
}

/**
 * The event with the most allocated bytes if what a search tries doesn't count: workspaces that are freed at once and,
 * since backward often has no stack that tells, whatever is freed at once when the cache is flushed next.
 */
export function peakBesideTrials({ input, classification }: AnalysisInput): EventIndex {
  const { classOf } = classification;
  const { start, freeRequested } = input.replay.allocations;
  const { action } = input.trace.events;
  const isFlushed = (free: EventIndex) =>
    isReleasing(action[free + (action[free + 1] === TraceAction.FreeCompleted ? 2 : 1)]);
  const isTrial = (id: AllocationIndex) =>
    freeRequested[id] === start[id] + 1 &&
    (classOf[id] === MemoryClass.Workspaces || isFlushed(freeRequested[id]));
  return highestWithout(input, [...classOf.keys()].filter(isTrial)).event;
}
