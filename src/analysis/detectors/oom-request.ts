/**
 * The failed request: the user line that it belongs to, and what its size suggests.
 *
 * Backward threads run no Python, so their requests have no line. A tensor's gradient is as large as the tensor, so the
 * line that last made a tensor of exactly that size in the forward pass is the one to look at:
 *
 *   train.py:600   logits = logits.float()                   2.00 GiB
 *   train.py:601   loss = F.cross_entropy(logits, y)         2.00 GiB    ← named
 *   backward       requests 2.00 GiB, and there is no room
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { highest } from '../../base/extremes.ts';
import { formatCount, formatPercent } from '../../base/format.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Fact } from '../findings/types.ts';

export interface RequestOrigin {
  /** The request's own stack, or that of the line that represents it if a backward thread made it. */
  readonly stack: StackIndex;
  /** 'same-size': a forward line made a tensor of that size. 'last-line': the last Python line before it. */
  readonly source: 'own' | 'same-size' | 'last-line' | 'none';
}

/** Further back is another step. */
const MAX_LOOK_BACK = 4096;
/** Many lines share small sizes. */
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

/** Fewer earlier requests don't show what is usual. */
const MIN_EARLIER = 2;
/** More than any allocator's rounding explains. */
const LARGER = 1.5;

/** A request larger than any before from its line: the batch or the sequence has grown. */
export interface LargerRequest {
  /** Times the largest before: 24.0. */
  readonly times: number;
  readonly mostBytes: number;
  /** The user line that passes the batch to the model, if any. */
  readonly caller: FrameView | undefined;
}

/**
 * @param stack the line that represents the request
 * @returns undefined if the line is new or requested about as much before
 */
export function largerRequest(
  context: AnalysisInput,
  stack: StackIndex,
  event: EventIndex,
  requestedBytes: number,
): LargerRequest | undefined {
  const { stack: stacks, requestedBytes: bytes } = context.input.replay.allocations;
  const earlier = bytes
    .subarray(0, beginOfPass(context, event))
    .filter((_, id) => stacks[id] === stack);
  const mostBytes = highest(earlier);
  if (earlier.length < MIN_EARLIER || requestedBytes < LARGER * mostBytes) return undefined;
  const { classifier, input } = context;
  const call = classifier.moduleCall(stack);
  // The caller of the outermost module that contains the line; otherwise the line itself.
  const caller = call === 0 ? stack : input.snapshot.stacks.parent[call];
  return {
    times: requestedBytes / mostBytes,
    mostBytes,
    caller: input.stacks.topUserFrameView(caller),
  };
}

/**
 * The first allocation of the forward pass that an event is in, or that its backward pass follows; 0 if none came
 * before. One line may make tensors of several sizes in a pass, so only whole passes are compared.
 */
function beginOfPass({ classifier, input }: AnalysisInput, event: EventIndex): AllocationIndex {
  const { start, stack } = input.replay.allocations;
  let id = upperBound(start, event) - 1;
  while (id >= 0 && classifier.isBackward(stack[id])) id--;
  while (id >= 0 && !classifier.isBackward(stack[id])) id--;
  return id + 1;
}

/** Share of what would have been in use. Smaller requests are one of many. */
const LARGE_SHARE = 0.25;

/** For a large request: its share of the total, and which shapes have that size. */
export function shapeFacts(bytes: number, inUseBytes: number): Fact[] {
  const share = bytes / (bytes + inUseBytes);
  if (share < LARGE_SHARE) return [];
  const of = (type: string, width: number): string => {
    const count = bytes / width;
    const side = Math.sqrt(count);
    const square = Number.isInteger(side) ? ` (a square of ${formatCount(side)})` : '';
    return `${formatCount(count)} elements of ${type}${square}`;
  };
  const odd = bytes % 2 === 0 ? of('bfloat16', 2) : of('int8', 1);
  const text = bytes % 4 === 0 ? `${of('float32', 4)}, or ${of('bfloat16', 2)}` : odd;
  return [
    { label: 'share of all that would have been in use', text: formatPercent(share) },
    { label: 'likely shape (a guess: types and shapes are not recorded)', text },
  ];
}
