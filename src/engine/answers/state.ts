/** Segments and blocks as the allocator had them after an event: totals, and what is on screen. */
import { allocationLabel } from '../../core/query/labels.ts';
import {
  type SegmentRow,
  type StateOverview,
  segmentRow,
  stateOverview,
} from '../../core/query/state/describe-state.ts';
import { type SegmentBars, segmentBars } from '../../core/query/state/segment-bars.ts';
import type { SegmentOrder } from '../../core/query/state/segment-groups.ts';
import {
  firstBlockFrom,
  neighbourOfBlock,
  type PlacedBlock,
  placeOfBlock,
  StateReader,
} from '../../core/query/state/state-reader.ts';
import type { AllocationIndex } from '../../core/replay/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { ColorBy } from '../../core/timeline/types.ts';
import type { OpenDevice } from '../open-device.ts';
import type { Answers, DeviceRequest, Query } from '../queries.ts';
import { transferring } from '../transfer.ts';

/** Events beyond the ends of the trace are taken as -1 (before it) and the last. */
interface StateRequest extends DeviceRequest {
  readonly event: EventIndex;
  readonly order: SegmentOrder;
}

export interface StateSegmentsRequest extends StateRequest {
  /** Places in the order, from `from` up to `to`. */
  readonly from: number;
  readonly to: number;
  /** Pixels of a bar. */
  readonly width: number;
  readonly colorBy: ColorBy;
  /** Colours of the palette. */
  readonly classes: number;
  readonly search: string;
}

export interface StateSegments {
  readonly rows: readonly SegmentRow[];
  readonly bars: SegmentBars;
}

export interface StateBlock extends PlacedBlock {
  readonly label: string;
}

export interface StateBlockRequest extends StateRequest {
  /** `step` 0: where it is; -1 and 1: the live block before and after it. */
  readonly allocation: AllocationIndex;
  readonly step: -1 | 0 | 1;
  /** Where the allocation is not live, the first block from this place on is meant. */
  readonly place: number;
}

export interface StateQueries {
  readonly stateOverview: Query<StateRequest, StateOverview>;
  readonly stateSegments: Query<StateSegmentsRequest, StateSegments>;
  /** Undefined where there is no such block. */
  readonly stateBlock: Query<StateBlockRequest, StateBlock | undefined>;
}

export const stateAnswers: Answers<StateQueries> = {
  stateOverview(device, { event, order }) {
    const { state, grouped } = device.once(stateReader).at(event, order);
    return stateOverview(device.context, state, grouped);
  },
  stateSegments(device, request) {
    const { state, grouped } = device.once(stateReader).at(request.event, request.order);
    const shown = grouped.order.subarray(request.from, request.to);
    const classOf = device.classesBy(request.colorBy, request.classes);
    const matches = device.matches(request.search, request.event).mask;
    const bars = segmentBars(state, shown, request.width, { matches, classOf });
    const rows = Array.from(shown, (row) => segmentRow(device.context, state, row));
    const { allocation, used, isPending, isMatch } = bars;
    const parts = [allocation, used, isPending, isMatch, bars.classOf];
    return transferring({ rows, bars }, parts);
  },
  stateBlock(device, { event, order, allocation, step, place }) {
    const ordered = device.once(stateReader).at(event, order);
    const known = placeOfBlock(ordered, allocation);
    if (step === 0) return known && labelled(device, known);
    const found =
      known === undefined ? firstBlockFrom(ordered, place) : neighbourOfBlock(ordered, known, step);
    return found && labelled(device, found);
  },
};

function stateReader({ context }: OpenDevice): StateReader {
  return new StateReader(context);
}

function labelled({ context }: OpenDevice, block: PlacedBlock): StateBlock {
  const { replay, snapshot } = context;
  return {
    ...block,
    label: allocationLabel(replay.allocations, snapshot.addresses, block.allocation),
  };
}
