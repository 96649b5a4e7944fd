/** Replays one device's trace, however its initial state is found. */
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { counterReader } from './counters.ts';
import { DeviceReplay, type ReplayTables } from './device-replay.ts';
import { findPreexisting, openingOf, type Preexisting } from './preexisting.ts';
import { blockRules } from './rounding.ts';
import { FinalPools } from './segment-tracker.ts';
import { traceKindOf } from './trace-kind.ts';
import type { Counters, Recording, Replay } from './types.ts';

export const NOTHING: Preexisting = { blocks: [], segments: [] };

/**
 * Most recordings begin before the first allocation, so that is tried first; it takes half the time. It fails if an event
 * contradicts an empty start, or the end differs from the file's. Then this works out what existed before the first event.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting
 */
export function replayDevice(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  const { events, opening } = trace;
  const rules = blockRules(settings, trace.accelerator);
  const kind = traceKindOf(trace);
  const pools = new FinalPools(trace);
  const begin = (before: Preexisting): DeviceReplay => {
    const hasPools = trace.pools.length > 1;
    const hasSegments = trace.segments.length > 0;
    const replay = new DeviceReplay({ kind, rules, before, pools, hasPools, hasSegments });
    replay.reserve(events.length, kind.allocs);
    return replay;
  };
  if (opening === undefined && events.length > 0) {
    const replay = begin(NOTHING);
    const tables = replay.advance(events, 0, events.length, true) ? replay.tables() : undefined;
    if (tables && endsAsTheFile(trace, tables.end)) return completeReplay(tables, trace, NOTHING);
  }
  const before =
    opening === undefined ? findPreexisting(trace, kind, rules) : openingOf(trace, opening);
  const replay = begin(before);
  replay.advance(events, 0, events.length, false);
  replay.compareEnd(trace);
  return completeReplay(replay.tables(), trace, before);
}

/** Whether reserved and active bytes equal those of the final segments, if the file has any. */
export function endsAsTheFile({ segments }: DeviceTrace, end: Counters): boolean {
  if (segments.length === 0) return true;
  const sum = (column: Float64Array) => column.reduce((total, bytes) => total + bytes, 0);
  return (
    end.reservedBytes === sum(segments.totalBytes) && end.activeBytes === sum(segments.activeBytes)
  );
}

/** Adds what only the whole file says about the recording. */
export function completeReplay(
  { log, ...tables }: ReplayTables,
  trace: DeviceTrace,
  before: Preexisting,
): Replay {
  const { recording, reason } = judgeRecording(trace, before);
  return {
    ...withInexactSums(tables),
    recording,
    recordingReason: reason,
    ...counterReader(log, tables, tables.segmentSpans),
  };
}

/** Sizes are exact up to 2^53, and so are the sums of any real recording. Reports sums that are not. */
function withInexactSums<T extends Omit<ReplayTables, 'log'>>(tables: T): T {
  const { peaks, anomalies, anomalyCount } = tables;
  const top = Object.values(peaks).find(({ bytes }) => bytes > Number.MAX_SAFE_INTEGER);
  if (top === undefined) return tables;
  const anomaly = {
    event: top.event,
    message: 'sizes add up to more than 2^53: sums are not exact',
  };
  return { ...tables, anomalyCount: anomalyCount + 1, anomalies: [...anomalies, anomaly] };
}

/** `reason`: one sentence for the user. */
interface JudgedRecording {
  readonly recording: Recording;
  readonly reason: string;
}

/**
 * Late and truncated recordings look alike: there are blocks without an alloc. It is truncated if the file says so, if
 * such a block or segment has a stack (it was recorded, and the entry is gone), or if the trace has a typical
 * max_entries number of entries.
 */
function judgeRecording(trace: DeviceTrace, before: Preexisting): JudgedRecording {
  const { length } = trace.events;
  const blocks = before.blocks.length;
  const segments = before.segments.length;
  const truncated = (why: string): JudgedRecording => ({
    recording: 'truncated',
    reason: `${why}, so the beginning of the recording is lost.`,
  });
  if (length === 0) {
    const reason = 'This device has no recorded history, only its final state.';
    return { recording: 'none', reason };
  }
  if (trace.opening !== undefined) {
    const reason =
      'This is part of a longer recording, which also has the state before its first event.';
    return { recording: 'preexisting', reason };
  }
  if (trace.ringOverflowed) return truncated('PyTorch reports that it dropped the oldest events');
  if (blocks === 0 && segments === 0) {
    return { recording: 'complete', reason: 'Nothing was allocated before the first event.' };
  }
  if (before.blocks.some(({ stack }) => stack > 0))
    return truncated('Some blocks have a recorded stack, but their alloc events are gone');
  if (before.segments.some(({ stack }) => stack > 0))
    return truncated(
      'Some segments have a recorded stack, but their segment_alloc events are gone',
    );
  if (trace.ringOverflowed === undefined && isRound(length)) {
    return truncated(
      `${blocks} blocks existed before the first event, and the trace has exactly ${length} events, so it probably reached max_entries`,
    );
  }
  const reason = `Recording began late: ${blocks} blocks in ${segments} segments existed before the first event.`;
  return { recording: 'preexisting', reason };
}

/** 3,000, 100,000, 65,536: typical values of max_entries. */
function isRound(length: number): boolean {
  const isPowerOfTwo = length >= 1024 && 2 ** Math.round(Math.log2(length)) === length;
  return isPowerOfTwo || (length >= 1000 && length % 1000 === 0);
}
