/**
 * A part of a recording as a recording of its own, to share: some events of one device, the state
 * before them as `opening`, and as final segments those after them. Counters, blocks and stacks
 * inside the window are what they were in the whole; event 5,000 of the whole is event 0 here.
 */

import { allocatorStateAt } from '../allocator-state/allocator-state.ts';
import { mappedSince } from '../allocator-state/mapped-ranges.ts';
import { SegmentKind } from '../allocator-state/types.ts';
import { formatCount } from '../base/format.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { sliceEvents } from '../snapshot/slice-events.ts';
import type { EventIndex, Snapshot } from '../snapshot/tables.ts';
import type { EventWindow } from './event-window.ts';
import { openingAt, tablesOfState } from './state-tables.ts';
import { annotationsOf } from './window-annotations.ts';

/**
 * One device, with the rows of the same frames, stacks and strings; annotations clipped.
 * @param window beyond the trace means to its end; the whole trace gives the whole device
 */
export function windowSnapshot(context: DeviceContext, window: EventWindow): Snapshot {
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
    warnings: [...snapshot.warnings, { code: 'window', message: words(length, { from, to }) }],
  };
}

/**
 * Blocks that lie in no segment that the recording knows have no place in an opening: then the part
 * begins with the recording.
 */
function hasLooseBlocks({ trace, replay }: DeviceContext, from: EventIndex): boolean {
  if (from <= 0) return false;
  const since = mappedSince(replay.segmentSpans, trace.events);
  return allocatorStateAt(replay, since, from - 1).segments.kind.includes(SegmentKind.None);
}

function words(length: number, { from, to }: EventWindow): string {
  return (
    `This is a part of a recording: its events ${formatCount(from)} to ${formatCount(to - 1)} of ` +
    `${formatCount(length)}. What happened outside of it, peaks too, is not known here.`
  );
}
