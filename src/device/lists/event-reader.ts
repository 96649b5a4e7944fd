/** Reads events, as rows and in full. */

import { isSegmentAction } from '../../allocator/replay/trace-events.ts';
import { type AllocationIndex, BEFORE_TRACE, NEVER } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { carriedValues } from '../model/allocation-details.ts';
import { earlierUses, labelText, privatePoolText, streamText } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { actionName, timeOfEventUs } from '../model/events.ts';
import { type CallSiteLine, stackKind } from '../model/stacks.ts';
import { SegmentEvents } from './segment-events.ts';

/** The other end of what an event begins or ends. */
export type EventPair =
  | { readonly kind: 'event'; readonly event: EventIndex; readonly action: string }
  /** It already existed when recording began. */
  | { readonly kind: 'before-trace' }
  /** It still existed when the trace ended. */
  | { readonly kind: 'after-trace' }
  /** The event contradicts the known state: a free of a block that nobody allocated. */
  | { readonly kind: 'unknown' }
  /** Events that neither begin nor end anything: oom, snapshot, annotate. */
  | { readonly kind: 'none' };

type EventLine = Omit<CallSiteLine, 'topFrame'> & { readonly frame: CallSiteLine['topFrame'] };

export type EventRow = ReturnType<EventReader['rows']>[number];
export type EventDetails = ReturnType<EventReader['details']>;

/** Reads a device's events. */
export class EventReader {
  readonly segments: SegmentEvents;
  readonly #context: DeviceModel;

  constructor(context: DeviceModel) {
    this.#context = context;
    this.segments = new SegmentEvents(context);
  }

  /** @param list events of the trace, all in range */
  rows(list: readonly EventIndex[]) {
    // Few stacks make many events, so each stack is read once.
    const lineOf = memoized((stack: StackIndex) => this.#line(stack));
    return list.map((event) => this.#row(event, lineOf(this.#context.trace.events.stack[event])));
  }

  details(event: EventIndex) {
    const { trace, replay, stacks } = this.#context;
    const { events } = trace;
    const allocation = replay.allocationOfEvent[event];
    const stack = events.stack[event];
    const isAlloc = events.action[event] === TraceAction.Alloc;
    return {
      ...this.#row(event, this.#line(stack)),
      ...carriedValues(this.#context, event),
      counters: replay.countersAt(event),
      stack: stacks.view(stack),
      /** A free has the same stack as its alloc: PyTorch repeats it under context='alloc'. */
      stackIsAllocStack:
        allocation >= 0 &&
        !isAlloc &&
        stack > EMPTY_STACK &&
        stack === replay.allocations.stack[allocation],
      /** NaN if the event belongs to no block. */
      blockBytes: allocation < 0 ? Number.NaN : replay.allocations.sizeBytes[allocation],
      /** oom only: free bytes that the driver reported; NaN if it reported none. */
      deviceFreeBytes: events.oomDeviceFreeBytes.get(event) ?? Number.NaN,
      /** The other events of the same allocation or segment, in order. */
      related: this.#related(event).map((other) => ({
        event: other,
        action: actionName(events, other),
      })),
      /** Keys that no known version writes, as text. */
      unknownKeys: [...events.unknownKeys].flatMap(([key, values]) => {
        const value = values.get(event);
        return value === undefined ? [] : [{ key, value }];
      }),
      /** How the event contradicts the state before it, if recorded. */
      anomaly: replay.anomalies.find((anomaly) => anomaly.event === event)?.message,
    };
  }

