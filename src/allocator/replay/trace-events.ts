/** Events of a trace that several features look for. */
import { addTo } from '../../base/grouping.ts';
import type { EventIndex, EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { type AllocationIndex, NEVER, type Replay } from './types.ts';

/** All events of one action, in order. */
export function eventsOf(
  { action }: Pick<EventTable, 'action'>,
  wanted: TraceAction,
): EventIndex[] {
  const found: EventIndex[] = [];
  for (let at = action.indexOf(wanted); at >= 0; at = action.indexOf(wanted, at + 1)) {
    found.push(at);
  }
  return found;
}

/**
 * Allocations that end at an event which is no free of theirs, because their own is not in the trace; by that
 * event. Only traces that contradict themselves have any.
 *
 * @param column freeRequested: where allocated bytes fall; end: where active bytes fall
 */
export function endsWithoutFree(
  { allocations, allocationOfEvent }: Pick<Replay, 'allocations' | 'allocationOfEvent'>,
  column: 'freeRequested' | 'end',
): ReadonlyMap<EventIndex, readonly AllocationIndex[]> {
  const ended = new Map<EventIndex, AllocationIndex[]>();
  const eventOf = allocations[column];
  for (let id = 0; id < allocations.length; id++) {
    const event = eventOf[id];
    if (event === NEVER || event < 0 || allocationOfEvent[event] === id) continue;
    addTo(ended, event, id);
  }
  return ended;
}
