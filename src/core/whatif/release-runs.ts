/**
 * Why the recorded run gave memory back to the device. The trace has segment_free and segment_unmap
 * entries and does not say why; their stack does: within an allocation they carry its stack, as does the
 * segment_alloc or oom entry that follows, and torch.cuda.empty_cache() has its own.
 */
import { type DeviceTrace, type EventIndex, NO_STACK, TraceAction } from '../snapshot/tables.ts';
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

/** @param reserved of the recorded run, @param peakBytes its highest */
export function releaseRuns(
  trace: DeviceTrace,
  reserved: ReservedSteps,
  peakBytes: number,
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
    const cause = isForRequest(trace, mostBytes, event, t) ? 'alloc' : 'user';
    runs.push({ event, end: t, cause, smallestBytes });
  }
  return runs;
}

function isRelease(action: number): boolean {
  return action === TraceAction.SegmentFree || action === TraceAction.SegmentUnmap;
}

/** @param mostBytes what would have fitted beside all that was reserved */
function isForRequest(trace: DeviceTrace, mostBytes: number, event: number, end: number): boolean {
  const { action, stack, sizeBytes } = trace.events;
  const isRequest =
    end < action.length &&
    (action[end] === TraceAction.SegmentAlloc ||
      action[end] === TraceAction.SegmentMap ||
      action[end] === TraceAction.Oom);
  if (!isRequest) return false;
  if (stack[event] !== NO_STACK) return stack[event] === stack[end];
  // Without stacks: what would have fitted needs no room made for it.
  return sizeBytes[end] > mostBytes;
}
