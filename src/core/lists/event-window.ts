import { lowerBound, upperBound } from '../base/binary-search.ts';
import type { EventTable } from '../snapshot/tables.ts';
import type { EventFilter } from './event-list-types.ts';

/**
 * The events in a window of the timeline, its edges included: on the event axis "state t" spans t to
 * t + 1, so 10.5 to 12.2 are events 10 to 12; on the time axis (microseconds since the first event)
 * those that happened in between. Without times, all.
 */
export function eventsInWindow(
  events: EventTable,
  axis: 'event' | 'time',
  range: { readonly from: number; readonly to: number },
): NonNullable<EventFilter['window']> {
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
