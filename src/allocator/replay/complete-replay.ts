/** Replays a trace that begins with nothing allocated, as most do, and what any replay is completed by. */
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { CounterReader } from './counters.ts';
import { DeviceReplay } from './device-replay.ts';
import type { Preexisting } from './preexisting.ts';
import { judgeRecording } from './recording.ts';
import type { ReplayTables } from './replay-tables.ts';
import { type BlockRules, blockRules } from './rounding.ts';
import { FinalPools } from './segment-tracker.ts';
import { type TraceKind, traceKindOf } from './trace-kind.ts';
import type { Counters, Replay } from './types.ts';

export const NOTHING: Preexisting = { blocks: [], segments: [] };

/**
 * Undefined at the first event that contradicts that nothing was allocated before, and where the end is not
 * that of the file: then `replayFromBefore` finds out what was.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
export function replayFromNothing(
  trace: DeviceTrace,
  settings: Snapshot['settings'],
): Replay | undefined {
  if (trace.opening !== undefined || trace.events.length === 0) return undefined;
  const replay = beginReplay(NOTHING, trace, traceKindOf(trace), blockRules(settings));
  if (!replay.advance(trace.events, 0, trace.events.length, true)) return undefined;
  const tables = replay.tables();
  return endsAsTheFile(trace, tables.end) ? completeReplay(tables, trace, NOTHING) : undefined;
}

/** A replay that begins with what was there before, with room for all of the trace. */
export function beginReplay(
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
    ...withInexactSums(tables),
    recording,
    recordingReason: reason,
    countersAt: (event) => reader.at(event),
    fillCounter: (name, from, out) => reader.fill(name, from, out),
  };
}

/** Sizes are exact up to 2^53, and so are the sums of any real recording; where they are not, that is said. */
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
