/** The address map as a plot, and its tooltips. */
import { bisector } from 'd3';
import { LruCache } from '../../../base/collections.ts';
import { formatBytes, formatCount } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { AddressHit } from '../../../draw/address-map/address-hits.ts';
import type { AddressSlot, AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { AddressFrame } from '../../../draw/address-map/address-painter.ts';
import type { AddressPalette } from '../../../draw/address-map/address-rows.ts';
import type { HighlightStyle } from '../../../draw/address-map/highlights.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type {
  AddressFrameRequest,
  AddressHighlight,
  PixelRequest,
  SessionApi,
} from '../../../worker/protocol.ts';
import type { PlotHit, PlotSource } from '../../plot/plot-source.ts';
import { hitContent, type TooltipContent } from '../../plot/tooltip.ts';
import { segmentKindText } from '../../shared/segment-content.tsx';
import { paletteFor, plotColors, plotStyle, type ThemeName, toAbgr } from '../../theme/palette.ts';

export interface AddressSourceOptions {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'query'>;
  readonly slots: AddressSlots;
  /** Outlined besides the pinned allocation; keep it the same object while unchanged. */
  readonly highlight?: AddressHighlight | undefined;
  readonly onPinned: (place: PixelRequest | undefined) => void;
}

const NOTHING: AddressHighlight = { allocations: [], gaps: [] };

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
      // The cursor moves often, and few searches need it.
      cursor: view.search === '' ? undefined : view.cursor,
    }),
    frame: (request, signal) => session.query('addressFrame', request, { signal }),
    heightText: (offset) => addressText(slots, offset),
    hit: async (place) => {
      const { hit, crosshair } = await session.query('addressHit', {
        deviceIndex: index,
        ...place,
      });
      return { hit: hit && plotHit(hit, place, slots), crosshair };
    },
    newestAt: async (state) => {
      const place = await session.query('newestAddress', { deviceIndex: index, state });
      return place && { state, bytesFrom: place.from, bytesTo: place.to };
    },
    pinned: onPinned,
  };
}

/** A hover outlines the block, else the gap, else the pixel. */
function plotHit(hit: AddressHit, pixel: PixelRequest, slots: AddressSlots['slots']): PlotHit {
  const { block, gap } = hit;
  const bottomBytes = block?.bottomBytes ?? gap?.from ?? pixel.bytesFrom;
  const topBytes = block ? bottomBytes + block.blockBytes : (gap?.to ?? pixel.bytesTo);
  return { bottomBytes, topBytes, content: addressContent(hit, slots), selection: block?.label };
}

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
  return { title: 'Not reserved', lines: ['at this event'] };
}

/** 'in s7f…_0: 20.0 MiB segment of the large pool'; of several segments, the one that covers most. */
function segmentLine({ segment, segments }: AddressHit): string {
  if (segment === undefined) return '';
  const others = segments > 1 ? `, and ${formatCount(segments - 1)} more` : '';
  const size = formatBytes(segment.sizeBytes);
  return `in ${segment.label}: ${size} ${segmentKindText(segment)}${others}`;
}

const byOffset = bisector(({ offset }: AddressSlot) => offset);

/** '0x7f064c000000' for an offset in the packed order; '' outside it. */
export function addressText(slots: readonly AddressSlot[], offset: number): string {
  const slot = slots[byOffset.right(slots, offset) - 1];
  if (slot === undefined || offset >= slot.offset + slot.sizeBytes) return '';
  const address = slot.address + BigInt(Math.floor(offset - slot.offset));
  return `0x${address.toString(16)}`;
}

/**
 * `gap`, reserved and free, differs from every block and from the background, yet stays calm in large areas. Blocks that
 * don't match the search are `dim`, which differs from free memory; `faint` if only matches are shown. `free` and
 * `largest` are in the strip below the map: total free memory, and the largest free range.
 */
const COLORS = {
  dark: { gap: '#564a1c', dim: '#2f363f', faint: '#1b2027', free: '#8a7730', largest: '#fff2bd' },
  light: { gap: '#ffeaa3', dim: '#dfe3e9', faint: '#f2f4f7', free: '#f4d774', largest: '#7a4b00' },
} as const satisfies Readonly<Record<ThemeName, object>>;

export const addressColors = (theme: ThemeName) => COLORS[theme];

/** Colors of a finding's blocks and gaps, the same as its highlight over the plot. */
export function highlightColors(theme: ThemeName): Readonly<Record<HighlightStyle, string>> {
  const { danger, lines } = plotStyle(theme);
  return { block: danger, gap: lines.inactiveSplitBytes };
}

const palettes = new LruCache<AddressPalette>(16);

/** Returns the same object for the same arguments, like paletteFor. */
function addressPaletteFor(
  theme: ThemeName,
  { colorBy, siteColors, onlyMatches }: Pick<ViewState, 'colorBy' | 'siteColors' | 'onlyMatches'>,
): AddressPalette {
  return palettes.getOrMake(`${theme} ${colorBy} ${onlyMatches} ${siteColors}`, () => {
    const { gap, dim, faint } = COLORS[theme];
    return {
      ...paletteFor(theme, colorBy, siteColors),
      gap: toAbgr(gap),
      dim: toAbgr(onlyMatches ? faint : dim),
      // The background shows between segments, as between tiles.
      separator: toAbgr(plotColors(theme).background),
      highlight: {
        block: toAbgr(highlightColors(theme).block),
        gap: toAbgr(highlightColors(theme).gap),
      },
    };
  });
}

/** The largest blocks: more outlines would hide the picture. The search shows all of them. */
export const MOST_OUTLINED = 1000;

/** 'blocks of the finding', 'blocks of the finding (the 1,000 largest of 2,315)' */
export const outlinedText = (blocks: number): string =>
  `blocks of the finding${blocks > MOST_OUTLINED ? ` (the ${formatCount(MOST_OUTLINED)} largest of ${formatCount(blocks)})` : ''}`;
