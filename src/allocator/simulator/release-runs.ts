/**
 * Why the recorded run gave memory back to the device. The trace has segment_free and segment_unmap
 * entries and does not say why; their stack does: within an allocation they carry its stack, as does the
 * segment_alloc or oom entry that follows, and torch.cuda.empty_cache() has its own. But cuDNN empties the
 * cache when it has timed its algorithms, from within an operator: what comes next has the same stack then.
 * A request that would have fitted beside all that was reserved, or into what was freed, needed no room
 * made for it, so that was no retry. Garbage collection does make room before it is needed.
 *
 *   limit 512 MiB, 126 reserved at the time, 504 at the peak: segment_free 68, segment_alloc 56
 *   → 126 + 56 would have fitted: the cache was emptied
 *   418 reserved at the time: segment_free 98, segment_alloc 98
 *   → 418 + 98 would not have fitted, but the free 98 would have served: the cache was emptied
 */

import {
  type DeviceTrace,
  type EventIndex,
  NO_STACK,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import type { AllocSettings } from './alloc-conf.ts';
import type { ReservedSteps } from './reserved-steps.ts';

export interface ReleaseRun {
  /** First of the entries. */
  readonly event: EventIndex;
  /** The entry behind the last; the number of events when the trace ends there. */
  readonly end: EventIndex;
  /** alloc: to make room for a request. user: a call of empty_cache(). */
  readonly cause: 'alloc' | 'user';
  /** Bytes of the smallest piece. */
  readonly smallestBytes: number;
}

/** @param reserved of the recorded run, @param peakBytes its highest, @param settings of it */
export function releaseRuns(
  trace: DeviceTrace,
  reserved: ReservedSteps,
  peakBytes: number,
  settings: AllocSettings,
): ReleaseRun[] {
  const { action, sizeBytes } = trace.events;
  const runs: ReleaseRun[] = [];
  for (let t = 0; t < action.length; t++) {
    if (!isRelease(action[t])) continue;
    const event = t;
    let smallestBytes = Infinity;
    while (t < action.length && isRelease(action[t])) {
      smallestBytes = Math.min(smallestBytes, sizeBytes[t]);
      t++;
    }
    const mostBytes = peakBytes - reserved.after(event - 1);
    const isRetry =
      isForOneRequest(trace, event, t) &&
      !isServedBy(trace, settings, event, t) &&
      (sizeBytes[t] > mostBytes || collects(trace, settings, event));
    runs.push({ event, end: t, cause: isRetry ? 'alloc' : 'user', smallestBytes });
  }
  return runs;
}

function isRelease(action: number): boolean {
  return action === TraceAction.SegmentFree || action === TraceAction.SegmentUnmap;
}

/** Whether a request for memory follows, of the same stack where stacks are known. */
function isForOneRequest({ events }: DeviceTrace, event: EventIndex, end: EventIndex): boolean {
  const { action, stack } = events;
  const isRequest =
    end < action.length &&
    (action[end] === TraceAction.SegmentAlloc ||
      action[end] === TraceAction.SegmentMap ||
      action[end] === TraceAction.Oom);
  return isRequest && (stack[event] === NO_STACK || stack[event] === stack[end]);
}

/** Garbage collection needs a stack to differ from a call of empty_cache(). */
function collects(
  { events }: DeviceTrace,
  { garbageCollectionThreshold }: AllocSettings,
  event: EventIndex,
): boolean {
  return garbageCollectionThreshold > 0 && events.stack[event] !== NO_STACK;
}

/** Whether one of the segments freed, all of one cached block, would have been taken for the request. */
function isServedBy(
  { events }: DeviceTrace,
  { maxSplitBytes, maxNonSplitRoundingBytes }: AllocSettings,
  event: EventIndex,
  end: EventIndex,
): boolean {
  const { action, sizeBytes, stream } = events;
  // One that is much larger is left alone where it could not be split.
  const mostSpareBytes = maxSplitBytes === Infinity ? Infinity : maxNonSplitRoundingBytes;
  for (let t = event; t < end; t++) {
    const spareBytes = sizeBytes[t] - sizeBytes[end];
    const isFit = spareBytes >= 0 && spareBytes < mostSpareBytes;
    const isSamePool =
      isSmall(sizeBytes[t]) === isSmall(sizeBytes[end]) && stream[t] === stream[end];
    if (action[t] === TraceAction.SegmentFree && isFit && isSamePool) return true;
  }
  return false;
}

/** Of a segment, or of a request that failed. */
const isSmall = (bytes: number): boolean => bytes <= SMALL_SEGMENT_BYTES;
