/** What the address map keeps of a device between questions. */

import { type AddressIndex, buildAddressIndex } from '../../core/address-map/address-index.ts';
import { type AddressFrame, AddressPainter } from '../../core/address-map/address-painter.ts';
import type { FreeColumns } from '../../core/address-map/free-memory.ts';
import { buildSegmentIndex, classesOfSegments } from '../../core/address-map/segment-index.ts';
import { type SegmentLives, segmentLives } from '../../core/address-map/segment-lives.ts';
import type { TimelineIndex } from '../../core/raster/timeline-index.ts';
import { TimelinePainter } from '../../core/raster/timeline-painter.ts';
import type { TimelineFrame } from '../../core/raster/types.ts';
import { DimmedClasses } from '../dimmed-classes.ts';
import { FrameQueue, type FrameQueueClock } from '../frame-queue.ts';
import type { OpenDevice } from '../open-device.ts';
import { createYield } from '../yield-task.ts';

const newClock = (): FrameQueueClock => {
  return { now: () => performance.now(), yieldTask: createYield() };
};

export const livesOf = ({ context: { replay, trace } }: OpenDevice): SegmentLives =>
  segmentLives(replay.segmentSpans, trace.events);

export const addressIndexOf = (device: OpenDevice): AddressIndex =>
  buildAddressIndex(device.index, device.once(livesOf));

export interface AddressFrames {
  readonly painter: AddressPainter;
  readonly queue: FrameQueue<AddressFrame>;
}

export function addressFramesOf(device: OpenDevice): AddressFrames {
  const painter = new AddressPainter(device.once(addressIndexOf));
  return { painter, queue: new FrameQueue(newClock()) };
}

/** What is drawn under the map, not while one waits for the map: frames go first. */
const FREE_SLICE_MS = 2;

export const freeQueueOf = (): FrameQueue<FreeColumns> => new FrameQueue(newClock(), FREE_SLICE_MS);

export interface SegmentFrames {
  readonly index: TimelineIndex;
  readonly classOf: Uint8Array;
  readonly painter: TimelinePainter;
  readonly queue: FrameQueue<TimelineFrame>;
}

export function segmentFramesOf(device: OpenDevice): SegmentFrames {
  const { replay, trace } = device.context;
  const { length, timeUs } = trace.events;
  const lives = device.once(livesOf);
  const index = buildSegmentIndex(lives, replay, length, timeUs);
  const isPrivate = (pool: number) => trace.pools[pool]?.id.some((part) => part !== 0) ?? false;
  const classOf = classesOfSegments(lives, isPrivate);
  return { index, classOf, painter: new TimelinePainter(index), queue: new FrameQueue(newClock()) };
}

export const newDimmedClasses = (): DimmedClasses => new DimmedClasses();
