/**
 * What the program asked of the allocator, in order: the trace without what the allocator did about it.
 * Made once for a device, then run under any number of settings.
 */
import { upperBound } from '../../base/binary-search.ts';
import {
  type DeviceTrace,
  type EventIndex,
  NO_STACK,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import { endsWithoutFree, findRetriedOoms } from '../replay/trace-events.ts';
import type { AllocationIndex, AllocationTable, ReplayColumns } from '../replay/types.ts';
import type { AllocSettings } from './alloc-conf.ts';
import type { ReservedSteps } from './recorded-memory.ts';

/** Free is a free_requested whose free_completed follows at once, as nearly all do. */
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

/** @param reserved memory that the recording had reserved: it distinguishes a retry from a call of empty_cache() */
export function collectRequests(
  trace: DeviceTrace,
  replay: ReplayColumns,
  reserved: ReservedSteps,
  recorded: AllocSettings,
) {
  const { action } = trace.events;
  const releases = releaseRuns(trace, reserved, replay.peaks.reservedBytes.bytes, recorded);
  const emptied = new Set(
    releases.filter(({ cause }) => cause === 'user').map(({ event }) => event),
  );
  const unfreed = endsWithoutFree(replay, 'end');
  // Each event is one request at most, but for an alloc that ends an allocation whose free is missing.
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
    /** Allocation that is meant, -1 for EmptyCache and Oom. */
    row,
    event,
    allocations: replay.allocations,
    /** Pool of each allocation. */
    pool: poolsOfAllocations(trace, replay.allocations),
    /** Runs of frees of segments in the recording: retries, and calls of empty_cache(). */
    releases,
    /** Recorded OOMs, and those of them that the program never saw as an error. */
    ooms,
    retriedOoms: findRetriedOoms(trace, replay),
    /** Frees that waited for another stream. */
    delayedFrees,
  };
}

/** What an alloc or a free asks for; undefined of a free that completes the one before it, or is of no allocation. */
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
 * Up to 2.11 events do not say which pool they are of. The address space of an expandable segment is one
 * pool's for good, so what lies where a private pool's final mapping is, was of that pool.
 */
function poolsOfAllocations(trace: DeviceTrace, { pool, address }: AllocationTable): Uint16Array {
  const { segments, events } = trace;
  const isPrivate = (s: number) => segments.isExpandable[s] === 1 && segments.pool[s] > 0;
  const rows = Array.from({ length: segments.length }, (_, s) => s).filter(isPrivate);
  if (events.pool !== undefined || rows.length === 0) return pool;
  const starts = rows.map((s) => segments.address[s]);
  return pool.map((known, row) => {
    const at = upperBound(starts, address[row]) - 1;
    if (at < 0) return known;
    const isInside = address[row] < starts[at] + segments.totalBytes[rows[at]];
    return isInside ? segments.pool[rows[at]] : known;
  });
}

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
function releaseRuns(
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
