import { upperBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/collections.ts';
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
 * Allocations without their own free that end at another event, by that event. Only traces that contradict themselves
 * have any.
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
 * Allocations that are live after an event, ascending; -1 is the state before the trace. Scans one column: 2 ms for 1.9
 * M allocations, for questions asked once per step. Drawing asks for each column of pixels and uses a pyramid
 * (src/draw/timeline).
 */
export function liveAt({ start, end }: AllocationTable, event: EventIndex): Int32Array {
  const live = growableInt32();
  const until = upperBound(start, event);
  for (let id = 0; id < until; id++) if (end[id] > event) live.push(id);
  return live.finish();
}

/**
 * OOM events whose error the program did not see. A library may try again with less: cuDNN tries the algorithms of a
 * convolution one by one, each with its own workspace, and dozens may fail before one fits. PyTorch writes an oom entry
 * for each attempt.
 *
 *   oom 332 MiB, oom 325 MiB, alloc 1 MiB      all from one stack: it was retried and succeeded
 *   oom 226 MiB, free_requested …              the error reached the program, which freed memory
 *
 * So such an oom is followed by an alloc of exactly the same stack, with nothing freed or emptied by others in between.
 * If another oom of that stack follows, both are one attempt, even if the cache was emptied before: the last counts.
 * The empty stack of backward threads counts as one stack if the recording has other stacks.
 *
 *   oom 1.09 GiB, line 38: conv(x)     free 556 MiB, line 38     alloc 556 MiB, line 39
 *
 * A convolution may also do without a workspace. Then its forward goes on, or the forward that called it: the next
 * request comes from a line further down. An error would have left all forwards, and another try begins at the top.
 */

const FREES: ReadonlySet<number> = new Set([TraceAction.FreeRequested, TraceAction.FreeCompleted]);

/** What a stack says about the code: device/model/stacks.ts. */
export interface StackSites {
  /** Stacks that count as one: an operator may try another path through C++ in the same line of Python. */
  siteOf(stack: StackIndex): StackIndex;
  /** Whether both stacks are in one forward of a module, `later` in a line of it further down. */
  isFurtherOn(later: StackIndex, stack: StackIndex): boolean;
}

const AS_RECORDED: StackSites = { siteOf: (stack) => stack, isFurtherOn: () => false };

/** The retried OOM events of the trace, in order. None can be found without recorded stacks. */
export function findRetriedOoms(
  { events }: Pick<DeviceTrace, 'events'>,
  { allocationOfEvent, allocations }: Pick<Replay, 'allocationOfEvent' | 'allocations'>,
  { siteOf, isFurtherOn } = AS_RECORDED,
): ReadonlySet<EventIndex> {
  const { action } = events;
  const found = new Set<EventIndex>();
  const hasStacks = allocations.stack.some((stack) => stack > EMPTY_STACK);
  const stackOf = (event: EventIndex): StackIndex =>
    siteOf(
      action[event] === TraceAction.Alloc
        ? allocations.stack[allocationOfEvent[event]]
        : events.stack[event],
    );
  const goesOn = (oom: EventIndex): boolean => {
    let next = oom + 1;
    while (FREES.has(action[next]) || isSegmentAction(action[next])) next++;
    const isAsked = action[next] === TraceAction.Alloc || action[next] === TraceAction.Oom;
    return isAsked && isFurtherOn(stackOf(next), events.stack[oom]);
  };
  const isOwnFree = (event: EventIndex, stack: StackIndex): boolean =>
    FREES.has(action[event]) && siteOf(events.stack[event]) === stack;
  if (!hasStacks) return found;
  for (const oom of eventsOf(events, TraceAction.Oom)) {
    if (events.stack[oom] === NO_STACK) continue;
    const stack = siteOf(events.stack[oom]);
    let next = oom + 1;
    let isOwn = true;
    // The allocator may free and allocate segments for the request itself, and the operator its other tensors.
    for (; isSegmentAction(action[next]) || isOwnFree(next, stack); next++)
      isOwn &&= isSegmentAction(action[next]) && stackOf(next) === stack;
    const isAsked =
      action[next] === TraceAction.Oom || (isOwn && action[next] === TraceAction.Alloc);
    if ((isAsked && stackOf(next) === stack) || goesOn(oom)) found.add(oom);
  }
  return found;
}

/** The OOM events that reached the program as errors. */
export function failedOoms(
  trace: Pick<DeviceTrace, 'events'>,
  replay: Pick<Replay, 'allocationOfEvent' | 'allocations'>,
  stacks: StackSites,
): EventIndex[] {
  const retried = findRetriedOoms(trace, replay, stacks);
  return eventsOf(trace.events, TraceAction.Oom).filter((event) => !retried.has(event));
}

export function isSegmentAction(action: number): boolean {
  return action >= TraceAction.SegmentAlloc && action <= TraceAction.SegmentUnmap;
}

/** The device gives memory to the allocator: cudaMalloc, or a mapping of an expandable segment. */
export function isReserving(action: number): boolean {
  return action === TraceAction.SegmentAlloc || action === TraceAction.SegmentMap;
}

/** The allocator gives memory back to the device. */
export function isReleasing(action: number): boolean {
  return action === TraceAction.SegmentFree || action === TraceAction.SegmentUnmap;
}
