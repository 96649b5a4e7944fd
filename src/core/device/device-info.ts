import { ACTION_NAMES, type EventTable, TraceAction } from '../snapshot/tables.ts';
import type { DeviceContext } from './device-context.ts';
import { durationUs, timeOfEventUs } from './event-times.ts';
import type { DeviceInfo, OomInfo } from './types.ts';

/** What is said of a device before anything of it is looked at. `index`: its place in the session. */
export function deviceInfo({ trace, replay }: DeviceContext, index: number): DeviceInfo {
  const { events } = trace;
  return {
    index,
    device: trace.device,
    kind: trace.kind,
    events: events.length,
    actions: countActions(events),
    allocations: replay.allocations.length,
    preexisting: replay.allocations.preexisting,
    segmentsAtEnd: trace.segments.length,
    recording: replay.recording,
    recordingReason: replay.recordingReason,
    start: replay.start,
    end: replay.end,
    peaks: replay.peaks,
    anomalies: replay.anomalyCount,
    hasTime: events.timeUs !== undefined,
    hasCategory: events.category !== undefined,
    durationUs: durationUs(events),
    ooms: eventsOf(events, TraceAction.Oom).map((event) => oomInfo(events, event)),
    snapshots: eventsOf(events, TraceAction.Snapshot),
  };
}

/** Number of events by PyTorch's word for their action; unknown words as the file has them. */
function countActions(events: EventTable): Record<string, number> {
  const byAction = new Int32Array(Object.keys(TraceAction).length);
  for (let event = 0; event < events.length; event++) byAction[events.action[event]]++;
  byAction[TraceAction.Unknown] -= events.unknownActions.size;
  const counts = new Map<string, number>();
  byAction.forEach((count, action) => {
    if (count > 0) counts.set(ACTION_NAMES[action], count);
  });
  for (const word of events.unknownActions.values()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function eventsOf(events: EventTable, action: TraceAction): number[] {
  const found: number[] = [];
  for (let at = events.action.indexOf(action); at >= 0; at = events.action.indexOf(action, at + 1))
    found.push(at);
  return found;
}

function oomInfo(events: EventTable, event: number): OomInfo {
  return {
    event,
    timeUs: timeOfEventUs(events, event),
    requestedBytes: events.sizeBytes[event],
    deviceFreeBytes: events.oomDeviceFreeBytes.get(event) ?? Number.NaN,
  };
}
