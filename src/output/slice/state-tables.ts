import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import { type AllocatorState, SegmentKind } from '../../allocator/state/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import {
  BlockState,
  type BlockTable,
  type EventIndex,
  type InitialState,
  NO_STACK,
  type SegmentTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';

/** The segments and blocks that a snapshot would hold, had it been taken then. */
export function tablesOfState(
  { replay: { allocations } }: DeviceModel,
  { segments: s, blocks: b }: AllocatorState,
): { readonly segments: SegmentTable; readonly blocks: BlockTable } {
  // Blocks outside of all known segments are last; a file has no place for them.
  let count = s.length;
  while (count > 0 && s.kind[count - 1] === SegmentKind.None) count--;
  const blockCount = s.firstBlock[count] ?? 0;
  const requestedOf = (row: number) => {
    const requested = b.allocation[row] < 0 ? 0 : allocations.requestedBytes[b.allocation[row]];
    return Number.isNaN(requested) ? b.sizeBytes[row] : requested;
  };
  const stack = Int32Array.from(b.allocation.subarray(0, blockCount), (id) =>
    id < 0 ? NO_STACK : allocations.stack[id],
  );
  const requestedBytes = Float64Array.from({ length: blockCount }, (_, row) => requestedOf(row));
  const sum = (segment: number, value: (row: number) => number) => {
    let total = 0;
    for (let row = s.firstBlock[segment]; row < s.firstBlock[segment + 1]; row++) {
      if (b.state[row] !== BlockState.Inactive) total += value(row);
    }
    return total;
  };
  const each = (value: (segment: number) => number) =>
    Float64Array.from({ length: count }, (_, segment) => value(segment));
  return {
    segments: {
      length: count,
      address: s.address.slice(0, count),
      totalBytes: s.sizeBytes.slice(0, count),
      allocatedBytes: s.allocatedBytes.slice(0, count),
      activeBytes: each((segment) => sum(segment, (row) => b.sizeBytes[row])),
      requestedBytes: each((segment) => sum(segment, requestedOf)),
      stream: s.stream.slice(0, count),
      isSmall: s.isSmall.slice(0, count),
      pool: s.pool.slice(0, count),
      isExpandable: s.kind.slice(0, count).map((kind) => (kind === SegmentKind.Expandable ? 1 : 0)),
      stack: s.stack.slice(0, count),
      firstBlock: s.firstBlock.slice(0, count + 1),
    },
    blocks: {
      length: blockCount,
      address: b.address.slice(0, blockCount),
      sizeBytes: b.sizeBytes.slice(0, blockCount),
      requestedBytes,
      state: b.state.slice(0, blockCount),
      stack,
    },
  };
}

/** The state after `event` as the beginning of a part. */
export function openingAt(context: DeviceModel, event: EventIndex): InitialState {
  const { trace, replay } = context;
  const since = mappedSince(replay.segmentSpans, trace.events);
  const { action } = trace.events;
  return {
    ...tablesOfState(context, allocatorStateAt(replay, since, event)),
    hasFreeRequested: action.includes(TraceAction.FreeRequested),
    hasFreeCompleted: action.includes(TraceAction.FreeCompleted),
  };
}
