/** The moment an account describes, and how much memory the process could have at most. */

import { failedOoms } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addUp, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { judgeOom, type OomVerdict } from '../findings/oom-verdict.ts';
import type { DeviceTables } from '../findings/types.ts';
import { cardFigures } from './card.ts';
import { segmentsAt, strandedBytes } from './free-space.ts';
import type { MomentWhy } from './types.ts';

/** This many Python allocations after an error mean that the program went on. */
const GOES_ON = 2;

/** Whether the program caught an OOM. While an error unwinds the stack, memory is only freed. */
export function isCaught({ input, classifier }: AnalysisInput, event: EventIndex): boolean {
  const { start, stack, length } = input.replay.allocations;
  let seen = 0;
  for (let id = upperBound(start, event); id < length && seen < GOES_ON; id++) {
    if (!classifier.isBackward(stack[id])) seen++;
  }
  return seen >= GOES_ON;
}

/** OOMs that reached the program as errors, in order. */
export const seenOoms = (context: AnalysisInput): readonly EventIndex[] =>
  context.once(findSeenOoms);

const findSeenOoms = ({ input }: AnalysisInput): readonly EventIndex[] =>
  failedOoms(input.trace, input.replay, input.stacks);

/** The OOM that ended the program, if any. */
export function fatalOom(context: AnalysisInput): EventIndex | undefined {
  const last = seenOoms(context).at(-1);
  return last === undefined || isCaught(context, last) ? undefined : last;
}

/** The OOM that ended the program, or else the peak of allocated bytes; without a trace, the end. */
export function momentOf(context: AnalysisInput): { event: EventIndex; why: MomentWhy } {
  const oom = fatalOom(context);
  if (oom !== undefined) return { event: oom, why: 'oom' };
  const { replay, trace } = context.input;
  if (!context.hasTrace) return { event: trace.events.length - 1, why: 'end' };
  return { event: replay.peaks.allocatedBytes.event, why: 'peak' };
}

/**
 * The most this process could reserve, judged by its OOMs: what it had plus all that the device had left. If the device
 * had room for the request, the process has its own limit, at least as high as the most it ever reserved.
 * Undefined without an OOM.
 */
export function limitOf({ input }: AnalysisInput): number | undefined {
  const { oomDeviceFreeBytes, sizeBytes } = input.trace.events;
  const reached = input.replay.peaks.reservedBytes.bytes;
  let limit: number | undefined;
  for (const [event, free] of oomDeviceFreeBytes) {
    const hasOwnLimit = free >= sizeBytes[event];
    const total = reached + (hasOwnLimit ? 0 : free);
    limit = Math.min(limit ?? total, total);
  }
  return limit;
}

export function judgeOomAt(context: AnalysisInput, event: EventIndex): OomVerdict {
  const { trace, replay } = context.input;
  const segments = segmentsAt(context, event);
  const reservedBytes = sumBy(segments, ({ sizeBytes }) => sizeBytes);
  const usable = segments.filter(({ isPrivate }) => !isPrivate);
  return judgeOom({
    requestedBytes: trace.events.sizeBytes[event],
    // What is free in private pools can't serve the request.
    allocatedBytes: reservedBytes - sumBy(usable, ({ freeBytes }) => freeBytes),
    reservedBytes,
    strandedBytes: strandedBytes(segments),
    peakReservedBytes: replay.peaks.reservedBytes.bytes,
    largestFreeBytes: highest([0, ...usable.map(({ largestFreeBytes }) => largestFreeBytes)]),
    freeBytes: trace.events.oomDeviceFreeBytes.get(event),
    isServer: context.isServerAt(event),
    ...cardFigures(context, event, reservedBytes),
  });
}

/** The most that was allocated at other times than these, each from its first to its last event; ascending. */
export function peakOutside(
  { replay, trace }: DeviceTables,
  times: readonly (readonly [first: EventIndex, last: EventIndex])[],
): number {
  const { allocations: table, allocationOfEvent, start } = replay;
  const { action } = trace.events;
  let [bytes, most, next] = [start.allocatedBytes, 0, 0];
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (action[t] === TraceAction.Alloc) bytes += table.sizeBytes[id];
    else if (action[t] === TraceAction.FreeRequested) bytes -= table.sizeBytes[id] ?? 0;
    while (next < times.length && times[next][1] < t) next++;
    const isInside = next < times.length && times[next][0] <= t;
    if (!isInside && bytes > most) most = bytes;
  }
  return most;
}

/** Bytes of {@link highestWithout}. */
export const peakWithout = (...args: Parameters<typeof highestWithout>): number =>
  highestWithout(...args).bytes;

/**
 * The peak of allocated bytes, and its event, if these blocks had never existed or, with `freedAt`, had been freed after
 * that event: recounts all events.
 */
export function highestWithout(
  { replay, trace }: DeviceTables,
  left: Iterable<AllocationIndex>,
  freedAt: (id: AllocationIndex) => EventIndex = () => -1,
): { readonly bytes: number; readonly event: EventIndex } {
  const { allocations: table, allocationOfEvent, start } = replay;
  const { action } = trace.events;
  const isLeftOut = new Uint8Array(table.length);
  const early = new Map<EventIndex, number>();
  let bytes = start.allocatedBytes;
  for (const id of left) {
    const end = freedAt(id);
    if (end >= table.freeRequested[id]) continue;
    isLeftOut[id] = 1;
    if (table.start[id] < 0) bytes -= table.sizeBytes[id];
    else if (end > table.start[id]) {
      addUp(early, table.start[id], table.sizeBytes[id]);
      addUp(early, end, -table.sizeBytes[id]);
    }
  }
  let [highest, event] = [bytes, -1];
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (early.size > 0) bytes += early.get(t) ?? 0;
    if (id >= 0 && isLeftOut[id] === 0) {
      if (action[t] === TraceAction.Alloc) bytes += table.sizeBytes[id];
      else if (action[t] === TraceAction.FreeRequested) bytes -= table.sizeBytes[id];
    }
    if (bytes > highest) [highest, event] = [bytes, t];
  }
  return { bytes: highest, event };
}
