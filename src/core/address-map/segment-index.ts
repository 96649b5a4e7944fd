/**
 * Segments over time, drawn by the timeline's own painter: to it a segment is an allocation. The
 * stack's order is that of start, its top is the reserved counter.
 */

import { buildTimelineIndex, type TimelineIndex } from '../raster/timeline-index.ts';
import type { Replay } from '../replay/types.ts';
import type { SegmentLives } from './segment-lives.ts';

/** Columns show the event with most *reserved* bytes in them: the counter that is drawn. */
export function buildSegmentIndex(
  lives: SegmentLives,
  replay: Pick<Replay, 'fillCounter'>,
  eventCount: number,
  timeUs: Float64Array | undefined,
): TimelineIndex {
  const reserved: Pick<Replay, 'allocations' | 'fillCounter'> = {
    allocations: lives,
    // Whichever is asked for: the painter draws what it takes for active bytes.
    fillCounter: (_, from, out) => replay.fillCounter('reservedBytes', from, out),
  };
  return buildTimelineIndex(reserved, eventCount, timeUs);
}

/** Of a class each: the allocator's two pools, native and expandable, and all private pools. */
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
