/** The recorded run in the words of a what-if result: the first row of the table, and what its failures say of the card. */
import { highest } from '../../base/extremes.ts';
import {
  BlockState,
  type DeviceTrace,
  type EventIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import { endsWithoutFree, eventsOf } from '../replay/trace-events.ts';
import type { AllocSettings } from './alloc-conf.ts';
import { allocationSize } from './allocator.ts';
import { type ByteCurve, ByteCurveBuilder } from './recorded-memory.ts';
import type { ReleaseRun } from './requests.ts';
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
  const { size: retriedOoms } = requests.retriedOoms;
  const retries = recordedRetries(trace, requests.releases, recorded.settings);
  return {
    /** PYTORCH_ALLOC_CONF as recorded. */
    settings: recorded.text,
    peakReservedBytes: replay.peaks.reservedBytes.bytes,
    peakAllocatedBytes: replay.peaks.allocatedBytes.bytes,
    /** Errors that the program saw, and oom entries beside them. */
    ooms: requests.ooms - retriedOoms,
    retriedOoms,
    // A request that fails has released all that is cached first: one retry, entries of it or not.
    retries: retries.filter((run) => action[run.end] !== TraceAction.Oom).length + requests.ooms,
    deviceAllocs: count(TraceAction.SegmentAlloc, TraceAction.SegmentMap),
    deviceFrees: count(TraceAction.SegmentFree, TraceAction.SegmentUnmap),
    /** undefined where the file has no final segments. */
    end: recordedEnd(input),
    /** undefined where nothing failed for lack of memory. */
    limit: limitBounds(input, retries),
    reserved: reservedCurve(input, parts),
    allocated: allocatedCurve(input, parts),
  };
}

/**
 * The memory under which the recorded run comes out as it was: the limit that its failures show, and
 * where per_process_memory_fraction made it, what it is a share of. undefined: nothing failed.
 */
export function recordedLimit(
  { limit }: RecordedRun,
  { recorded }: WhatIfInput,
): number | undefined {
  return limit === undefined ? undefined : limit.likelyBytes / recorded.settings.memoryFraction;
}

/**
 * Entries for a request that only a retry makes. Garbage collection too frees segments for a request, of
 * the large pool, and max_split_size_mb oversize ones: a retry that freed nothing else is not recognized.
 */
function recordedRetries(
  trace: DeviceTrace,
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
  // Where the two figures lie between the bounds the card was full. Else the recorded run comes out as it was.
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

function allocatedCurve(input: WhatIfInput, parts: number): ByteCurve {
  const { allocations, allocationOfEvent, start } = input.replay;
  const { length } = input.trace.events;
  const curve = new ByteCurveBuilder(length, parts);
  const unfreed = endsWithoutFree(input.replay, 'freeRequested');
  let bytes = start.allocatedBytes;
  curve.set(-1, bytes);
  for (let t = 0; t < length; t++) {
    const row = allocationOfEvent[t];
    let change = 0;
    if (row >= 0 && allocations.start[row] === t) change = allocations.sizeBytes[row];
    else if (row >= 0 && allocations.freeRequested[row] === t) change = -allocations.sizeBytes[row];
    for (const other of unfreed.get(t) ?? []) change -= allocations.sizeBytes[other];
    if (change === 0) continue;
    bytes += change;
    curve.set(t, bytes);
  }
  return curve.finish(length);
}
