/** The address map and the segments over time: pictures of both, and hit tests. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { crosshairAt } from '../../device/model/events.ts';
import {
  type AddressHit,
  addressHit,
  newestBlock,
  segmentUse,
} from '../../draw/address-map/address-hits.ts';
import { type AddressIndex, buildAddressIndex } from '../../draw/address-map/address-index.ts';
import { addressSlots } from '../../draw/address-map/address-layout.ts';
import { AddressPainter, type AddressScene } from '../../draw/address-map/address-painter.ts';
import type { AddressPalette } from '../../draw/address-map/address-rows.ts';
import { FreeSweep, freeColumns } from '../../draw/address-map/free-memory.ts';
import {
  allocationHighlights,
  type FreeRange,
  gapHighlights,
  type Highlight,
} from '../../draw/address-map/highlights.ts';
import {
  buildSegmentIndex,
  classesOfSegments,
  SEGMENT_CLASSES,
  type SegmentClass,
  type SegmentFacts,
  type SegmentLife,
  type SegmentLives,
  segmentFacts,
  segmentLives,
} from '../../draw/address-map/segment-lives.ts';
import type { ColumnAxis } from '../../draw/timeline/columns.ts';
import { stackHits, type TimelineIndex } from '../../draw/timeline/timeline-index.ts';
import { type Scene, TimelinePainter } from '../../draw/timeline/timeline-painter.ts';
import { dimClasses, lastOnly } from '../../draw/timeline/timeline-renderer.ts';
import type { ColorBy, Palette, Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { FrameQueue } from '../frame-queue.ts';
import type { OpenDevice } from '../open-device.ts';
import { type DeviceRequest, queryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';
import type { PixelInfo, PixelRequest } from './timeline.ts';

/** The map's colors, plus one for what does not match a search. */
export interface DimmablePalette extends AddressPalette {
  readonly dim: number;
}

export interface AddressFrameRequest extends DeviceRequest {
  /** y in bytes of the packed addresses, see address-layout.ts. */
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: DimmablePalette;
  /** Allocation to highlight, -1 for none. */
  readonly selected: AllocationIndex;
  /** Also highlighted, such as a finding's evidence. */
  readonly highlight: AddressHighlight;
  /** What does not match is dimmed; '' matches all. */
  readonly search: string;
  /** The state at which `search` is evaluated; undefined means the end. */
  readonly cursor: EventIndex | undefined;
}

export interface AddressHighlight {
  readonly allocations: readonly AllocationIndex[];
  /** Rectangles in bytes of the packed addresses, and events. */
  readonly gaps: readonly Highlight[];
}

export interface SegmentFrameRequest extends DeviceRequest {
  readonly viewport: Viewport;
  /** Classes are SEGMENT_CLASSES. */
  readonly palette: Palette;
  /** Segment to highlight, -1 for none. */
  readonly selected: SegmentLife;
}

export interface AtState {
  readonly state: EventIndex;
}

export interface SegmentHit {
  /** Segments that overlap the pixel, and their bytes. */
  readonly count: number;
  readonly totalBytes: number;
  /** The segment that covers most of the pixel, and the bytes below it in the stack. */
  readonly main: SegmentFacts;
  readonly bottomBytes: number;
}

