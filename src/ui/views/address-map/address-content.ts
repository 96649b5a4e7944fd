/** What the tooltip of the address map says, and the line of what is pinned. */
import { formatBytes, formatCount } from '../../../base/format.ts';
import type { AddressHit } from '../../../draw/address-map/address-hits.ts';
import type { AddressSlot } from '../../../draw/address-map/address-layout.ts';
import { hitContent, type TooltipContent } from '../../plot/tooltip.ts';
import { segmentKindText } from '../../shared/segment-content.tsx';

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

/** '0x7f064c000000' of an offset in the packed order; '' outside of it. */
export function addressText(slots: readonly AddressSlot[], offset: number): string {
  const slot = slotAt(slots, offset);
  if (slot === undefined) return '';
  const address = slot.address + BigInt(Math.floor(offset - slot.offset));
  return `0x${address.toString(16)}`;
}

export function slotAt(slots: readonly AddressSlot[], offset: number): AddressSlot | undefined {
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const slot = slots[middle];
    if (slot !== undefined && slot.offset + slot.sizeBytes <= offset) low = middle + 1;
    else high = middle;
  }
  const found = slots[low];
  return found !== undefined && found.offset <= offset ? found : undefined;
}
