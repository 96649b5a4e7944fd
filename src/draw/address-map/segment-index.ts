/**
 * Segments over time, drawn by the timeline's own painter, which treats them as allocations. They are stacked in order
 * of start, and the top of the stack is the reserved counter.
 */

import { NEVER, type Replay } from '../../allocator/replay/types.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { timeOfEventUs } from '../../device/model/events.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import type { SegmentLife, SegmentLives } from './segment-lives.ts';

/** Columns show the event with the most *reserved* bytes, because that counter is drawn. */
export function buildSegmentIndex(
  lives: SegmentLives,
  replay: Pick<Replay, 'fillCounter'>,
  eventCount: number,
  timeUs: NarrowColumn | undefined,
): TimelineIndex {
  const reserved: Pick<Replay, 'allocations' | 'fillCounter'> = {
    allocations: lives,
    // Always the reserved counter: the painter reads it as active bytes.
    fillCounter: (_, from, out) => replay.fillCounter('reservedBytes', from, out),
  };
  return new TimelineIndex(reserved, eventCount, timeUs);
}

/** One class each for the allocator's two pools, native and expandable, and one for all private pools. */
export const SEGMENT_CLASSES = [
  'small',
  'large',
  'expandable small',
  'expandable large',
  'private',
] as const;
export type SegmentClass = (typeof SEGMENT_CLASSES)[number];

/** @param isPrivate whether a pool is private, by PoolIndex */
export function classesOfSegments(
  lives: SegmentLives,
  isPrivate: (pool: number) => boolean,
): Uint8Array {
  return Uint8Array.from({ length: lives.length }, (_, row) => {
    if (isPrivate(lives.pool[row])) return SEGMENT_CLASSES.indexOf('private');
    return 2 * lives.isExpandable[row] + (lives.isSmall[row] === 1 ? 0 : 1);
  });
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
