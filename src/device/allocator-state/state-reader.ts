/** Reads a device's states and caches the last few: scrolling asks for the same one repeatedly. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import type { AllocatorState } from '../../allocator/state/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { LruCache } from '../../base/collections.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { type StateOverview, stateOverview } from './describe-state.ts';
import { type GroupedSegments, groupSegments, type SegmentOrder } from './segment-groups.ts';

export interface OrderedState {
  readonly state: AllocatorState;
  readonly grouped: GroupedSegments;
  readonly overview: StateOverview;
}

/** The state on screen and the previous one. A state of a million blocks takes 20 MB. */
const CACHED_STATES = 2;

export class StateReader {
  readonly #context: DeviceModel;
  readonly #since: Int32Array;
  /** Keyed by event and order. */
  readonly #states = new LruCache<OrderedState>(CACHED_STATES);

  constructor(context: DeviceModel) {
    this.#context = context;
    this.#since = mappedSince(context.replay.segmentSpans, context.trace.events);
  }

  /** Events outside the trace are clamped to -1 (before it) and the last event. */
  at(event: EventIndex, order: SegmentOrder): OrderedState {
    const clamped = Math.max(-1, Math.min(event, this.#context.trace.events.length - 1));
    const key = `${clamped} ${order}`;
    return this.#states.getOrMake(key, () => this.#read(clamped, order));
  }

  #read(event: EventIndex, order: SegmentOrder): OrderedState {
    const context = this.#context;
    const state = allocatorStateAt(context.replay, this.#since, event);
    const grouped = groupSegments(state, context.trace, order);
    return { state, grouped, overview: stateOverview(context, state, grouped) };
  }
}

/** A live block, and its segment's position in the order. */
export interface LocatedBlock {
  readonly allocation: AllocationIndex;
  readonly position: number;
}

/** Undefined when the allocation is not live in this state. */
export function locateBlock(
  ordered: OrderedState,
  allocation: AllocationIndex,
): LocatedBlock | undefined {
  const row = ordered.state.blocks.allocation.indexOf(allocation);
  return allocation < 0 || row < 0 ? undefined : located(ordered, row);
}

/** The live block before (-1) or after (1) an allocation, across segments in display order; undefined at the ends. */
export function neighbourOfBlock(
  ordered: OrderedState,
  { allocation, position: groupRow }: LocatedBlock,
  direction: -1 | 1,
): LocatedBlock | undefined {
  const { segments, blocks } = ordered.state;
  const { order } = ordered.grouped;
  let row = blocks.allocation.indexOf(allocation) + direction;
  for (let at = groupRow; at >= 0 && at < order.length; ) {
    const [first, end] = [segments.firstBlock[order[at]], segments.firstBlock[order[at] + 1]];
    for (; row >= first && row < end; row += direction) {
      if (blocks.allocation[row] >= 0) return { allocation: blocks.allocation[row], position: at };
    }
    at += direction;
    if (at >= 0 && at < order.length) {
      row = direction > 0 ? segments.firstBlock[order[at]] : segments.firstBlock[order[at] + 1] - 1;
    }
  }
  return undefined;
}

/** The first live block of the segment at a position, or of a later segment. */
export function firstBlockFrom(ordered: OrderedState, position: number): LocatedBlock | undefined {
  const { segments, blocks } = ordered.state;
  const { order } = ordered.grouped;
  for (let at = Math.max(0, position); at < order.length; at++) {
    const [first, end] = [segments.firstBlock[order[at]], segments.firstBlock[order[at] + 1]];
    const allocation = blocks.allocation.subarray(first, end).find((id) => id >= 0);
    if (allocation !== undefined) return { allocation, position: at };
  }
  return undefined;
}

function located({ state, grouped }: OrderedState, row: number): LocatedBlock {
  const segment = upperBound(state.segments.firstBlock, row) - 1;
  return { allocation: state.blocks.allocation[row], position: grouped.order.indexOf(segment) };
}
