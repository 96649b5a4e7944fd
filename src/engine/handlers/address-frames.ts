/** What the address map keeps of a device between queries. */

import { type AddressIndex, buildAddressIndex } from '../../core/address-map/address-index.ts';
import { AddressPainter } from '../../core/address-map/address-painter.ts';
import { buildSegmentIndex, classesOfSegments } from '../../core/address-map/segment-index.ts';
import { type SegmentLives, segmentLives } from '../../core/address-map/segment-lives.ts';
import type { TimelineIndex } from '../../core/raster/timeline-index.ts';
import { TimelinePainter } from '../../core/raster/timeline-painter.ts';
import { FrameQueue } from '../frame-queue.ts';
import type { OpenDevice } from '../open-device.ts';
import { DimmedClasses } from '../timeline-renderer.ts';

export const livesOf = ({ context: { replay, trace } }: OpenDevice): SegmentLives =>
  segmentLives(replay.segmentSpans, trace.events);

export const addressIndexOf = (device: OpenDevice): AddressIndex =>
  buildAddressIndex(device.index, device.once(livesOf));

export const addressPainterOf = (device: OpenDevice): AddressPainter =>
  new AddressPainter(device.once(addressIndexOf));

/** What is drawn under the map is not what one waits for: frames go first. */
const FREE_SLICE_MS = 2;

export const freeQueueOf = ({ clock }: OpenDevice): FrameQueue =>
  new FrameQueue(clock, FREE_SLICE_MS);

export interface SegmentFrames {
  readonly index: TimelineIndex;
  readonly classOf: Uint8Array;
  readonly painter: TimelinePainter;
}

export function segmentFramesOf(device: OpenDevice): SegmentFrames {
  const { replay, trace } = device.context;
  const { length, timeUs } = trace.events;
  const lives = device.once(livesOf);
  const index = buildSegmentIndex(lives, replay, length, timeUs);
  const isPrivate = (pool: number) => trace.pools[pool]?.id.some((part) => part !== 0) ?? false;
  const classOf = classesOfSegments(lives, isPrivate);
  return { index, classOf, painter: new TimelinePainter(index) };
}

export const newDimmedClasses = (): DimmedClasses => new DimmedClasses();
