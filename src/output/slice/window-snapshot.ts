/**
 * A part of a recording as a recording to share: some events of one device, the state before them as `opening`, and
 * the state after them as final segments. Counters, blocks and stacks inside the window stay the same, but events are
 * renumbered: a window from event 5,000 starts with event 0.
 */
import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import { type AllocatorState, SegmentKind } from '../../allocator/state/types.ts';
import { formatCount } from '../../base/format.ts';
import { gather } from '../../base/table.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { holderRows } from '../../device/model/holders.ts';
import type { AnnotationSpan } from '../../device/model/types.ts';
import { sliceEvents } from '../../format/snapshot/slice-events.ts';
import {
  type AnnotationTable,
  BlockState,
  type BlockTable,
  type DeviceTrace,
  type EventIndex,
  HOLDER_COLUMNS,
  NO_STACK,
  type SegmentTable,
  type Snapshot,
  type StringTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';

export interface EventWindow {
  readonly from: EventIndex;
  /** One past the last event. */
  readonly to: EventIndex;
}

/**
 * Contains one device and all frames, stacks and strings; annotations are clipped.
 * @param window clipped to the trace; the whole trace returns the whole device
 */
export function windowSnapshot(context: DeviceModel, window: EventWindow): Snapshot {
  const { snapshot, trace, replay } = context;
  const { length, action } = trace.events;
  const since = mappedSince(replay.segmentSpans, trace.events);
  const before = window.from > 0 ? allocatorStateAt(replay, since, window.from - 1) : undefined;
  // An opening has no place for blocks outside all known segments; the window then starts with the recording.
  const isOpen = before !== undefined && !before.segments.kind.includes(SegmentKind.None);
  const from = isOpen ? Math.min(window.from, length) : 0;
  const to = Math.min(Math.max(from, window.to), length);
  if (from === 0 && to === length) return { ...snapshot, devices: [trace] };
  const opening = isOpen && {
    ...tablesOfState(context, before),
    hasFreeRequested: action.includes(TraceAction.FreeRequested),
    hasFreeCompleted: action.includes(TraceAction.FreeCompleted),
  };
  const closing =
    to === length
      ? { segments: trace.segments, blocks: trace.blocks }
      : tablesOfState(context, allocatorStateAt(replay, since, to - 1));
  return {
    ...snapshot,
    ...annotationsOf(snapshot, context.annotations(), trace, { from, to }),
    devices: [
      {
        ...trace,
        ...closing,
        events: sliceEvents(trace.events, [{ first: from, count: to - from }]),
        ...(opening && { opening }),
      },
    ],
    ...holdersUpTo(context, to),
    ...ledgerOf(context, { from, to }),
    warnings: [
      ...snapshot.warnings,
      {
        code: 'window',
        message: `This is part of a recording: events ${formatCount(from)} to ${formatCount(to - 1)} of ${formatCount(length)}. Events and peaks outside this part are unknown.`,
      },
    ],
  };
}

/**
 * Keeps the holders of allocations that began before `to`: at the end of the window, the address may still have
 * belonged to another block.
 */
function holdersUpTo({ snapshot, replay }: DeviceModel, to: EventIndex): Partial<Snapshot> {
  const { holders } = snapshot;
  if (holders === undefined) return {};
  const { start } = replay.allocations;
  const rows = [...(holderRows({ snapshot, replay }) ?? [])].filter(
    (row, id) => row >= 0 && start[id] < to,
  );
  return { holders: { ...holders, ...gather(HOLDER_COLUMNS, holders, rows) } };
}

/** The samples in the window: what is before its first event and after its last one, at the ends of the recording. */
function ledgerOf(
  { snapshot: { ledger }, trace: { device, events } }: DeviceModel,
  { from, to }: EventWindow,
): Partial<Snapshot> {
  if (ledger === undefined) return {};
  const { timeUs, length } = events;
  const [since, until] = [
    from === 0 ? -Infinity : (timeUs?.[from] ?? Number.NaN),
    to === length ? Infinity : (timeUs?.[to - 1] ?? Number.NaN),
  ];
  const samples = ledger.samples.filter(
    (sample) => sample.device === device && sample.timeUs >= since && sample.timeUs <= until,
  );
  return { ledger: { ...ledger, samples } };
}

/** The annotations that overlap the window, plus their names, which may not be in the snapshot's strings yet. */
function annotationsOf(
  { strings }: Pick<Snapshot, 'strings'>,
  spans: readonly AnnotationSpan[],
  { device, events }: DeviceTrace,
  { from, to }: EventWindow,
): { readonly annotations: AnnotationTable; readonly strings: StringTable } {
  const names = new Map<string, number>();
  const nameOf = (name: string) => {
    const row = names.get(name) ?? strings.length + names.size;
    names.set(name, row);
    return row;
  };
  const originUs = events.timeUs?.[0] ?? 0;
  const points = spans
    .filter((span) => span.endEvent > from && span.startEvent < to)
    .flatMap(({ name, startUs, endUs }) => [
      { isStart: 1, name: nameOf(name), timeUs: originUs + startUs },
      { isStart: 0, name: nameOf(name), timeUs: originUs + endUs },
    ]);
  points.sort((a, b) => a.timeUs - b.timeUs);
  const added = [...names.keys()];
  return {
    annotations: {
      length: points.length,
      isStart: Uint8Array.from(points, (point) => point.isStart),
      name: Int32Array.from(points, (point) => point.name),
      device: new Int32Array(points.length).fill(device),
      timeUs: Float64Array.from(points, (point) => point.timeUs),
    },
    strings: {
      length: strings.length + added.length,
      get: (row) => (row < strings.length ? strings.get(row) : (added[row - strings.length] ?? '')),
    },
  };
}

/** The segments and blocks of a snapshot taken at that state. */
function tablesOfState(
  { replay: { allocations } }: DeviceModel,
  { segments: s, blocks: b }: AllocatorState,
): { readonly segments: SegmentTable; readonly blocks: BlockTable } {
  // Blocks outside all known segments come last; a file has no place for them.
  let count = s.length;
  while (count > 0 && s.kind[count - 1] === SegmentKind.None) count--;
  const blockCount = s.firstBlock[count] ?? 0;
  const ids = b.allocation.subarray(0, blockCount);
  const stack = ids.map((id) => (id < 0 ? NO_STACK : allocations.stack[id]));
  const requestedBytes = Float64Array.from(ids, (id, row) => {
    const requested = id < 0 ? 0 : allocations.requestedBytes[id];
    return Number.isNaN(requested) ? b.sizeBytes[row] : requested;
  });
  const sums = (bytes: ArrayLike<number>) =>
    Float64Array.from({ length: count }, (_, segment) => {
      let total = 0;
      for (let row = s.firstBlock[segment]; row < s.firstBlock[segment + 1]; row++)
        if (b.state[row] !== BlockState.Inactive) total += bytes[row];
      return total;
    });
  return {
    segments: {
      length: count,
      address: s.address.slice(0, count),
      totalBytes: s.sizeBytes.slice(0, count),
      allocatedBytes: s.allocatedBytes.slice(0, count),
      activeBytes: sums(b.sizeBytes),
      requestedBytes: sums(requestedBytes),
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