export const addressMapHandlers = queryHandlers({
  addressSlots(device) {
    const { classOf } = device.once(segmentFramesOf);
    return addressSlots(device.once(addressIndexOf), classOf, device.context.snapshot.addresses);
  },

  /** The newest wins, over timeline frames too. */
  async addressFrame(device, request: AddressFrameRequest, { signal }) {
    const painter = device.once(addressPainterOf);
    const { viewport } = request;
    const index = device.once(addressIndexOf);
    const { allocations, gaps } = request.highlight;
    const highlighted = allocations.flatMap((id) => allocationHighlights(index, id, 'block'));
    const highlights = [...gaps, ...highlighted, ...allocationHighlights(index, request.selected)];
    const begin = async (out: Uint32Array | undefined) =>
      painter.begin({ viewport, ...(await colorsOf(device, request)), highlights }, out);
    return transferring(await device.frames.draw(viewport, begin, signal));
  },

  addressHit(device, { state, bytesFrom, bytesTo }: PixelRequest): PixelInfo<AddressHit> {
    const { context } = device;
    const range = { from: bytesFrom, to: bytesTo };
    const hit = addressHit(context, device.once(addressIndexOf), state, range);
    return { hit, crosshair: crosshairAt(context, state) };
  },

  /** Range of the newest live block, in bytes of the packed addresses. */
  newestAddress: (device, { state }: AtState) => newestBlock(device.once(addressIndexOf), state),

  freeMemory: (device, { state }: AtState) => new FreeSweep(device.once(addressIndexOf)).at(state),

  /** A state's free ranges, which must not overlap. Each highlight lasts as long as its whole range is free. */
  gapHighlights: (device, { state, gaps }: AtState & { readonly gaps: readonly FreeRange[] }) =>
    gapHighlights(device.once(addressIndexOf), state, gaps),

  /** The newest wins. Covers all addresses, whatever y shows. */
  async freeColumns(device, { columns }: { readonly columns: ColumnAxis }, { signal }) {
    const index = device.once(addressIndexOf);
    const create = () => freeColumns(index, columns);
    return transferring(await device.once(freeQueueOf).request(create, signal));
  },

  /** The newest wins. The line 'reservedBytes' is the top of the stack. */
  async segmentFrame(device, { viewport, palette, selected }: SegmentFrameRequest, { signal }) {
    const { painter, classOf } = device.once(segmentFramesOf);
    const scene: Scene = { viewport, classOf, palette, lines: [], selected };
    const begin = (out: Uint32Array | undefined) => painter.begin(scene, out);
    return transferring(await device.frames.draw(viewport, begin, signal));
  },

  /** Covers all segments of the trace, in the order of SEGMENT_CLASSES. */
  segmentKinds(device): readonly SegmentClass[] {
    const present = new Set(device.once(segmentFramesOf).classOf);
    return SEGMENT_CLASSES.filter((_, code) => present.has(code));
  },

  segmentHitOverTime(device, { state, bytesFrom, bytesTo }: PixelRequest): PixelInfo<SegmentHit> {
    const { index } = device.once(segmentFramesOf);
    const hits = stackHits(index, state, bytesFrom, bytesTo);
    const crosshair = crosshairAt(device.context, state);
    if (hits.main < 0) return { hit: undefined, crosshair };
    const hit = {
      count: hits.ids.length,
      totalBytes: hits.totalBytes,
      main: segmentFacts(device.context, device.once(livesOf), hits.main),
      bottomBytes: hits.mainBottomBytes,
    };
    return { hit, crosshair };
  },

  segmentUse: (device, { segment, state }: AtState & { readonly segment: SegmentLife }) =>
    segmentUse(device.context, device.once(addressIndexOf), segment, state),
});

async function colorsOf(
  device: OpenDevice,
  { colorBy, palette, search, cursor }: AddressFrameRequest,
): Promise<Pick<AddressScene, 'classOf' | 'palette' | 'dimmedClass'>> {
  const { length } = palette.classes;
  const classOf = await device.classesBy(colorBy, length);
  const { mask } = await device.matches(search, cursor);
  if (mask === undefined) return { classOf, palette };
  const classes = Uint32Array.of(...palette.classes, palette.dim);
  const dimmed = device.once(newDimClasses)(classOf, mask, length);
  return { classOf: dimmed, palette: { ...palette, classes }, dimmedClass: length };
}

// What the address map keeps of a device between queries, see `OpenDevice.once`.

const livesOf = ({ context: { replay, trace } }: OpenDevice): SegmentLives =>
  segmentLives(replay.segmentSpans, trace.events);

const addressIndexOf = (device: OpenDevice): AddressIndex =>
  buildAddressIndex(device.index, device.once(livesOf));

const addressPainterOf = (device: OpenDevice): AddressPainter =>
  new AddressPainter(device.once(addressIndexOf));

/** Short slices for what is drawn below the map: frames are more urgent. */
const FREE_SLICE_MS = 2;

const freeQueueOf = ({ clock }: OpenDevice): FrameQueue => new FrameQueue(clock, FREE_SLICE_MS);

interface SegmentFrames {
  readonly index: TimelineIndex;
  readonly classOf: Uint8Array;
  readonly painter: TimelinePainter;
}

function segmentFramesOf(device: OpenDevice): SegmentFrames {
  const { replay, trace } = device.context;
  const { length, timeUs } = trace.events;
  const lives = device.once(livesOf);
  const index = buildSegmentIndex(lives, replay, length, timeUs);
  const isPrivate = (pool: number) => trace.pools[pool]?.id.some((part) => part !== 0) ?? false;
  const classOf = classesOfSegments(lives, isPrivate);
  return { index, classOf, painter: new TimelinePainter(index) };
}

const newDimClasses = () => lastOnly(dimClasses);