  #line(stack: StackIndex): EventLine {
    const { stacks } = this.#context;
    return {
      stackKind: stackKind(stack, false),
      frame: stacks.topUserFrameView(stack),
      leafFrame: stacks.leafFrameView(stacks.siteOf(stack)),
    };
  }

  #row(event: EventIndex, line: EventLine) {
    const { trace, replay } = this.#context;
    const { events } = trace;
    const allocation = replay.allocationOfEvent[event];
    const { allocatedBytes, reservedBytes } = replay.countersAt(event);
    return {
      event,
      /** PyTorch's word, even for unknown actions. */
      action: actionName(events, event),
      /** Microseconds since the first event; NaN without times. */
      timeUs: timeOfEventUs(events, event),
      /** As PyTorch's viewer writes it: b7f064c000000_2, for segments s7f064c000000_0; '' without an address. */
      address: this.#address(event),
      /** As recorded: requested bytes for alloc and free, actual bytes for segments. */
      sizeBytes: events.sizeBytes[event],
      stream: streamText(trace.streams[events.stream[event]]),
      ...this.#pools(event),
      /** After the event. */
      allocatedBytes,
      reservedBytes,
      ...line,
      /** Label of its allocation. */
      allocation: allocation < 0 ? undefined : this.#label(allocation),
      /** An alloc's free (its request, if recorded), a free's alloc; likewise for segments. */
      pair: this.#pair(event),
    };
  }

  #label(allocation: AllocationIndex): string {
    const { snapshot, replay } = this.#context;
    const { allocations } = replay;
    const uses = earlierUses(allocations)[allocation];
    return labelText(snapshot.addresses, allocations.address[allocation], uses);
  }

  /** For a block without a known allocation the use count is unknown, so the label has no number. */
  #address(event: EventIndex): string {
    const { snapshot, trace, replay } = this.#context;
    const { action, address } = trace.events;
    const allocation = replay.allocationOfEvent[event];
    if (allocation >= 0) return this.#label(allocation);
    if (address[event] === 0) return '';
    const hex = snapshot.addresses.toHex(address[event]);
    if (action[event] <= TraceAction.FreeCompleted) return `b${hex}`;
    return isSegmentAction(action[event]) ? `s${hex}_${this.segments.earlierUses(event)}` : hex;
  }

  /** Both undefined if the event belongs to no known block or segment. */
  #pools(event: EventIndex) {
    const { trace, replay } = this.#context;
    const allocation = replay.allocationOfEvent[event];
    const row = allocation < 0 ? this.segments.span(event) : allocation;
    const { isSmall, pool } = allocation < 0 ? replay.segmentSpans : replay.allocations;
    return {
      pool: row < 0 ? undefined : isSmall[row] === 1 ? ('small' as const) : ('large' as const),
      privatePool: row < 0 ? undefined : privatePoolText(trace.pools[pool[row]]),
    };
  }

  #pair(event: EventIndex): EventPair {
    const action = this.#context.trace.events.action[event];
    if (!isSegmentAction(action) && action > TraceAction.FreeCompleted) return { kind: 'none' };
    const other = this.#other(event);
    if (other === undefined) return { kind: 'unknown' };
    if (other === NEVER) return { kind: 'after-trace' };
    if (other === BEFORE_TRACE) return { kind: 'before-trace' };
    return { kind: 'event', event: other, action: actionName(this.#context.trace.events, other) };
  }

  #other(event: EventIndex): EventIndex | undefined {
    const { trace, replay } = this.#context;
    const allocation = replay.allocationOfEvent[event];
    if (allocation < 0) return this.segments.others(event)[0];
    const { start, freeRequested, end } = replay.allocations;
    if (trace.events.action[event] !== TraceAction.Alloc) return start[allocation];
    return Math.min(freeRequested[allocation], end[allocation]);
  }

  #related(event: EventIndex): readonly EventIndex[] {
    const { allocations, allocationOfEvent } = this.#context.replay;
    const allocation = allocationOfEvent[event];
    const { start, freeRequested, end } = allocations;
    const all =
      allocation < 0
        ? this.segments.others(event)
        : [start[allocation], freeRequested[allocation], end[allocation]];
    const inTrace = all.filter((other) => other !== BEFORE_TRACE && other !== NEVER);
    return [...new Set(inTrace)].filter((other) => other !== event);
  }
}
