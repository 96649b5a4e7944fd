/** Events as rows and in full. */

import { type AllocationIndex, BEFORE_TRACE, NEVER } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/memoized.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import {
  carriedValues,
  earlierUses,
  privatePoolText,
  streamText,
} from '../model/allocation-details.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { actionName, timeOfEventUs } from '../model/events.ts';
import { stackKind } from '../model/stacks.ts';
import type { EventDetails, EventPair, EventRow } from './event-list-types.ts';
import { isSegmentAction, SegmentEvents } from './segment-events.ts';

/** Reads events of one device; keeps what tables of them need (8 MB at 1.9 M allocations). */
export class EventReader {
  readonly segments: SegmentEvents;
  readonly #context: DeviceModel;
  readonly #usesOf: () => Int32Array;
  #uses: Int32Array | undefined;

  /** @param usesOf gives `earlierUses` of the context, where others have it already */
  constructor(
    context: DeviceModel,
    usesOf: () => Int32Array = () => earlierUses(context.replay.allocations),
  ) {
    this.#context = context;
    this.#usesOf = usesOf;
    this.segments = new SegmentEvents(context);
  }

  /** @param list events of the trace, each in its range */
  rows(list: readonly EventIndex[]): readonly EventRow[] {
    // Few stacks make many events: each is looked through once.
    const lineOf = memoized((stack: StackIndex) => this.#lineOf(stack));
    return list.map((event) => this.#row(event, lineOf(this.#context.trace.events.stack[event])));
  }

  details(event: EventIndex): EventDetails {
    const { trace, replay, stacks } = this.#context;
    const { events } = trace;
    const allocation = replay.allocationOfEvent[event];
    const stack = events.stack[event];
    const isAlloc = events.action[event] === TraceAction.Alloc;
    return {
      ...this.#row(event, this.#lineOf(stack)),
      ...carriedValues(this.#context, event),
      counters: replay.countersAt(event),
      stack: stacks.view(stack),
      stackIsAllocStack:
        allocation >= 0 &&
        !isAlloc &&
        stack > EMPTY_STACK &&
        stack === replay.allocations.stack[allocation],
      blockBytes: allocation < 0 ? Number.NaN : replay.allocations.sizeBytes[allocation],
      deviceFreeBytes: events.oomDeviceFreeBytes.get(event) ?? Number.NaN,
      related: this.#related(event).map((other) => ({
        event: other,
        action: actionName(events, other),
      })),
      unknownKeys: [...events.unknownKeys].flatMap(([key, values]) => {
        const value = values.get(event);
        return value === undefined ? [] : [{ key, value }];
      }),
      anomaly: replay.anomalies.find((anomaly) => anomaly.event === event)?.message,
    };
  }

  #lineOf(stack: StackIndex): Pick<EventRow, 'frame' | 'leafFrame'> {
    const { stacks } = this.#context;
    return {
      frame: stacks.topUserFrameView(stack),
      leafFrame: stacks.leafFrameView(stacks.siteOf(stack)),
    };
  }

  #row(event: EventIndex, line: Pick<EventRow, 'frame' | 'leafFrame'>): EventRow {
    const { trace, replay } = this.#context;
    const { events } = trace;
    const allocation = replay.allocationOfEvent[event];
    const { allocatedBytes, reservedBytes } = replay.countersAt(event);
    return {
      event,
      action: actionName(events, event),
      timeUs: timeOfEventUs(events, event),
      address: this.#address(event),
      sizeBytes: events.sizeBytes[event],
      stream: streamText(trace.streams[events.stream[event]]),
      ...this.#pools(event),
      allocatedBytes,
      reservedBytes,
      ...line,
      stackKind: stackKind(events.stack[event], false),
      allocation: allocation < 0 ? undefined : this.#label(allocation),
      pair: this.#pair(event),
    };
  }

  #label(allocation: AllocationIndex): string {
    const { snapshot, replay } = this.#context;
    this.#uses ??= this.#usesOf();
    const address = snapshot.addresses.toHex(replay.allocations.address[allocation]);
    return `b${address}_${this.#uses[allocation]}`;
  }

  /** A block whose allocation is unknown has an unknown use: no number then. */
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

  #pools(event: EventIndex): Pick<EventRow, 'pool' | 'privatePool'> {
    const { trace, replay } = this.#context;
    const allocation = replay.allocationOfEvent[event];
    const span = allocation < 0 ? this.#span(event) : -1;
    if (allocation < 0 && span < 0) return { pool: undefined, privatePool: undefined };
    const { isSmall, pool } = allocation < 0 ? replay.segmentSpans : replay.allocations;
    const row = allocation < 0 ? span : allocation;
    return {
      pool: isSmall[row] === 1 ? 'small' : 'large',
      privatePool: privatePoolText(trace.pools[pool[row]]),
    };
  }

  #span(event: EventIndex): number {
    return isSegmentAction(this.#context.trace.events.action[event])
      ? this.segments.span(event)
      : -1;
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
