/** Which lines hold the memory that is live: all that a line allocated, whatever the stacks it was reached by. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { formatBytes } from '../../base/format.ts';
import type { FrameView } from '../../device/model/types.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from './analysis-input.ts';
import { locationText, sumBySite } from './finding-parts.ts';

export interface Holder {
  /** The user's own; undefined for what no line of theirs allocated. */
  readonly frame: FrameView | undefined;
  /** Where the line allocated most. */
  readonly stack: StackIndex;
  readonly bytes: number;
}

/** Lines by the bytes that they hold, the largest first. */
export function holdersOf(context: AnalysisInput, live: Iterable<AllocationIndex>): Holder[] {
  const sums = new Map<FrameIndex | 'backward' | undefined, { stack: StackIndex; bytes: number }>();
  // The largest stack of a line comes first.
  for (const { stack, bytes } of sumBySite(context, live)) {
    const line = context.input.stacks.topUserFrame(stack);
    const key = line ?? (stack === EMPTY_STACK ? 'backward' : undefined);
    const known = sums.get(key);
    if (known === undefined) sums.set(key, { stack, bytes });
    else known.bytes += bytes;
  }
  return [...sums.values()]
    .map(({ stack, bytes }) => ({
      frame: context.input.stacks.topUserFrameView(stack),
      stack,
      bytes,
    }))
    .sort((a, b) => b.bytes - a.bytes);
}

const NAMED = 3;

/** '3.50 GiB from model.py:48 (attention), 1.20 GiB from backward' */
export function holdersText(holders: readonly Holder[]): string {
  const texts = holders
    .slice(0, NAMED)
    .map(({ frame, stack, bytes }) => `${formatBytes(bytes)} from ${placeOf(frame, stack)}`);
  return texts.join(', ');
}

const placeOf = (frame: FrameView | undefined, stack: StackIndex): string =>
  stack === EMPTY_STACK ? 'backward' : locationText(frame);
