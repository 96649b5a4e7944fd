/** Replays one device's trace: whichever way its beginning is known. */
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { beginReplay, completeReplay, replayFromNothing } from './complete-replay.ts';
import { findPreexisting, openingOf } from './preexisting.ts';
import { blockRules } from './rounding.ts';
import { traceKindOf } from './trace-kind.ts';
import type { Replay } from './types.ts';

/**
 * Most recordings begin before the first allocation, so that is tried first; it costs half as much.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
export function replayDevice(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  return replayFromNothing(trace, settings) ?? replayFromBefore(trace, settings);
}

/** Works out what was there before the first event, and replays the trace from that. */
export function replayFromBefore(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
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
