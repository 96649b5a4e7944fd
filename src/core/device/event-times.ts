import { upperBound } from '../base/binary-search.ts';
import type { EventIndex, EventTable } from '../snapshot/tables.ts';

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
