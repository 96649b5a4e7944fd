/** The moment that an account is taken of, and what the process could have at most. */

import { failedOoms } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { judgeOom, type OomVerdict } from '../findings/oom-verdict.ts';
import type { DeviceTables } from '../findings/types.ts';
import { segmentsAt } from './free-space.ts';
import type { MomentWhy } from './types.ts';

/** From so many allocations of Python code on, the program has gone on after an error. */
const GOES_ON = 2;

/** Whether the program caught an OOM: unwinding after an error only frees. */
export function isCaught({ input, classifier }: AnalysisInput, event: EventIndex): boolean {
  const { start, stack, length } = input.replay.allocations;
  let seen = 0;
  for (let id = upperBound(start, event); id < length && seen < GOES_ON; id++) {
    if (!classifier.isBackward(stack[id])) seen++;
  }
  return seen >= GOES_ON;
}

/** OOMs whose error the program saw, in order. */
export const seenOoms = ({ input }: AnalysisInput): readonly EventIndex[] =>
  failedOoms(input.trace, input.replay);

/** The OOM that ended the program; undefined where none did. */
export function fatalOom(context: AnalysisInput): EventIndex | undefined {
  const last = seenOoms(context).at(-1);
  return last === undefined || isCaught(context, last) ? undefined : last;
}

/** The OOM that ended the program, else the peak of allocated bytes; without a trace the end. */
export function momentOf(context: AnalysisInput): { event: EventIndex; why: MomentWhy } {
  const oom = fatalOom(context);
  if (oom !== undefined) return { event: oom, why: 'oom' };
  const { replay, trace } = context.input;
  if (!context.hasTrace) return { event: trace.events.length - 1, why: 'end' };
  return { event: replay.peaks.allocatedBytes.event, why: 'peak' };
}

/**
 * What the process could reserve, as its OOMs show it: all that the device had left, or, where that was more than
 * was asked for, a limit of its own that lies no lower than what it reached. Undefined without an OOM.
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

/** Why the request of an OOM did not fit, from the figures of that moment. */
export function judgeOomAt(context: AnalysisInput, event: EventIndex): OomVerdict {
  const { trace, replay } = context.input;
  const state = context.stateAt(event);
  return judgeOom({
    requestedBytes: trace.events.sizeBytes[event],
    allocatedBytes: state.activeBytes,
    reservedBytes: state.reservedBytes,
    peakReservedBytes: replay.peaks.reservedBytes.bytes,
    largestFreeBytes: segmentsAt(context, event).reduce(
      (most, { largestFreeBytes }) => Math.max(most, largestFreeBytes),
      0,
    ),
    freeBytes: trace.events.oomDeviceFreeBytes.get(event),
  });
}

/** The highest allocated bytes, had some blocks never been there: counted again over all events. */
export function peakWithout(
  { replay, trace }: DeviceTables,
  left: Iterable<AllocationIndex>,
): number {
  const { allocations: table, allocationOfEvent, start } = replay;
  const { action } = trace.events;
  const isLeftOut = new Uint8Array(table.length);
  let bytes = start.allocatedBytes;
  for (const id of left) {
    isLeftOut[id] = 1;
    if (table.start[id] < 0) bytes -= table.sizeBytes[id];
  }
  let highest = bytes;
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (id < 0 || isLeftOut[id] === 1) continue;
    if (action[t] === TraceAction.Alloc) bytes += table.sizeBytes[id];
    else if (action[t] === TraceAction.FreeRequested) bytes -= table.sizeBytes[id];
    if (bytes > highest) highest = bytes;
  }
  return highest;
}
