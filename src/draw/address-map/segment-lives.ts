/**
 * The lives of reserved memory: a native segment from cudaMalloc to cudaFree, a mapped piece of an expandable segment
 * from segment_map to segment_unmap.
 *
 * When part of a piece is unmapped, the replay ends the piece and opens new rows for the rest. Here the rest keeps the
 * time at which its piece was mapped: the piece is split from its start, so the rest does not jump to the top of the
 * stack:
 *
 *   replay   [0, 100) 5 to 9, [0, 40) from 9 on      here   [0, 40) from 5 on, [40, 100) 5 to 9
 *
 * Both have the same bytes at every event.
 */

import {
  type AllocationTable,
  NEVER,
  SEGMENT_SPAN_COLUMNS,
  type SegmentSpanTable,
} from '../../allocator/replay/types.ts';
import { groupBy } from '../../base/collections.ts';
import { gather } from '../../base/table.ts';
import { privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { timeOfEventUs } from '../../device/model/events.ts';
import { type EventTable, TraceAction } from '../../format/snapshot/tables.ts';

/** Row of {@link SegmentLives}: reserved before the trace first, then in order of start. */
export type SegmentLife = number;

/** Shaped like allocations, so the same code can draw both. */
export interface SegmentLives extends AllocationTable {
  readonly isExpandable: Uint8Array;
}

export function segmentLives(
  spans: SegmentSpanTable,
  events: Pick<EventTable, 'action'>,
): SegmentLives {
  const columns = joinedSpans(spans, events);
  const rows = [...columns.start.keys()].filter((row) => columns.sizeBytes[row] > 0);
  // Rows unmapped as a whole, and the remainders of the others; the sort is stable.
  const order = Int32Array.from(rows.sort((a, b) => columns.start[a] - columns.start[b]));
  const lives = gather(SEGMENT_SPAN_COLUMNS, { ...spans, ...columns }, order);
  const preexisting = lives.start.findIndex((event) => event >= 0);
  return {
    ...lives,
    preexisting: preexisting < 0 ? order.length : preexisting,
    freeRequested: lives.end,
    requestedBytes: lives.sizeBytes,
  };
}

/** The spans' columns, with each rest traced back to the piece that it was cut from, and taken from it. */
function joinedSpans(spans: SegmentSpanTable, { action }: Pick<EventTable, 'action'>) {
  const start = spans.start.slice();
  const address = spans.address.slice();
  const sizeBytes = spans.sizeBytes.slice();
  const endedAt = groupBy(
    [...spans.end.keys()].filter((row) => spans.isExpandable[row] === 1),
    (row) => spans.end[row],
  );
  const endOf = (row: number) => spans.address[row] + spans.sizeBytes[row];
  // A rest comes after its piece, so the piece's start is already known.
  for (let row = 0; row < spans.length; row++) {
    const event = spans.start[row];
    if (event < 0 || action[event] !== TraceAction.SegmentUnmap) continue;
    const piece = endedAt
      .get(event)
      ?.find((of) => spans.address[row] >= spans.address[of] && endOf(row) <= endOf(of));
    if (piece === undefined) continue;
    start[row] = start[piece];
    // A rest lies at one end of its piece.
    if (spans.address[row] === address[piece]) address[piece] += spans.sizeBytes[row];
    sizeBytes[piece] -= spans.sizeBytes[row];
  }
  return { start, address, sizeBytes };
}

export type SegmentFacts = ReturnType<typeof segmentFacts>;

export function segmentFacts(
  { snapshot, trace, stacks }: DeviceModel,
  lives: SegmentLives,
  row: SegmentLife,
) {
  const { start, end, stack } = lives;
  const isReleased = end[row] !== NEVER;
  return {
    row,
    /** As PyTorch's viewer writes it: s7f064c000000_0, the hex address and the number of earlier segments there. */
    label: `s${snapshot.addresses.toHex(lives.address[row])}_${earlierAt(lives, row)}`,
    sizeBytes: lives.sizeBytes[row],
    pool: lives.isSmall[row] === 1 ? ('small' as const) : ('large' as const),
    /** '(1, 0)'; undefined for the default pool. */
    privatePool: privatePoolText(trace.pools[lives.pool[row]]),
    /** A mapped piece of an expandable segment, without its own cudaMalloc. */
    isExpandable: lives.isExpandable[row] === 1,
    stream: streamText(trace.streams[lives.stream[row]]),
    /** -1: reserved before the trace. */
    startEvent: start[row],
    /** NEVER: still reserved at the end. */
    endEvent: end[row],
    /** Microseconds since the first event; NaN if unknown. */
    startUs: timeOfEventUs(trace.events, start[row]),
    endUs: timeOfEventUs(trace.events, end[row]),
    /** The user's own line that requested it; undefined without a stack. */
    topFrame: stacks.topUserFrameView(stack[row]),
    stack: stacks.view(stack[row], start[row] < 0),
    /** What released it: empty_cache, or an allocation that ran out of memory. Undefined while reserved. */
    releaseStack: isReleased ? stacks.view(trace.events.stack[end[row]]) : undefined,
  };
}

function earlierAt({ address }: SegmentLives, row: SegmentLife): number {
  let earlier = 0;
  for (let other = 0; other < row; other++) if (address[other] === address[row]) earlier++;
  return earlier;
}
