/**
 * What the program requested from the allocator, in order: the trace without the allocator's own actions. Made once for
 * a device, then run under any number of settings.
 */
import {
  type DeviceTrace,
  type EventIndex,
  NO_STACK,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import type { ReservedSteps } from '../replay/counters.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import {
  endsWithoutFree,
  findRetriedOoms,
  isReleasing,
  isReserving,
  type StackSites,
} from '../replay/trace-events.ts';
import type { AllocationIndex, ReplayColumns } from '../replay/types.ts';
import type { AllocSettings } from './alloc-conf.ts';

/** Free is a free_requested followed at once by its free_completed, as nearly all are. */
export const RequestKind = {
  Alloc: 0,
  Free: 1,
  FreeRequested: 2,
  FreeCompleted: 3,
  EmptyCache: 4,
  Oom: 5,
} as const;
export type RequestKind = (typeof RequestKind)[keyof typeof RequestKind];

export type Requests = ReturnType<typeof collectRequests>;

/** Recorded out-of-memory errors that the program saw. */
export const failuresOf = ({ ooms, retriedOoms }: Pick<Requests, 'ooms' | 'retriedOoms'>): number =>
  ooms - retriedOoms.size;

/** @param reserved the recorded reserved memory: it distinguishes a retry from a call of empty_cache() */
export function collectRequests(
  trace: DeviceTrace,
  replay: ReplayColumns,
  reserved: ReservedSteps,
  recorded: AllocSettings,
  stacks?: StackSites,
) {
  const { action } = trace.events;
  const releases = releaseRuns(trace, reserved, replay.peaks.reservedBytes.bytes, recorded);
  const emptied = new Set(
    releases.filter(({ cause }) => cause === 'user').map(({ event }) => event),
  );
  const unfreed = endsWithoutFree(replay, 'end');
  // Each event is at most one request, except an alloc that ends an allocation without a free.
  const most = trace.events.length + replay.anomalyCount;
  const kind = new Uint8Array(most);
  const row = new Int32Array(most);
  const event = new Int32Array(most);
  let length = 0;
  let delayedFrees = 0;
  let ooms = 0;
  const add = (own: RequestKind, allocation: AllocationIndex, t: EventIndex) => {
    kind[length] = own;
    row[length] = allocation;
    event[length] = t;
    length++;
  };
  for (let t = 0; t < action.length; t++) {
    for (const allocation of unfreed.get(t) ?? []) add(RequestKind.Free, allocation, t);
    if (action[t] <= TraceAction.FreeCompleted) {
      const own = requestOfBlock(replay, action[t], t);
      if (own === undefined) continue;
      add(own, replay.allocationOfEvent[t], t);
      if (own === RequestKind.FreeRequested) delayedFrees++;
    } else if (action[t] === TraceAction.Oom) {
      add(RequestKind.Oom, -1, t);
      ooms++;
    } else if (emptied.has(t)) add(RequestKind.EmptyCache, -1, t);
  }
  return {
    length,
    /** {@link RequestKind} */
    kind,
    /** The allocation, or -1 for EmptyCache and Oom. */
    row,
    event,
    allocations: replay.allocations,
    /** Groups of segment frees in the recording: retries, and calls of empty_cache(). */
    releases,
    /** Recorded OOMs, and those that the program never saw as an error. */
    ooms,
    retriedOoms: findRetriedOoms(trace, replay, stacks),
    trials: triedWorkspaces(trace, replay, releases, stacks),
    delayedFrees,
  };
}

/**
 * Workspaces that cuDNN only tried: freed at once, then the cache is emptied from within the same call. If one does not
 * fit, PyTorch tries a smaller one, and the program sees no error.
 *
 *     alloc 5.62 GiB | free | segment_free 5.62 GiB | alloc 29 MiB      all in one convolution
 */
function triedWorkspaces(
  { events }: DeviceTrace,
  { allocationOfEvent, allocations: { start, stack, freeRequested } }: ReplayColumns,
  releases: readonly ReleaseRun[],
  stacks?: StackSites,
): ReadonlySet<AllocationIndex> {
  const trials = new Set<AllocationIndex>();
  const siteOf = (of: StackIndex) => stacks?.siteOf(of) ?? of;
  for (const { cause, event } of releases) {
    const row = allocationOfEvent[event - 1] ?? -1;
    if (cause !== 'user' || row < 0 || freeRequested[row] !== start[row] + 1) continue;
    const own = events.stack[event];
    if (own !== NO_STACK && siteOf(own) === siteOf(stack[row])) trials.add(row);
  }
  return trials;
}

