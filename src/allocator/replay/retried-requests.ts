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
import {
  type DeviceTrace,
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { eventsOf } from './trace-events.ts';
import type { Replay } from './types.ts';

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
