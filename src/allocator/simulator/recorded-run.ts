/** The recorded run as a what-if result (the table's first row), and what its failures reveal about the card. */
import { highest } from '../../base/extremes.ts';
import {
  BlockState,
  type DeviceTrace,
  type EventIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { blockChanges } from '../replay/counters.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import { eventsOf } from '../replay/trace-events.ts';
import type { AllocSettings } from './alloc-conf.ts';
import { allocationSize } from './allocator.ts';
import { type ByteCurve, ByteCurveBuilder, firstEventOfPart } from './recorded-memory.ts';
import { failuresOf, type ReleaseRun } from './requests.ts';
import { endStateOf, type WhatIfInput } from './simulation.ts';
import type { EndState } from './types.ts';

export type RecordedRun = ReturnType<typeof recordedRun>;
export type LimitBounds = NonNullable<RecordedRun['limit']>;

/** @param parts of the curves */
export function recordedRun(input: WhatIfInput, parts: number) {
  const { trace, replay, requests, recorded } = input;
  const { action } = trace.events;
  const count = (...actions: readonly TraceAction[]) =>
    action.reduce((n, one) => n + Number(actions.some((wanted) => wanted === one)), 0);
  const retries = recordedRetries(trace, requests.releases, recorded.settings);
  return {
    settings: recorded.text,
    startReservedBytes: replay.start.reservedBytes,
    peakReservedBytes: replay.peaks.reservedBytes.bytes,
    peakAllocatedBytes: replay.peaks.allocatedBytes.bytes,
    ooms: failuresOf(requests),
    /** The last request that failed, if any. */
    failedAt: eventsOf(trace.events, TraceAction.Oom).findLast(
      (event) => !requests.retriedOoms.has(event),
    ),
    retriedOoms: requests.retriedOoms.size,
    // A failed request has first released all cached memory: one retry, whether or not entries show it.
    retries: retries.filter((run) => action[run.end] !== TraceAction.Oom).length + requests.ooms,
    deviceAllocs: count(TraceAction.SegmentAlloc, TraceAction.SegmentMap),
    deviceFrees: count(TraceAction.SegmentFree, TraceAction.SegmentUnmap),
    /** Undefined if the file has no final segments. */
    end: recordedEnd(input),
    /** Undefined if no request failed for lack of memory. */
    limit: limitBounds(input, retries),
    /** A free that waits for a stream is two entries of the trace. */
    requests: requests.length - requests.delayedFrees,
    reserved: reservedCurve(input, parts),
    allocated: allocatedCurve(input, parts),
    ...partEdges(trace, parts),
  };
}

/**
 * Part i of the curves runs from events[i] to events[i + 1], so there is one more entry than there are parts. `timesUs`
 * has the same in microseconds since the first event, non-decreasing; undefined without times.
 */
function partEdges({ events: { length, timeUs } }: DeviceTrace, parts: number) {
  const count = Math.min(parts, length);
  const events = Int32Array.from({ length: count + 1 }, (_, part) =>
    count === 0 ? 0 : firstEventOfPart(part, length, count),
  );
  if (timeUs === undefined) return { events, timesUs: undefined };
  const startUs = timeUs[0] ?? 0;
  let latestUs = 0;
  const timesUs = Float64Array.from(events, (event) => {
    // Clocks of several threads sometimes step back; a plot's x must not.
    latestUs = Math.max(latestUs, (timeUs[Math.min(event, length - 1)] ?? startUs) - startUs);
    return latestUs;
  });
  return { events, timesUs };
}

/**
 * The memory limit that reproduces the recorded run, as its failures show it. If per_process_memory_fraction set the
 * limit, this is the memory that it is a fraction of. Undefined if nothing failed.
 */
export function recordedLimit(
  { limit }: RecordedRun,
  { recorded }: WhatIfInput,
): number | undefined {
  return limit === undefined ? undefined : limit.likelyBytes / recorded.settings.memoryFraction;
}

/**
 * Releases for a request that only a retry makes. Garbage collection also frees segments of the large pool for a
 * request, and max_split_size_mb frees oversize ones, so a retry that freed nothing else is not recognized.
 */
export function recordedRetries(
  trace: Pick<DeviceTrace, 'events'>,
  runs: readonly ReleaseRun[],
  { garbageCollectionThreshold, maxSplitBytes }: AllocSettings,
): ReleaseRun[] {
  const below = garbageCollectionThreshold > 0 ? SMALL_SEGMENT_BYTES + 1 : maxSplitBytes;
  return runs.filter(
    ({ cause, smallestBytes, end }) =>
      cause === 'alloc' && (smallestBytes < below || trace.events.action[end] === TraceAction.Oom),
  );
}

/** The limit of the recorded run lay in [atLeastBytes, belowBytes). */
function limitBounds(
  { trace, replay, reserved, recorded }: WhatIfInput,
  retries: readonly ReleaseRun[],
) {
  const { action, sizeBytes, oomDeviceFreeBytes } = trace.events;
  let belowBytes = Infinity;
  const failed = (event: EventIndex, bytes: number) => {
    belowBytes = Math.min(belowBytes, reserved.after(event - 1) + bytes);
  };
  for (const { event, end } of retries) {
    if (action[end] === TraceAction.SegmentAlloc) failed(event, sizeBytes[end]);
  }
  for (const t of eventsOf(trace.events, TraceAction.Oom)) {
    failed(t, allocationSize(sizeBytes[t], recorded.settings));
  }
  if (belowBytes === Infinity) return undefined;
  const atLeastBytes = replay.peaks.reservedBytes.bytes;
  const onDevice = [...oomDeviceFreeBytes]
    .map(([event, freeBytes]) => reserved.after(event - 1) + freeBytes)
    .filter((bytes) => bytes >= atLeastBytes && bytes < belowBytes);
  // If this figure lies within the bounds, the card was full. Otherwise use a limit that reproduces the recorded run.
  const likelyBytes = Math.max(atLeastBytes, highest(onDevice));
  return { atLeastBytes, belowBytes, likelyBytes };
}

function recordedEnd({ trace: { blocks, segments }, replay }: WhatIfInput): EndState | undefined {
  if (segments.length === 0) return undefined;
  const isFree = (_: number, block: number) => blocks.state[block] === BlockState.Inactive;
  const { reservedBytes, allocatedBytes } = replay.end;
  return endStateOf(reservedBytes, allocatedBytes, [...blocks.sizeBytes.filter(isFree)]);
}

function reservedCurve({ trace, reserved }: WhatIfInput, parts: number): ByteCurve {
  const { length } = trace.events;
  const curve = new ByteCurveBuilder(length, parts);
  reserved.events.forEach((event, i) => {
    curve.set(event, reserved.bytes[i]);
  });
  return curve.finish(length);
}

function allocatedCurve({ replay, trace }: WhatIfInput, parts: number): ByteCurve {
  const { length } = trace.events;
  const curve = new ByteCurveBuilder(length, parts);
  const changes = new Float64Array(length);
  blockChanges(replay, 'allocatedBytes')(0, changes);
  let bytes = replay.start.allocatedBytes;
  curve.set(-1, bytes);
  changes.forEach((change, t) => {
    bytes += change;
    if (change !== 0) curve.set(t, bytes);
  });
  return curve.finish(length);
}
