/** Events of a device: when they happened, what they are called, and the state after one. */

import type { Replay } from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import {
  ACTION_NAMES,
  type DeviceTrace,
  type EventIndex,
  type EventTable,
} from '../../format/snapshot/tables.ts';
import type { Crosshair } from './types.ts';

/** Microseconds since the device's first event; NaN without times and for events outside the trace. */
export function timeOfEventUs(events: EventTable, event: EventIndex): number {
  const { timeUs } = events;
  if (timeUs === undefined || event < 0 || event >= events.length) return Number.NaN;
  return timeUs[event] - timeUs[0];
}

/** Microseconds from the first to the last event; 0 without times or events. */
export function durationUs(events: EventTable): number {
  return events.length === 0 ? 0 : timeOfEventUs(events, events.length - 1) || 0;
}

/**
 * The last event at or before `timeUs` (since the first event), whose state holds then.
 * -1 before the first event and without times.
 */
export function eventAtTime(events: EventTable, timeUs: number): EventIndex {
  if (events.timeUs === undefined || events.length === 0) return -1;
  return upperBound(events.timeUs, timeUs + events.timeUs[0]) - 1;
}

/** State after an event. Events beyond the ends of the trace are taken as -1 (before it) and the last. */
export function crosshairAt(
  { trace, replay }: { readonly trace: DeviceTrace; readonly replay: Replay },
  event: EventIndex,
): Crosshair {
  const clamped = Math.max(-1, Math.min(event, trace.events.length - 1));
  return {
    event: clamped,
    action: clamped < 0 ? '' : actionName(trace.events, clamped),
    timeUs: timeOfEventUs(trace.events, clamped),
    counters: replay.countersAt(clamped),
  };
}

/** PyTorch's word, also for actions that this version does not know. */
export function actionName(events: EventTable, event: EventIndex): string {
  return events.unknownActions.get(event) ?? ACTION_NAMES[events.action[event]];
}

/**
 * The events in a window of the timeline, its edges included: on the event axis "state t" spans t to
 * t + 1, so 10.5 to 12.2 are events 10 to 12; on the time axis (microseconds since the first event)
 * those that happened in between. Without times, all.
 */
export function eventsInWindow(
  events: EventTable,
  axis: 'event' | 'time',
  range: { readonly from: number; readonly to: number },
): { readonly from: EventIndex; readonly to: EventIndex } {
  if (axis === 'event') {
    return { from: Math.max(0, Math.floor(range.from)), to: Math.max(0, Math.ceil(range.to)) };
  }
  const { timeUs, length } = events;
  if (timeUs === undefined || length === 0) return { from: 0, to: length };
  return {
    from: lowerBound(timeUs, range.from + timeUs[0]),
    to: upperBound(timeUs, range.to + timeUs[0]),
  };
}
