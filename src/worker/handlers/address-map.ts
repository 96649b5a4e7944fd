/** The address map and the segments over time: pictures of both, and hit tests. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { crosshairAt } from '../../device/model/events.ts';
import {
  type AddressHit,
  addressHit,
  newestBlock,
  segmentUse,
} from '../../draw/address-map/address-hits.ts';
import { buildAddressIndex } from '../../draw/address-map/address-index.ts';
import { addressSlots } from '../../draw/address-map/address-layout.ts';
import { AddressPainter } from '../../draw/address-map/address-painter.ts';
import type { AddressPalette } from '../../draw/address-map/address-rows.ts';
import { FreeSweep, freeColumns } from '../../draw/address-map/free-memory.ts';
import {
  allocationHighlights,
  type FreeRange,
  gapHighlights,
  type Highlight,
} from '../../draw/address-map/highlights.ts';
import type { SegmentLife } from '../../draw/address-map/segment-lives.ts';
import { type SegmentStackHit, SegmentTimeline } from '../../draw/address-map/segment-timeline.ts';
import type { ColumnAxis } from '../../draw/timeline/columns.ts';
import type { ColorBy, Palette, Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { FrameQueue } from '../frame-queue.ts';
import type { OpenDevice } from '../open-device.ts';
import { type DeviceRequest, queryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';
import type { PixelInfo, PixelRequest } from './timeline.ts';

export interface AddressFrameRequest extends DeviceRequest {
  /** y in bytes of the packed addresses, see address-layout.ts. */
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: AddressPalette;
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

export const addressMapHandlers = queryHandlers({
  addressSlots(device) {
    const { classOf } = device.once(segmentsOf);
    return addressSlots(device.once(addressIndexOf), classOf, device.context.snapshot.addresses);
  },

  /** The newest wins, over timeline frames too. */
  async addressFrame(device, request: AddressFrameRequest, { signal }) {
    const painter = device.once(addressPainterOf);
    const { viewport, palette, colorBy, search, cursor, selected, highlight } = request;
    const index = device.once(addressIndexOf);
    const marked = highlight.allocations.flatMap((id) => allocationHighlights(index, id, 'block'));
    const highlights = [...highlight.gaps, ...marked, ...allocationHighlights(index, selected)];
    const begin = async (out: Uint32Array | undefined) => {
      const classOf = await device.classesBy(colorBy, palette.classes.length);
      const { mask } = await device.matches(search, cursor);
      return painter.begin({ viewport, classOf, palette, mask, highlights }, out);
    };
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
    const { painter, classOf } = device.once(segmentsOf);
    const scene = { viewport, classOf, palette, lines: [], selected };
    const begin = (out: Uint32Array | undefined) => painter.begin(scene, out);
    return transferring(await device.frames.draw(viewport, begin, signal));
  },

  /** Covers all segments of the trace, in the order of SEGMENT_CLASSES. */
  segmentKinds: (device) => device.once(segmentsOf).kinds(),

  segmentHitOverTime: (
    device,
    { state, bytesFrom, bytesTo }: PixelRequest,
  ): PixelInfo<SegmentStackHit> => ({
    hit: device.once(segmentsOf).hit(state, bytesFrom, bytesTo),
    crosshair: crosshairAt(device.context, state),
  }),

  segmentUse: (device, { segment, state }: AtState & { readonly segment: SegmentLife }) =>
    segmentUse(device.context, device.once(addressIndexOf), segment, state),
});

// What the address map keeps of a device between queries, see `OpenDevice.once`.

const segmentsOf = ({ context }: OpenDevice) => new SegmentTimeline(context);

const addressIndexOf = (device: OpenDevice) =>
  buildAddressIndex(device.index, device.once(segmentsOf).lives);

const addressPainterOf = (device: OpenDevice) => new AddressPainter(device.once(addressIndexOf));

/** Short slices for what is drawn below the map: frames are more urgent. */
const FREE_SLICE_MS = 2;

const freeQueueOf = ({ clock }: OpenDevice) => new FrameQueue(clock, FREE_SLICE_MS);