/** The request of an alloc or free event. Undefined if it completes the previous free, or belongs to no allocation. */
function requestOfBlock(
  { allocationOfEvent, allocations }: ReplayColumns,
  action: number,
  t: EventIndex,
): RequestKind | undefined {
  const row = allocationOfEvent[t];
  if (row < 0) return undefined;
  if (action === TraceAction.Alloc) return RequestKind.Alloc;
  if (action === TraceAction.FreeRequested) {
    const isCompleted = allocations.end[row] === t + 1 && allocationOfEvent[t + 1] === row;
    return isCompleted ? RequestKind.Free : RequestKind.FreeRequested;
  }
  const requested = allocations.freeRequested[row];
  if (requested === t) return RequestKind.Free;
  const wasRequestedJustBefore = requested === t - 1 && allocationOfEvent[t - 1] === row;
  return wasRequestedJustBefore ? undefined : RequestKind.FreeCompleted;
}

/**
 * Why the recorded run returned memory to the device. segment_free and segment_unmap entries do not say why, but their
 * stack does: within an allocation they have its stack, like the segment_alloc or oom entry that follows.
 * torch.cuda.empty_cache() has its own stack. But cuDNN empties the cache from within an operator after timing its
 * algorithms, and the next request has the same stack. If that request would have fitted beside all reserved memory, or
 * into what was freed, no room was needed, so it was not a retry. Garbage collection does make room early.
 *
 *   limit 512 MiB, 126 reserved at the time, 504 at the peak: segment_free 68, segment_alloc 56
 *   → 126 + 56 would have fitted: the cache was emptied
 *   418 reserved at the time: segment_free 98, segment_alloc 98
 *   → 418 + 98 would not have fitted, but the free 98 would have served: the cache was emptied
 */

export interface ReleaseRun {
  readonly event: EventIndex;
  /** The index after the last entry; the number of events if the trace ends there. */
  readonly end: EventIndex;
  /** alloc: to make room for a request. user: a call of empty_cache(). */
  readonly cause: 'alloc' | 'user';
  readonly smallestBytes: number;
}

/** @param reserved of the recorded run, @param peakBytes its maximum, @param settings its settings */
export function releaseRuns(
  trace: DeviceTrace,
  reserved: Pick<ReservedSteps, 'after'>,
  peakBytes: number,
  settings: AllocSettings,
): ReleaseRun[] {
  const { action, sizeBytes, stack } = trace.events;
  // It can be recognized only if stacks tell it from a call of empty_cache().
  const hasCollection = settings.garbageCollectionThreshold > 0;
  const runs: ReleaseRun[] = [];
  for (let t = 0; t < action.length; t++) {
    if (!isReleasing(action[t])) continue;
    const event = t;
    let smallestBytes = Infinity;
    while (isReleasing(action[t])) {
      smallestBytes = Math.min(smallestBytes, sizeBytes[t]);
      t++;
    }
    const mostBytes = peakBytes - reserved.after(event - 1);
    const isRetry =
      isForOneRequest(trace, event, t) &&
      !isServedBy(trace, settings, event, t) &&
      (sizeBytes[t] > mostBytes || (hasCollection && stack[event] !== NO_STACK));
    runs.push({ event, end: t, cause: isRetry ? 'alloc' : 'user', smallestBytes });
  }
  return runs;
}

/** Whether a request for memory follows, with the same stack if stacks are known. */
function isForOneRequest({ events }: DeviceTrace, event: EventIndex, end: EventIndex): boolean {
  const { action, stack } = events;
  const isRequest = isReserving(action[end]) || action[end] === TraceAction.Oom;
  return isRequest && (stack[event] === NO_STACK || stack[event] === stack[end]);
}

/** Whether one of the freed segments (each a single cached block) would have served the request. */
function isServedBy(
  { events }: DeviceTrace,
  { maxSplitBytes, maxNonSplitRoundingBytes }: AllocSettings,
  event: EventIndex,
  end: EventIndex,
): boolean {
  const { action, sizeBytes, stream } = events;
  // A much larger block is left alone if it may not be split.
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
