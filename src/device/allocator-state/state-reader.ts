/** Reads a device's states and caches the last few: scrolling asks for the same one repeatedly. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import type { AllocatorState } from '../../allocator/state/types.ts';
import { LruCache } from '../../base/collections.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { allocationLabel } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { type StateOverview, stateOverview } from './describe-state.ts';
import { type GroupedSegments, groupSegments, type SegmentOrder } from './segment-groups.ts';

interface OrderedState {
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

  /**
   * An allocation's block (step 0), or the live block before (-1) or after (1) it, across segments in display order. If
   * the allocation is not live, a step leads to the first live block from `position` on. Undefined if there is none.
   */
  stepToBlock(event: EventIndex, order: SegmentOrder, { allocation, step, position }: BlockStep) {
    const { replay, snapshot } = this.#context;
    const { state, grouped } = this.at(event, order);
    const { segments, blocks } = state;
    const ids: AllocationIndex[] = [];
    const positions: number[] = [];
    for (const [at, row] of grouped.order.entries()) {
      for (let block = segments.firstBlock[row]; block < segments.firstBlock[row + 1]; block++) {
        if (blocks.allocation[block] < 0) continue;
        ids.push(blocks.allocation[block]);
        positions.push(at);
      }
    }
    const own = ids.indexOf(allocation);
    const first = step === 0 ? -1 : positions.findIndex((at) => at >= position);
    const found = own < 0 ? first : own + step;
    if (!(found in ids)) return undefined;
    const label = allocationLabel(replay.allocations, snapshot.addresses, ids[found]);
    return { allocation: ids[found], position: positions[found], label };
  }

  #read(event: EventIndex, order: SegmentOrder): OrderedState {
    const context = this.#context;
    const state = allocatorStateAt(context.replay, this.#since, event);
    const grouped = groupSegments(state, context.trace, order);
    return { state, grouped, overview: stateOverview(context, state, grouped) };
  }
}

export interface BlockStep {
  readonly allocation: AllocationIndex;
  /** 0: the block itself; -1 and 1: the live block before and after it. */
  readonly step: -1 | 0 | 1;
  /** If the allocation is not live, a step starts at this position. */
  readonly position: number;
}

/** A live block by its name, and its segment's position in the order. */
export type LocatedBlock = NonNullable<ReturnType<StateReader['stepToBlock']>>;
