/** The address map, as a plot, and what it says of a place. */
import { bisector } from 'd3';
import { formatBytes, formatCount } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { AddressHit } from '../../../draw/address-map/address-hits.ts';
import type { AddressSlot, AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { AddressFrame } from '../../../draw/address-map/address-painter.ts';
import type {
  AddressFrameRequest,
  AddressHighlight,
} from '../../../worker/handlers/address-map.ts';
import type { SessionApi } from '../../../worker/protocol.ts';
import type { PlotHit, PlotPixel, PlotSource } from '../../plot/plot-source.ts';
import { hitContent, type TooltipContent } from '../../plot/tooltip.ts';
import { segmentKindText } from '../../shared/segment-content.tsx';
import { addressPaletteFor } from './address-palette.ts';

type AddressSession = Pick<SessionApi, 'addressFrame' | 'recycle' | 'addressHit' | 'newestAddress'>;

export interface AddressSourceOptions {
  readonly device: DeviceInfo;
  readonly session: AddressSession;
  readonly slots: AddressSlots;
  /** Outlined besides the pinned allocation; keep it the same object while it is. */
  readonly highlight?: AddressHighlight | undefined;
  readonly onPinned: (place: PlotPixel | undefined) => void;
}

const NOTHING: AddressHighlight = { allocations: [], bands: [] };

export function addressSource({
  device: { index },
  session,
  slots: { slots, totalBytes },
  highlight = NOTHING,
  onPinned,
}: AddressSourceOptions): PlotSource<AddressFrameRequest, AddressFrame> {
  const heights = { reachBytes: totalBytes, fittedBytes: totalBytes };
  return {
    heights: () => heights,
    yField: 'addresses',
    request: (viewport, { view, theme, selected }) => ({
      deviceIndex: index,
      viewport,
      colorBy: view.colorBy,
      palette: addressPaletteFor(theme, view),
      selected,
      highlight,
      search: view.search,
      // The cursor moves often and few searches ask for it.
      cursor: view.search === '' ? undefined : view.cursor,
    }),
    frame: (request, signal) => session.addressFrame(request, { signal }),
    recycle: (pixels) => void session.recycle({ deviceIndex: index, pixels }),
    heightText: (offset) => addressText(slots, offset),
    hit: async (place) => {
      const { hit, crosshair } = await session.addressHit({ deviceIndex: index, ...place });
      return { hit: hit && plotHit(hit, place, slots), crosshair };
    },
    newestAt: async (state) => {
      const place = await session.newestAddress({ deviceIndex: index, state });
      return place && { state, bytesFrom: place.from, bytesTo: place.to };
    },
    pinned: onPinned,
  };
}

/** What a hover outlines: a block, else the gap, else the pixel itself. */
function plotHit(hit: AddressHit, pixel: PlotPixel, slots: AddressSlots['slots']): PlotHit {
  const { block, gap } = hit;
  const content = addressContent(hit, slots);
  if (block === undefined) {
    const { from, to } = gap ?? { from: pixel.bytesFrom, to: pixel.bytesTo };
    return { bottomBytes: from, topBytes: to, content, selection: undefined };
  }
  const topBytes = block.bottomBytes + block.blockBytes;
  return { bottomBytes: block.bottomBytes, topBytes, content, selection: block.label };
}

/** What the tooltip says. */
export function addressContent(hit: AddressHit, slots: readonly AddressSlot[]): TooltipContent {
  const { block, gap, segment } = hit;
  const place = segment === undefined ? [] : [segmentLine(hit)];
  if (block !== undefined) {
    const content = hitContent(block);
    const free = hit.freeBytes > 0 ? [`${formatBytes(hit.freeBytes)} free within this pixel`] : [];
    return { ...content, lines: [...content.lines, ...free, ...place] };
  }
  if (gap !== undefined) {
    return {
      title: `${formatBytes(gap.to - gap.from)} free`,
      label: addressText(slots, gap.from),
      lines: ['reserved, with no block in it', ...place],
    };
  }
  return { title: 'Not reserved', label: '', lines: ['at this event'] };
}

/** 'in s7f…_0: 20.0 MiB segment of the large pool'; of several the one that covers most. */
function segmentLine({ segment, segments }: AddressHit): string {
  if (segment === undefined) return '';
  const others = segments > 1 ? `, and ${formatCount(segments - 1)} more` : '';
  const size = formatBytes(segment.sizeBytes);
  return `in ${segment.label}: ${size} ${segmentKindText(segment)}${others}`;
}

const byOffset = bisector(({ offset }: AddressSlot) => offset);

/** '0x7f064c000000' of an offset in the packed order; '' outside of it. */
export function addressText(slots: readonly AddressSlot[], offset: number): string {
  const slot = slots[byOffset.right(slots, offset) - 1];
  if (slot === undefined || offset >= slot.offset + slot.sizeBytes) return '';
  const address = slot.address + BigInt(Math.floor(offset - slot.offset));
  return `0x${address.toString(16)}`;
}
