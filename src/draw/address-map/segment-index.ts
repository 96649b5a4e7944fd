/**
 * Segments over time, drawn by the timeline's own painter, which treats them as allocations. They are stacked in order
 * of start, and the top of the stack is the reserved counter.
 */

import { NEVER, type Replay } from '../../allocator/replay/types.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { timeOfEventUs } from '../../device/model/events.ts';
import type { FrameView, StackView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
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

export interface SegmentFacts {
  readonly row: SegmentLife;
  /** As PyTorch's viewer writes it: s7f064c000000_0, the hex address and the number of earlier segments there. */
  readonly label: string;
  readonly sizeBytes: number;
  readonly pool: 'small' | 'large';
  /** Private pool id as "(1, 0)"; undefined for the default pool. */
  readonly privatePool: string | undefined;
  /** A mapped piece of an expandable segment, without its own cudaMalloc. */
  readonly isExpandable: boolean;
  readonly stream: string;
  /** -1: reserved before the trace. */
  readonly startEvent: EventIndex;
  /** NEVER: still reserved at the end. */
  readonly endEvent: EventIndex;
  /** Microseconds since the first event; NaN if unknown. */
  readonly startUs: number;
  readonly endUs: number;
  /** The user's own line that requested it; undefined without a stack. */
  readonly topFrame: FrameView | undefined;
  readonly stack: StackView;
  /** What released it: empty_cache, or an allocation that ran out of memory. Undefined while reserved. */
  readonly releaseStack: StackView | undefined;
}

export function segmentFacts(
  { snapshot, trace, stacks }: DeviceModel,
  lives: SegmentLives,
  row: SegmentLife,
): SegmentFacts {
  const { start, end, stack } = lives;
  const isReleased = end[row] !== NEVER;
  return {
    row,
    label: `s${snapshot.addresses.toHex(lives.address[row])}_${earlierAt(lives, row)}`,
    sizeBytes: lives.sizeBytes[row],
    pool: lives.isSmall[row] === 1 ? 'small' : 'large',
    privatePool: privatePoolText(trace.pools[lives.pool[row]]),
    isExpandable: lives.isExpandable[row] === 1,
    stream: streamText(trace.streams[lives.stream[row]]),
    startEvent: start[row],
    endEvent: end[row],
    startUs: timeOfEventUs(trace.events, start[row]),
    endUs: timeOfEventUs(trace.events, end[row]),
    topFrame: stacks.topUserFrameView(stack[row]),
    stack: stacks.view(stack[row], start[row] < 0),
    releaseStack: isReleased ? stacks.view(trace.events.stack[end[row]]) : undefined,
  };
}

function earlierAt({ address }: SegmentLives, row: SegmentLife): number {
  let earlier = 0;
  for (let other = 0; other < row; other++) if (address[other] === address[row]) earlier++;
  return earlier;
}
