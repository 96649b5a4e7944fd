/** Events of a trace that several features look for. */
import { upperBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/grouping.ts';
import { growableInt32 } from '../../base/growable.ts';
import {
  type DeviceTrace,
  EMPTY_STACK,
  type EventIndex,
  type EventTable,
  NO_STACK,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { type AllocationIndex, type AllocationTable, NEVER, type Replay } from './types.ts';

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

/**
 * Allocations that are live in the state after an event, ascending; -1 is the state before the
 * trace. A plain scan of one column: 2 ms for 1.9 M allocations, for questions that are asked once
 * a step. Drawing, which asks for each column of pixels, has a pyramid (src/draw/timeline).
 */
export function liveAt({ start, end }: AllocationTable, event: EventIndex): Int32Array {
  const live = growableInt32();
  const until = upperBound(start, event);
  for (let id = 0; id < until; id++) if (end[id] > event) live.push(id);
  return live.finish();
}

/**
 * OOM events whose error the program did not see. A library may ask for less when it does not get what it
 * would like: cuDNN tries the algorithms of a convolution one by one, each with a workspace of its own,
 * and dozens may fail before one fits. PyTorch writes an oom entry for each of them.
 *
 *   oom 332 MiB, oom 325 MiB, alloc 1 MiB      all from one stack: it was retried, and got it
 *   oom 226 MiB, free_requested …              the error went up to the program, which let go of things
 *
 * So such an oom is followed at once, with nothing freed or emptied by others, by an alloc or another oom
 * of the very same stack. Of backward's threads, which have none, the empty stack counts as one, where
 * others of the recording have frames.
 */

/** Those of the trace, in order. Without recorded stacks none can be found. */
export function findRetriedOoms(
  { events }: Pick<DeviceTrace, 'events'>,
  { allocationOfEvent, allocations }: Pick<Replay, 'allocationOfEvent' | 'allocations'>,
): ReadonlySet<EventIndex> {
  const { action } = events;
  const found = new Set<EventIndex>();
  const hasStacks = allocations.stack.some((stack) => stack > EMPTY_STACK);
  const stackOf = (event: EventIndex): StackIndex =>
    action[event] === TraceAction.Alloc
      ? allocations.stack[allocationOfEvent[event]]
      : events.stack[event];
  if (!hasStacks) return found;
  for (const oom of eventsOf(events, TraceAction.Oom)) {
    const stack = events.stack[oom];
    if (stack === NO_STACK) continue;
    let next = oom + 1;
    while (next < action.length && isOfDriver(action[next]) && stackOf(next) === stack) next++;
    const isAsked = action[next] === TraceAction.Alloc || action[next] === TraceAction.Oom;
    if (isAsked && stackOf(next) === stack) found.add(oom);
  }
  return found;
}

/** OOM events whose error the program saw, in order. */
export function failedOoms(
  trace: Pick<DeviceTrace, 'events'>,
  replay: Pick<Replay, 'allocationOfEvent' | 'allocations'>,
): EventIndex[] {
  const retried = findRetriedOoms(trace, replay);
  return eventsOf(trace.events, TraceAction.Oom).filter((event) => !retried.has(event));
}

/** Segments that come and go for the request itself. */
function isOfDriver(action: number): boolean {
  return (
    action === TraceAction.SegmentAlloc ||
    action === TraceAction.SegmentFree ||
    action === TraceAction.SegmentMap ||
    action === TraceAction.SegmentUnmap
  );
}
