/** The allocator's segments and blocks after an event: totals, and what is on screen. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import {
  type SegmentRow,
  type StateOverview,
  segmentRow,
} from '../../device/allocator-state/describe-state.ts';
import {
  type SegmentBars,
  segmentBars,
  segmentHit,
} from '../../device/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../device/allocator-state/segment-groups.ts';
import {
  type LocatedBlock,
  StateReader,
  stepToBlock,
} from '../../device/allocator-state/state-reader.ts';
import { allocationLabel } from '../../device/model/allocation-labels.ts';
import type { ColorBy } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { type DeviceRequest, queryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';

export interface StateRequest extends DeviceRequest {
  /** Clamped to the trace: -1 (before it) to the last event. */
  readonly event: EventIndex;
  readonly order: SegmentOrder;
}

export interface AllocatorStateRequest extends StateRequest {
  /** Positions in that order of the segments on screen; those beyond its end are left out. */
  readonly positions: readonly number[];
  /** Width of a bar in pixels. */
  readonly width: number;
  readonly colorBy: ColorBy;
  /** Number of colors in the palette. */
  readonly classes: number;
  readonly search: string;
}

export interface StateHitRequest extends StateRequest {
  readonly position: number;
  /** A part of the segment as shares, 0 to 1. */
  readonly from: number;
  readonly to: number;
}

export interface StateBlockRequest extends StateRequest {
  readonly allocation: AllocationIndex;
  /** 0: the block itself; -1 and 1: the live block before and after it. */
  readonly step: -1 | 0 | 1;
  /** If the allocation is not live, a step starts at this position. */
  readonly position: number;
}

export interface AllocatorStateAnswer {
  readonly overview: StateOverview;
  /** Row and bar i belong to positions[i]. */
  readonly positions: readonly number[];
  readonly rows: readonly SegmentRow[];
  readonly bars: SegmentBars;
}

/** A live block by its name, and the position of its segment. */
export interface StateBlock extends LocatedBlock {
  readonly label: string;
}

export const allocatorStateHandlers = queryHandlers({
  async allocatorState(device, request: AllocatorStateRequest): Promise<AllocatorStateAnswer> {
    const { event, order, width, search, colorBy, classes } = request;
    const { state, grouped, overview } = readState(device, event, order);
    const positions = request.positions.filter((position) => position < grouped.order.length);
    const shown = Int32Array.from(positions, (position) => grouped.order[position] ?? 0);
    const bars = segmentBars(state, shown, width, {
      matches: (await device.matches(search, overview.event)).mask,
      classOf: await device.classesBy(colorBy, classes),
    });
    const rows = Array.from(shown, (row) => segmentRow(device.context, state, row));
    return transferring({ overview, positions, rows, bars }, bars);
  },
  stateHit(device, { event, order, position, from, to }: StateHitRequest) {
    const { state, grouped } = readState(device, event, order);
    const row = grouped.order[position];
    return row === undefined ? undefined : segmentHit(device.context, state, row, from, to);
  },
  stateBlock(
    device,
    { event, order, allocation, step, position }: StateBlockRequest,
  ): StateBlock | undefined {
    const ordered = readState(device, event, order);
    const found = stepToBlock(ordered, allocation, step, position);
    return found && labelled(device, found);
  },
});

function readState(device: OpenDevice, event: EventIndex, order: SegmentOrder) {
  return device.once(newStateReader).at(event, order);
}

function newStateReader({ context }: OpenDevice): StateReader {
  return new StateReader(context);
}

function labelled({ context }: OpenDevice, block: LocatedBlock): StateBlock {
  const { replay, snapshot } = context;
  return {
    ...block,
    label: allocationLabel(replay.allocations, snapshot.addresses, block.allocation),
  };
}
