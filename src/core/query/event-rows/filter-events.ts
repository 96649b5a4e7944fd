/** Which events to list: one pass over the trace, whatever the filter. */
import {
  ACTION_NAMES,
  type EventIndex,
  type EventTable,
  NO_STACK,
  TraceAction,
} from '../../snapshot/tables.ts';
import { privatePoolText, streamText } from '../allocation-details.ts';
import type { DeviceContext } from '../device-context.ts';
import { EventList } from './event-list.ts';
import type { SegmentEvents } from './segment-events.ts';
import type { EventFacets, EventFilter, SearchMasks } from './types.ts';

type Test = (event: EventIndex) => boolean;

/** 5.8 M events take 30 to 150 ms, by what is asked. */
export function filterEvents(
  context: DeviceContext,
  filter: EventFilter,
  search: SearchMasks,
  segments: SegmentEvents,
): EventList {
  const { events } = context.trace;
  const from = Math.max(0, filter.window?.from ?? 0);
  const to = Math.min(events.length, filter.window?.to ?? events.length);
  const tests = testsOf(context, filter, search, segments);
  const actions = new ActionWords(events);
  const counts = new Float64Array(actions.words.length);
  const isChosen = actions.words.map((word) => filter.actions?.includes(word) ?? true);
  const isGapless = tests.length === 0 && filter.actions === undefined;
  const found = new Uint32Array(isGapless ? 0 : Math.max(0, to - from));
  let length = 0;
  for (let event = from; event < to; event++) {
    if (!passes(tests, event)) continue;
    const word = actions.of(event);
    counts[word]++;
    if (!isGapless && isChosen[word]) found[length++] = event;
  }
  const list = isGapless ? { first: from, length: Math.max(0, to - from) } : found.slice(0, length);
  return new EventList(list, actions.count(counts));
}

/** What the device's events can be told apart by. */
export function eventFacets({ trace }: DeviceContext): EventFacets {
  const privatePools = trace.pools.map(privatePoolText).filter((text) => text !== undefined);
  return {
    streams: trace.streams.map(streamText),
    pools: ['small', 'large', ...new Set(privatePools)],
  };
}

function passes(tests: readonly Test[], event: EventIndex): boolean {
  for (let i = 0; i < tests.length; i++) if (!tests[i](event)) return false;
  return true;
}

function testsOf(
  context: DeviceContext,
  filter: EventFilter,
  search: SearchMasks,
  segments: SegmentEvents,
): readonly Test[] {
  const { events } = context.trace;
  const { allocationOfEvent } = context.replay;
  const { minBytes, maxBytes, stream, pool, allocation } = filter;
  const tests: Test[] = [];
  if (allocation !== undefined) tests.push((event) => allocationOfEvent[event] === allocation);
  if (stream !== undefined) tests.push((event) => events.stream[event] === stream);
  if (minBytes !== undefined) tests.push((event) => events.sizeBytes[event] >= minBytes);
  if (maxBytes !== undefined) tests.push((event) => events.sizeBytes[event] <= maxBytes);
  const { allocations, stacks } = search;
  if (allocations !== undefined && stacks !== undefined) {
    tests.push((event) => {
      const id = allocationOfEvent[event];
      return (id < 0 ? stacks[events.stack[event] - NO_STACK] : allocations[id]) === 1;
    });
  }
  if (pool !== undefined) tests.push(poolTest(context, segments, pool));
  return tests;
}

/** The pool of an event is that of its block or segment; others have none. */
function poolTest({ trace, replay }: DeviceContext, segments: SegmentEvents, pool: string): Test {
  const { allocationOfEvent, allocations, segmentSpans } = replay;
  const isSize = pool === 'small' || pool === 'large';
  const flag = pool === 'small' ? 1 : 0;
  const isMeant = trace.pools.map((entry) => privatePoolText(entry) === pool);
  const holds = (
    table: { readonly isSmall: Uint8Array; readonly pool: Uint16Array },
    row: number,
  ) => (isSize ? table.isSmall[row] === flag : isMeant[table.pool[row]] === true);
  return (event) => {
    const id = allocationOfEvent[event];
    if (id >= 0) return holds(allocations, id);
    const action = trace.events.action[event];
    if (action < TraceAction.SegmentAlloc || action > TraceAction.SegmentUnmap) return false;
    const span = segments.span(event);
    return span >= 0 && holds(segmentSpans, span);
  };
}

/** The words of a trace's actions: PyTorch's, then those that this version does not know. */
class ActionWords {
  readonly words: readonly string[];
  readonly #events: EventTable;
  readonly #unknown: readonly string[];

  constructor(events: EventTable) {
    this.#events = events;
    this.#unknown = [...new Set(events.unknownActions.values())].sort();
    this.words = [...ACTION_NAMES.slice(0, TraceAction.Unknown), ...this.#unknown];
  }

  /** Position in `words`. */
  of(event: EventIndex): number {
    const action = this.#events.action[event];
    if (action !== TraceAction.Unknown) return action;
    return action + this.#unknown.indexOf(this.#events.unknownActions.get(event) ?? '');
  }

  count(counts: Float64Array) {
    const occurs = new Uint8Array(this.words.length);
    const { action, length } = this.#events;
    for (let event = 0; event < length; event++) {
      if (action[event] !== TraceAction.Unknown) occurs[action[event]] = 1;
    }
    occurs.fill(1, TraceAction.Unknown);
    return this.words
      .map((action, word) => ({ action, count: counts[word] }))
      .filter((_, word) => occurs[word] === 1);
  }
}
