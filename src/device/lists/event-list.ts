/** Which events to list: one pass over the trace, whatever the filter. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import {
  ACTION_NAMES,
  type EventIndex,
  type EventTable,
  NO_STACK,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { SegmentEvents } from './segment-events.ts';

/** An event is listed if all conditions hold. Undefined: no condition. */
export interface EventFilter {
  /** PyTorch's words; unknown actions as written in the file. */
  readonly actions: readonly string[] | undefined;
  /** Bytes as recorded in the event, both bounds inclusive. */
  readonly minBytes: number | undefined;
  readonly maxBytes: number | undefined;
  /** Index into the device's streams. */
  readonly stream: number | undefined;
  /** As {@link EventFacets.pools} names them. */
  readonly pool: string | undefined;
  /** Events from `from` to before `to`. */
  readonly window: { readonly from: EventIndex; readonly to: EventIndex } | undefined;
  readonly allocation: AllocationIndex | undefined;
}

/**
 * What a search (src/device/search) lets through: events of matching allocations, and events without an allocation by
 * their stack. Undefined: all.
 */
export interface SearchMasks {
  /** By AllocationIndex. */
  readonly allocations: Uint8Array | undefined;
  /** Index: stack + 1; row 0 means no stack. */
  readonly stacks: Uint8Array | undefined;
}

export interface ActionCount {
  readonly action: string;
  readonly count: number;
}

/** 5.8 M events take 30 to 150 ms, depending on the filter. */
export function filterEvents(
  context: DeviceModel,
  filter: EventFilter,
  search: SearchMasks,
  segments: SegmentEvents,
): EventList {
  const { events } = context.trace;
  const from = Math.max(0, filter.window?.from ?? 0);
  const to = Math.min(events.length, filter.window?.to ?? events.length);
  const passes = eventTest(context, filter, search, segments);
  const { names, codeOf, isPresent } = actionNames(events);
  const counts = new Float64Array(names.length);
  const isChosen = names.map((name) => filter.actions?.includes(name) ?? true);
  const found = new Uint32Array(Math.max(0, to - from));
  let length = 0;
  for (let event = from; event < to; event++) {
    if (passes !== undefined && !passes(event)) continue;
    const code = codeOf(event);
    counts[code]++;
    if (isChosen[code]) found[length++] = event;
  }
  const actions = names
    .map((action, code) => ({ action, count: counts[code] }))
    .filter((_, code) => isPresent(code));
  return new EventList(length < found.length ? found.slice(0, length) : found, actions);
}

export type EventFacets = ReturnType<typeof eventFacets>;

/** The values to filter the device's events by. */
export function eventFacets({ trace }: DeviceModel) {
  const privatePools = trace.pools.map(privatePoolText).filter((text) => text !== undefined);
  return {
    /** By position; PyTorch's handle as text. */
    streams: trace.streams.map(streamText),
    /** 'small', 'large', and private pools as '(1, 0)'. */
    pools: ['small', 'large', ...new Set(privatePools)],
  };
}

/**
 * All filter conditions except the actions; undefined if there are none. One function with a branch per condition: a
 * list of functions, one per condition, takes twice as long.
 */
function eventTest(
  { trace, replay }: DeviceModel,
  { minBytes, maxBytes, stream, pool, allocation }: EventFilter,
  { allocations, stacks }: SearchMasks,
  segments: SegmentEvents,
): ((event: EventIndex) => boolean) | undefined {
  const isSearched = allocations !== undefined && stacks !== undefined;
  const conditions = [minBytes, maxBytes, stream, pool, allocation];
  if (!isSearched && conditions.every((wanted) => wanted === undefined)) return undefined;
  const { events } = trace;
  const least = minBytes ?? Number.NEGATIVE_INFINITY;
  const most = maxBytes ?? Number.POSITIVE_INFINITY;
  const isPool = trace.pools.map((entry) => privatePoolText(entry) === pool);
  /** An event's pool is its block's or segment's; other events have none. */
  const isInPool = (event: EventIndex, id: AllocationIndex): boolean => {
    const row = id < 0 ? segments.span(event) : id;
    const places = id < 0 ? replay.segmentSpans : replay.allocations;
    if (row < 0) return false;
    if (pool === 'small' || pool === 'large')
      return (places.isSmall[row] === 1) === (pool === 'small');
    return isPool[places.pool[row]];
  };
  return (event) => {
    if (stream !== undefined && events.stream[event] !== stream) return false;
    const bytes = events.sizeBytes[event];
    if (bytes < least || bytes > most) return false;
    const id = replay.allocationOfEvent[event];
    if (allocation !== undefined && id !== allocation) return false;
    if (isSearched) {
      const hit = id >= 0 ? allocations[id] : stacks[events.stack[event] - NO_STACK];
      if (hit !== 1) return false;
    }
    return pool === undefined || isInPool(event, id);
  };
}

/** Names of a trace's actions, PyTorch's, then unknown ones; and the place of an event's name among them. */
function actionNames({ action, length, unknownActions }: EventTable) {
  const unknown = [...new Set(unknownActions.values())].sort();
  const occurs = new Uint8Array(TraceAction.Unknown + 1);
  for (let event = 0; event < length; event++) occurs[action[event]] = 1;
  return {
    names: [...ACTION_NAMES.slice(0, TraceAction.Unknown), ...unknown],
    codeOf(event: EventIndex): number {
      const code = action[event];
      if (code !== TraceAction.Unknown) return code;
      return code + unknown.indexOf(unknownActions.get(event) ?? '');
    },
    isPresent: (code: number) => code >= TraceAction.Unknown || occurs[code] === 1,
  };
}

export class EventList {
  /**
   * Every action of the trace, with the number of events that it would list: those that pass the rest of the filter.
   */
  readonly actions: readonly ActionCount[];
  readonly #events: Uint32Array;

  constructor(events: Uint32Array, actions: readonly ActionCount[]) {
    this.#events = events;
    this.actions = actions;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Row of the event or of the first listed event after it; the list's length if there is none. */
  rowIndex(event: EventIndex) {
    const row = lowerBound(this.#events, event);
    return { row, isListed: this.#events[row] === event };
  }

  /** Rows from `from` to before `to`, clamped to the list. */
  slice(from: number, to: number): readonly EventIndex[] {
    return [...this.#events.subarray(Math.max(0, from), Math.max(0, to))];
  }
}
