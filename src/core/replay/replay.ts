/** Replays one device's trace: whichever way its beginning is known. */
import type { DeviceTrace, Snapshot } from '../snapshot/tables.ts';
import { CounterReader } from './counters.ts';
import { DeviceReplay, type ReplayTables } from './device-replay.ts';
import { findPreexisting, openingOf, type Preexisting } from './preexisting.ts';
import { judgeRecording } from './recording.ts';
import { type BlockRules, blockRules } from './rounding.ts';
import { FinalPools } from './segment-tracker.ts';
import { type TraceKind, traceKindOf } from './trace-kind.ts';
import type { Counters, Replay } from './types.ts';

export const NOTHING: Preexisting = { blocks: [], segments: [] };

/**
 * Most recordings begin before the first allocation, so that is tried first; it costs half as much. At
 * the first event that contradicts it, or an end that is not the file's, what was there before is
 * worked out and the trace replayed from that.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
export function replayDevice(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  const rules = blockRules(settings);
  const kind = traceKindOf(trace);
  if (trace.opening === undefined && trace.events.length > 0) {
    const replay = begin(NOTHING, trace, kind, rules);
    if (replay.advance(trace.events, 0, trace.events.length, true)) {
      const tables = replay.tables();
      if (endsAsTheFile(trace, tables.end)) return completeReplay(tables, trace, NOTHING);
    }
  }
  const before =
    trace.opening === undefined
      ? findPreexisting(trace, kind, rules)
      : openingOf(trace, trace.opening);
  const replay = begin(before, trace, kind, rules);
  replay.advance(trace.events, 0, trace.events.length, false);
  replay.compareEnd(trace);
  return completeReplay(replay.tables(), trace, before);
}

function begin(
  before: Preexisting,
  trace: DeviceTrace,
  kind: TraceKind,
  rules: BlockRules,
): DeviceReplay {
  const replay = new DeviceReplay({
    kind,
    rules,
    before,
    pools: new FinalPools(trace),
    hasPools: trace.pools.length > 1,
    hasSegments: trace.segments.length > 0,
  });
  replay.reserve(trace.events.length, kind.allocs);
  return replay;
}

/** Reserved and active bytes are those of the final segments, where the file has any. */
export function endsAsTheFile({ segments }: DeviceTrace, end: Counters): boolean {
  if (segments.length === 0) return true;
  const sum = (column: Float64Array) => column.reduce((total, bytes) => total + bytes, 0);
  return (
    end.reservedBytes === sum(segments.totalBytes) && end.activeBytes === sum(segments.activeBytes)
  );
}

/** With what the whole file says of the recording. */
export function completeReplay(
  { log, ...tables }: ReplayTables,
  trace: DeviceTrace,
  before: Preexisting,
): Replay {
  const { recording, reason } = judgeRecording(trace, before);
  const { allocations, allocationOfEvent } = tables;
  const reader = new CounterReader(log, trace.events, allocations, allocationOfEvent);
  return {
    ...tables,
    recording,
    recordingReason: reason,
    countersAt: (event) => reader.at(event),
    fillCounter: (name, from, out) => reader.fill(name, from, out),
  };
}
