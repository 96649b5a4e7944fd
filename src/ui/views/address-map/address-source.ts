/** The address map, as a plot. */

import type { DeviceInfo } from '../../../device/model/types.ts';
import type { AddressHit } from '../../../draw/address-map/address-hits.ts';
import type { AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { AddressFrame } from '../../../draw/address-map/address-painter.ts';
import type {
  AddressFrameRequest,
  AddressHighlight,
} from '../../../worker/handlers/address-map.ts';
import type { SessionApi } from '../../../worker/protocol.ts';
import type { PlotHit, PlotPixel, PlotSource } from '../../plot/plot-source.ts';
import { addressContent, addressText } from './address-content.ts';
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
