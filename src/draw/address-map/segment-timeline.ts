/**
 * Segments over time. The timeline's own painter treats them as allocations: they are stacked in order of start, and the
 * top of the stack is the reserved counter. Columns show the event with the most reserved bytes.
 */
import type { Replay } from '../../allocator/replay/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { stackHits, TimelineIndex } from '../timeline/timeline-index.ts';
import { TimelinePainter } from '../timeline/timeline-painter.ts';
import { type SegmentLives, segmentFacts, segmentLives } from './segment-lives.ts';

/** One class each for the allocator's two pools, native and expandable, and one for all private pools. */
export const SEGMENT_CLASSES = [
  'small',
  'large',
  'expandable small',
  'expandable large',
  'private',
] as const;
export type SegmentClass = (typeof SEGMENT_CLASSES)[number];

export class SegmentTimeline {
  readonly lives: SegmentLives;
  readonly index: TimelineIndex;
  readonly painter: TimelinePainter;
  /** Positions in {@link SEGMENT_CLASSES}. */
  readonly classOf: Uint8Array;
  readonly #context: DeviceModel;

  constructor(context: DeviceModel) {
    const { replay, trace } = context;
    const { length, timeUs } = trace.events;
    const lives = segmentLives(replay.segmentSpans, trace.events);
    // Always the reserved counter: the painter reads it as active bytes.
    const fillCounter: Replay['fillCounter'] = (_, from, out) =>
      replay.fillCounter('reservedBytes', from, out);
    this.#context = context;
    this.lives = lives;
    this.index = new TimelineIndex({ allocations: lives, fillCounter }, length, timeUs);
    this.painter = new TimelinePainter(this.index);
    this.classOf = Uint8Array.from({ length: lives.length }, (_, row) => {
      const isPrivate = trace.pools[lives.pool[row]]?.id.some((part) => part !== 0);
      if (isPrivate) return SEGMENT_CLASSES.indexOf('private');
      return 2 * lives.isExpandable[row] + (lives.isSmall[row] === 1 ? 0 : 1);
    });
  }

  /** The classes that there are. */
  kinds(): readonly SegmentClass[] {
    const present = new Set(this.classOf);
    return SEGMENT_CLASSES.filter((_, code) => present.has(code));
  }

  /** What is between two heights of the stack; undefined above it. */
  hit(state: EventIndex, bytesFrom: number, bytesTo: number) {
    const hits = stackHits(this.index, state, bytesFrom, bytesTo);
    if (hits.main < 0) return undefined;
    return {
      /** Segments that overlap the range, and their bytes. */
      count: hits.ids.length,
      totalBytes: hits.totalBytes,
      /** The segment that covers most of it, and the bytes below it in the stack. */
      main: segmentFacts(this.#context, this.lives, hits.main),
      bottomBytes: hits.mainBottomBytes,
    };
  }
}

export type SegmentStackHit = NonNullable<ReturnType<SegmentTimeline['hit']>>;
