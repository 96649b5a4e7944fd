/**
 * A part of a recording as a recording of its own, to share: some events of one device, the state
 * before them as `opening`, and as final segments those after them. Counters, blocks and stacks
 * inside the window are what they were in the whole; event 5,000 of the whole is event 0 here.
 */
import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import { SegmentKind } from '../../allocator/state/types.ts';
import { formatCount } from '../../base/format.ts';
import { gather } from '../../base/table.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { holderRows } from '../../device/model/holders.ts';
import type { AnnotationSpan } from '../../device/model/types.ts';
import { sliceEvents } from '../../format/snapshot/slice-events.ts';
import {
  type AnnotationTable,
  type DeviceTrace,
  type EventIndex,
  HOLDER_COLUMNS,
  type Snapshot,
  type StringTable,
} from '../../format/snapshot/tables.ts';
import { openingAt, tablesOfState } from './state-tables.ts';

export interface EventWindow {
  readonly from: EventIndex;
  /** One past the last event. */
  readonly to: EventIndex;
}

/**
 * One device, with the rows of the same frames, stacks and strings; annotations clipped.
 * @param window beyond the trace means to its end; the whole trace gives the whole device
 */
export function windowSnapshot(context: DeviceModel, window: EventWindow): Snapshot {
  const { snapshot, trace, replay } = context;
  const { length } = trace.events;
  const from = hasLooseBlocks(context, window.from)
    ? 0
    : Math.min(Math.max(0, window.from), length);
  const to = Math.min(Math.max(from, window.to), length);
  if (from === 0 && to === length) return { ...snapshot, devices: [trace] };
  const since = mappedSince(replay.segmentSpans, trace.events);
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
        ...(from > 0 && { opening: openingAt(context, from - 1) }),
      },
    ],
    ...holdersUpTo(context, to),
    warnings: [
      ...snapshot.warnings,
      { code: 'window', message: warningText(length, { from, to }) },
    ],
  };
}

/** Of what was live when the snapshot was taken, what was there by then: another block may have had its address. */
function holdersUpTo({ snapshot, replay }: DeviceModel, to: EventIndex): Partial<Snapshot> {
  const { holders } = snapshot;
  if (holders === undefined) return {};
  const { start } = replay.allocations;
  const rows = [...(holderRows({ snapshot, replay }) ?? [])].filter(
    (row, id) => row >= 0 && start[id] < to,
  );
  return { holders: { ...holders, ...gather(HOLDER_COLUMNS, holders, rows) } };
}

/**
 * Blocks that lie in no segment that the recording knows have no place in an opening: then the part
 * begins with the recording.
 */
function hasLooseBlocks({ trace, replay }: DeviceModel, from: EventIndex): boolean {
  if (from <= 0) return false;
  const since = mappedSince(replay.segmentSpans, trace.events);
  return allocatorStateAt(replay, since, from - 1).segments.kind.includes(SegmentKind.None);
}

function warningText(length: number, { from, to }: EventWindow): string {
  return (
    `This is part of a recording: events ${formatCount(from)} to ${formatCount(to - 1)} of ` +
    `${formatCount(length)}. Events and peaks outside this part are unknown.`
  );
}

/** The annotations that touch the window, with those names that were not strings of the snapshot yet. */
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
