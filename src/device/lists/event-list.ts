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
  const test = new EventTest(context, filter, search, segments);
  const actions = new ActionNames(events);
  const counts = new Float64Array(actions.names.length);
  const isChosen = actions.names.map((name) => filter.actions?.includes(name) ?? true);
  const isGapless = !test.isNeeded && filter.actions === undefined;
  const found = new Uint32Array(isGapless ? 0 : Math.max(0, to - from));
  let length = 0;
  for (let event = from; event < to; event++) {
    if (test.isNeeded && !test.passes(event)) continue;
    const code = actions.of(event);
    counts[code]++;
    if (!isGapless && isChosen[code]) found[length++] = event;
  }
  const list = isGapless ? { first: from, length: Math.max(0, to - from) } : found.slice(0, length);
  return new EventList(list, actions.count(counts));
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
 * All filter conditions except the actions. One method with a branch per condition: a list of functions, one per
 * condition, takes twice as long.
 */
class EventTest {
  readonly isNeeded: boolean;
  readonly #context: DeviceModel;
  readonly #filter: EventFilter;
  readonly #search: { readonly allocations: Uint8Array; readonly stacks: Uint8Array } | undefined;
  readonly #segments: SegmentEvents;
  readonly #minBytes: number;
  readonly #maxBytes: number;
  /** By position in the device's pools. */
  readonly #isPool: readonly boolean[];

  constructor(
    context: DeviceModel,
    filter: EventFilter,
    { allocations, stacks }: SearchMasks,
    segments: SegmentEvents,
  ) {
    this.#context = context;
    this.#filter = filter;
    this.#search = allocations && stacks && { allocations, stacks };
    this.#segments = segments;
    const { minBytes, maxBytes, stream, pool, allocation } = filter;
    this.#minBytes = minBytes ?? Number.NEGATIVE_INFINITY;
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
    this.#isPool = context.trace.pools.map((entry) => privatePoolText(entry) === pool);
    this.isNeeded =
      this.#search !== undefined ||
      [minBytes, maxBytes, stream, pool, allocation].some((wanted) => wanted !== undefined);
  }

  passes(event: EventIndex): boolean {
    const { stream, pool, allocation } = this.#filter;
    const { events } = this.#context.trace;
    if (stream !== undefined && events.stream[event] !== stream) return false;
    const bytes = events.sizeBytes[event];
    if (bytes < this.#minBytes || bytes > this.#maxBytes) return false;
    const id = this.#context.replay.allocationOfEvent[event];
    if (allocation !== undefined && id !== allocation) return false;
    return this.#isFound(event, id) && (pool === undefined || this.#isIn(pool, event, id));
  }

  #isFound(event: EventIndex, id: AllocationIndex): boolean {
    if (this.#search === undefined) return true;
    if (id >= 0) return this.#search.allocations[id] === 1;
    return this.#search.stacks[this.#context.trace.events.stack[event] - NO_STACK] === 1;
  }

  /** An event's pool is its block's or segment's; other events have none. */
  #isIn(pool: string, event: EventIndex, id: AllocationIndex): boolean {
    const { replay } = this.#context;
    const row = id < 0 ? this.#segments.span(event) : id;
    const places = id < 0 ? replay.segmentSpans : replay.allocations;
    if (row < 0) return false;
    if (pool === 'small') return places.isSmall[row] === 1;
    if (pool === 'large') return places.isSmall[row] === 0;
    return this.#isPool[places.pool[row]];
  }
}

/** Names of a trace's actions: PyTorch's, then unknown ones. */
class ActionNames {
  readonly names: readonly string[];
  readonly #events: EventTable;
  readonly #unknown: readonly string[];

  constructor(events: EventTable) {
    this.#events = events;
    this.#unknown = [...new Set(events.unknownActions.values())].sort();
    this.names = [...ACTION_NAMES.slice(0, TraceAction.Unknown), ...this.#unknown];
  }

  /** Index into `names`. */
  of(event: EventIndex): number {
    const action = this.#events.action[event];
    if (action !== TraceAction.Unknown) return action;
    return action + this.#unknown.indexOf(this.#events.unknownActions.get(event) ?? '');
  }

  count(counts: Float64Array) {
    const occurs = new Uint8Array(this.names.length);
    const { action, length } = this.#events;
    for (let event = 0; event < length; event++) {
      if (action[event] !== TraceAction.Unknown) occurs[action[event]] = 1;
    }
    occurs.fill(1, TraceAction.Unknown);
    return this.names
      .map((action, code) => ({ action, count: counts[code] }))
      .filter((_, code) => occurs[code] === 1);
  }
}

export interface EventRowIndex {
  /** Row of the event or of the first listed event after it; the list's length if there is none. */
  readonly row: number;
  readonly isListed: boolean;
}

export class EventList {
  readonly length: number;
  /**
   * Every action of the trace, with the number of events that it would list: those that pass the rest of the filter.
   */
  readonly actions: readonly ActionCount[];
  /** Undefined: all events from #first on. */
  readonly #events: Uint32Array | undefined;
  readonly #first: EventIndex;

  constructor(
    events: Uint32Array | { readonly first: EventIndex; readonly length: number },
    actions: readonly ActionCount[],
  ) {
    this.length = events.length;
    this.actions = actions;
    this.#events = 'first' in events ? undefined : events;
    this.#first = 'first' in events ? events.first : 0;
  }

  event(row: number): EventIndex {
    return this.#events === undefined ? this.#first + row : this.#events[row];
  }

  rowIndex(event: EventIndex): EventRowIndex {
    const row =
      this.#events === undefined
        ? Math.max(0, Math.min(event - this.#first, this.length))
        : lowerBound(this.#events, event);
    return { row, isListed: row < this.length && this.event(row) === event };
  }

  /** Rows from `from` to before `to`, clamped to the list. */
  slice(from: number, to: number): readonly EventIndex[] {
    const first = Math.max(0, from);
    const count = Math.max(0, Math.min(to, this.length) - first);
    return Array.from({ length: count }, (_, i) => this.event(first + i));
  }
}
