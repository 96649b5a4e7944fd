/**
 * The request that failed: which line of the user's it belongs to, and what it says of itself.
 *
 * Backward threads run no Python, so their requests have no line. The gradient of a tensor is as large as
 * the tensor, so the line that last made one of exactly that size in the forward pass is the one to look at:
 *
 *   train.py:600   logits = logits.float()                   2.00 GiB
 *   train.py:601   loss = F.cross_entropy(logits, y)         2.00 GiB    ← named
 *   backward       asks for 2.00 GiB, and there is no room
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { formatCount, formatPercent } from '../../base/format.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Fact } from '../findings/types.ts';

export interface RequestOrigin {
  /** Of the request itself; of the line that stands for it where it came from a backward thread. */
  readonly stack: StackIndex;
  /** 'same-size': a forward line made a tensor of that size. 'last-line': the last line of Python before it. */
  readonly source: 'own' | 'same-size' | 'last-line' | 'none';
}

/** Further back another step has begun. */
const MAX_LOOK_BACK = 4096;
/** Small sizes are shared by many lines. */
const MIN_SAME_SIZE_BYTES = 2 ** 20;

export function requestOrigin(context: AnalysisInput, event: EventIndex): RequestOrigin {
  const { classifier, input } = context;
  const { events } = input.trace;
  const own = events.stack[event];
  if (!classifier.isBackward(own)) return { stack: own, source: 'own' };
  const { start, stack, requestedBytes, preexisting } = input.replay.allocations;
  const bytes = events.sizeBytes[event];
  const newest = upperBound(start, event) - 1;
  let last: StackIndex | undefined;
  for (let id = newest; id >= Math.max(preexisting, newest - MAX_LOOK_BACK); id--) {
    const site = stack[id];
    if (!classifier.hasPython(site) || classifier.isBackward(site)) continue;
    last ??= site;
    if (classifier.isOptimizer(site)) break;
    const isSame = requestedBytes[id] === bytes && bytes >= MIN_SAME_SIZE_BYTES;
    if (isSame && !classifier.isBuilding(site)) return { stack: site, source: 'same-size' };
  }
  return last === undefined ? { stack: own, source: 'none' } : { stack: last, source: 'last-line' };
}

/** Of all that would have been in use. Below it the request is one of many. */
const LARGE_SHARE = 0.25;

/** Of a request that is a large part of all: how large a part, and which shapes have that size. */
export function shapeFacts(requestedBytes: number, inUseBytes: number): Fact[] {
  const share = requestedBytes / (requestedBytes + inUseBytes);
  if (share < LARGE_SHARE) return [];
  return [
    { label: 'share of all that would have been in use', text: formatPercent(share) },
    {
      label: 'likely shape (a guess: types and shapes are not recorded)',
      text: shapeGuess(requestedBytes),
    },
  ];
}

/** Fewer requests before say little of what is usual. */
const MIN_EARLIER = 2;
/** As much larger than any before as no allocator rounds. */
const LARGER = 1.5;

/** A request larger than any of its line before: the work has grown, be it by the batch or the sequence. */
export interface LargerRequest {
  /** Of the largest before: 24.0. */
  readonly times: number;
  readonly mostBytes: number;
  readonly calls: number;
  /** The user's line that hands the batch to the model; undefined without one. */
  readonly caller: FrameView | undefined;
}

/**
 * @param stack the line that stands for the request
 * @returns undefined where the line asked for about as much before, or is new
 */
export function largerRequest(
  context: AnalysisInput,
  stack: StackIndex,
  event: EventIndex,
  requestedBytes: number,
): LargerRequest | undefined {
  const { stack: stacks, requestedBytes: bytes } = context.input.replay.allocations;
  const until = beginOfPass(context, event);
  let most = 0;
  let calls = 0;
  for (let id = 0; id < until; id++) {
    if (stacks[id] !== stack) continue;
    most = Math.max(most, bytes[id]);
    calls++;
  }
  if (calls < MIN_EARLIER || requestedBytes < LARGER * most) return undefined;
  return {
    times: requestedBytes / most,
    mostBytes: most,
    calls,
    caller: modelCaller(context, stack),
  };
}

/** Who calls the outermost module that the line is in; the line itself where it is in none. */
function modelCaller({ classifier, input }: AnalysisInput, stack: StackIndex) {
  const call = classifier.moduleCall(stack);
  return input.stacks.topUserFrameView(call === 0 ? stack : input.snapshot.stacks.parent[call]);
}

/**
 * The first allocation of the forward pass that an event is in, or that its backward pass follows; 0 where none came
 * before. One line may make tensors of several sizes in a pass, so only whole passes are compared.
 */
function beginOfPass({ classifier, input }: AnalysisInput, event: EventIndex): AllocationIndex {
  const { start, stack } = input.replay.allocations;
  let id = upperBound(start, event) - 1;
  while (id >= 0 && classifier.isBackward(stack[id])) id--;
  while (id >= 0 && !classifier.isBackward(stack[id])) id--;
  return id + 1;
}

/** '822,083,584 elements of float32 (a square of 28,672 × 28,672), or 1,644,167,168 of bfloat16' */
function shapeGuess(bytes: number): string {
  const of = (type: string, width: number): string => {
    const count = bytes / width;
    const side = Math.sqrt(count);
    const square = Number.isInteger(side) ? ` (a square of ${formatCount(side)})` : '';
    return `${formatCount(count)} elements of ${type}${square}`;
  };
  if (bytes % 4 !== 0) return bytes % 2 === 0 ? of('bfloat16', 2) : of('int8', 1);
  return `${of('float32', 4)}, or ${of('bfloat16', 2)}`;
}
