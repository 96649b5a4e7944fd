/** The recorded run in the words of a what-if result: the first row of the table, and what its failures say of the card. */
import { SMALL_SEGMENT_BYTES } from '../replay/rounding.ts';
import type { Replay } from '../replay/types.ts';
import { type DeviceTrace, TraceAction } from '../snapshot/tables.ts';
import type { AllocSettings } from './alloc-conf.ts';
import { allocationSize } from './allocator.ts';
import type { ReleaseRun } from './release-runs.ts';
import { type ReservedCurve, ReservedCurveBuilder } from './reserved-curve.ts';
import type { WhatIfInput } from './simulation.ts';

/** The limit of the recorded run lay in [atLeastBytes, belowBytes). */
export interface LimitBounds {
  readonly atLeastBytes: number;
  readonly belowBytes: number;
}

export interface RecordedRun {
  /** PYTORCH_CUDA_ALLOC_CONF as recorded; '' is the default. */
  readonly settings: string;
  readonly peakReservedBytes: number;
  readonly peakAllocatedBytes: number;
  readonly ooms: number;
  readonly retries: number;
  /** undefined where nothing failed for lack of memory. */
  readonly limit: LimitBounds | undefined;
  readonly reserved: ReservedCurve;
}

/** @param parts of the curve of reserved bytes */
export function recordedRun(input: WhatIfInput, parts: number): RecordedRun {
  const { trace, replay, requests, recorded } = input;
  const { action } = trace.events;
  const ooms = action.reduce((count, one) => count + Number(one === TraceAction.Oom), 0);
  const retries = recordedRetries(trace, requests.releases, recorded.settings);
  return {
    settings: recorded.text,
    peakReservedBytes: replay.peaks.reservedBytes.bytes,
    peakAllocatedBytes: replay.peaks.allocatedBytes.bytes,
    ooms,
    // A request that fails has released all that is cached first: one retry, entries of it or not.
    retries: retries.filter((run) => action[run.end] !== TraceAction.Oom).length + ooms,
    limit: limitBounds(trace, replay, retries),
    reserved: recordedCurve(trace, replay, parts),
  };
}

/**
 * Entries for a request that only a retry makes. Garbage collection too frees segments for a request, of
 * the large pool, and max_split_size_mb oversize ones: a retry that freed nothing else is not told apart.
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

function limitBounds(
  trace: DeviceTrace,
  replay: Replay,
  retries: readonly ReleaseRun[],
): LimitBounds | undefined {
  const { action, sizeBytes } = trace.events;
  let belowBytes = Infinity;
  const failed = (event: number, bytes: number) => {
    const before = replay.countersAt(event - 1).reservedBytes;
    belowBytes = Math.min(belowBytes, before + bytes);
  };
  for (const { event, end } of retries) {
    if (action[end] === TraceAction.SegmentAlloc) failed(event, sizeBytes[end]);
  }
  for (
    let t = action.indexOf(TraceAction.Oom);
    t >= 0;
    t = action.indexOf(TraceAction.Oom, t + 1)
  ) {
    failed(t, allocationSize(sizeBytes[t]));
  }
  if (belowBytes === Infinity) return undefined;
  return { atLeastBytes: replay.peaks.reservedBytes.bytes, belowBytes };
}

const CHUNK = 1 << 14;

function recordedCurve(trace: DeviceTrace, replay: Replay, parts: number): ReservedCurve {
  const { length } = trace.events;
  const curve = new ReservedCurveBuilder(length, parts);
  curve.set(-1, replay.start.reservedBytes);
  const values = new Float64Array(Math.min(CHUNK, length));
  let last = replay.start.reservedBytes;
  for (let from = 0; from < length; from += CHUNK) {
    const count = Math.min(CHUNK, length - from);
    replay.fillCounter('reservedBytes', from, values.subarray(0, count));
    for (let i = 0; i < count; i++) {
      if (values[i] !== last) curve.set(from + i, values[i]);
      last = values[i];
    }
  }
  return curve.finish(length);
}
