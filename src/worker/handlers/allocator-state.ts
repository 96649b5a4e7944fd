/** The allocator's segments and blocks after an event: totals, and what is on screen. */

import { segmentRow } from '../../device/allocator-state/describe-state.ts';
import { segmentBars, segmentHit } from '../../device/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../device/allocator-state/segment-groups.ts';
import { type BlockStep, StateReader } from '../../device/allocator-state/state-reader.ts';
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

export const allocatorStateHandlers = queryHandlers({
  async allocatorState(device, request: AllocatorStateRequest) {
    const { event, order, width, search, colorBy, classes } = request;
    const { state, grouped, overview } = device.once(stateReader).at(event, order);
    const positions = request.positions.filter((position) => position < grouped.order.length);
    const shown = Int32Array.from(positions, (position) => grouped.order[position] ?? 0);
    const bars = segmentBars(state, shown, width, {
      matches: (await device.matches(search, overview.event)).mask,
      classOf: await device.classesBy(colorBy, classes),
    });
    const rows = Array.from(shown, (row) => segmentRow(device.context, state, row));
    /** Row and bar i belong to positions[i]. */
    return transferring({ overview, positions, rows, bars }, bars);
  },
  stateHit(device, { event, order, position, from, to }: StateHitRequest) {
    const { state, grouped } = device.once(stateReader).at(event, order);
    const row = grouped.order[position];
    return row === undefined ? undefined : segmentHit(device.context, state, row, from, to);
  },
  stateBlock: (device, { event, order, ...step }: StateRequest & BlockStep) =>
    device.once(stateReader).stepToBlock(event, order, step),
});

export type AllocatorStateAnswer = Awaited<
  ReturnType<typeof allocatorStateHandlers.allocatorState>
>;

const stateReader = ({ context }: OpenDevice): StateReader => new StateReader(context);
