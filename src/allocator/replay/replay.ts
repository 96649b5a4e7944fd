/** Replays one device's trace: whichever way its beginning is known. */
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { counterReader } from './counters.ts';
import { DeviceReplay, type ReplayTables } from './device-replay.ts';
import { findPreexisting, openingOf, type Preexisting } from './preexisting.ts';
import { type BlockRules, blockRules } from './rounding.ts';
import { FinalPools } from './segment-tracker.ts';
import { type TraceKind, traceKindOf } from './trace-kind.ts';
import type { Counters, Recording, Replay } from './types.ts';

/**
 * Most recordings begin before the first allocation, so that is tried first; it costs half as much.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
export function replayDevice(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  return replayFromNothing(trace, settings) ?? replayFromBefore(trace, settings);
}

/** Works out what was there before the first event, and replays the trace from that. */
function replayFromBefore(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  const rules = blockRules(settings);
  const kind = traceKindOf(trace);
  const before =
    trace.opening === undefined
      ? findPreexisting(trace, kind, rules)
      : openingOf(trace, trace.opening);
  const replay = beginReplay(before, trace, kind, rules);
  replay.advance(trace.events, 0, trace.events.length, false);
  replay.compareEnd(trace);
  return completeReplay(replay.tables(), trace, before);
}

export const NOTHING: Preexisting = { blocks: [], segments: [] };

/**
 * Undefined at the first event that contradicts that nothing was allocated before, and where the end is not
 * that of the file: then `replayFromBefore` finds out what was.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
function replayFromNothing(trace: DeviceTrace, settings: Snapshot['settings']): Replay | undefined {
  if (trace.opening !== undefined || trace.events.length === 0) return undefined;
  const replay = beginReplay(NOTHING, trace, traceKindOf(trace), blockRules(settings));
  if (!replay.advance(trace.events, 0, trace.events.length, true)) return undefined;
  const tables = replay.tables();
  return endsAsTheFile(trace, tables.end) ? completeReplay(tables, trace, NOTHING) : undefined;
}

/** A replay that begins with what was there before, with room for all of the trace. */
function beginReplay(
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
  return {
    ...withInexactSums(tables),
    recording,
    recordingReason: reason,
    ...counterReader(log, trace.events, allocations, allocationOfEvent),
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

/** `reason`: one sentence for the user. */
interface JudgedRecording {
  readonly recording: Recording;
  readonly reason: string;
}

/**
 * Late and truncated look alike: blocks are there that no event made. Truncated it is when the file
 * says so, when such a block or segment has a stack (someone recorded it, and the entry is gone), or
 * when the trace has exactly as many entries as someone would ask for.
 */
function judgeRecording(trace: DeviceTrace, before: Preexisting): JudgedRecording {
  const { length } = trace.events;
  if (length === 0) {
    return {
      recording: 'none',
      reason: 'This device has no recorded history, only its final state.',
    };
  }
  if (trace.opening !== undefined) {
    return {
      recording: 'preexisting',
      reason:
        'This is part of a longer recording, which also has the state before its first event.',
    };
  }
  if (trace.ringOverflowed === true) {
    return truncated('PyTorch reports that it dropped the oldest events');
  }
  const blocks = before.blocks.length;
  const segments = before.segments.length;
  if (blocks === 0 && segments === 0) {
    return { recording: 'complete', reason: 'Nothing was allocated before the first event.' };
  }
  if (before.blocks.some((block) => block.stack > 0)) {
    return truncated('Some blocks have a recorded stack, but their alloc events are gone');
  }
  if (before.segments.some((segment) => segment.stack > 0)) {
    return truncated(
      'Some segments have a recorded stack, but their segment_alloc events are gone',
    );
  }
  if (trace.ringOverflowed === undefined && isRound(length)) {
    return truncated(
      `${blocks} blocks existed before the first event, and the trace has exactly ${length} events, so it probably reached max_entries`,
    );
  }
  return {
    recording: 'preexisting',
    reason: `Recording began late: ${blocks} blocks in ${segments} segments existed before the first event.`,
  };
}

function truncated(why: string): JudgedRecording {
  return { recording: 'truncated', reason: `${why}, so the beginning of the recording is lost.` };
}

/** 3,000, 100,000, 65,536: numbers that people give as max_entries. */
function isRound(length: number): boolean {
  const isPowerOfTwo = length >= 1024 && 2 ** Math.round(Math.log2(length)) === length;
  return isPowerOfTwo || (length >= 1000 && length % 1000 === 0);
}
