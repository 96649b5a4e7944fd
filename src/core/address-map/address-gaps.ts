/** Free ranges that a finding tells of, as rectangles of the address map. */
import { upperBound } from '../base/binary-search.ts';
import { NEVER } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AddressBand } from './address-bands.ts';
import type { AddressIndex } from './address-index.ts';
import type { AddressLayout } from './address-layout.ts';

/** Free memory at one event, by address. */
export interface FreeRange {
  readonly address: number;
  readonly sizeBytes: number;
}

interface OpenBand {
  readonly offset: number;
  readonly bytes: number;
  from: EventIndex;
  to: EventIndex;
}

/**
 * Each range for as long as all of it was free, around `event`: from the last end of a block in it to
 * the next start of one. Ranges must not overlap. One pass over all allocations, 20 ms for 1.9 M.
 */
export function gapBands(
  index: AddressIndex,
  event: EventIndex,
  ranges: readonly FreeRange[],
): readonly AddressBand[] {
  const bands = ranges
    .flatMap((range) => placed(index.layout, range))
    .sort((a, b) => a.offset - b.offset);
  boundBySegments(index, event, bands);
  boundByBlocks(index, event, bands);
  return bands.map((band) => ({ ...band, style: 'gap' }));
}

/** None for a range outside of all that was ever reserved: the map has no place for it. */
function placed(layout: AddressLayout, { address, sizeBytes }: FreeRange): OpenBand[] {
  const { slotAddress, slotBytes, slotOffset } = layout;
  const slot = upperBound(slotAddress, address) - 1;
  if (slot < 0 || address + sizeBytes > slotAddress[slot] + slotBytes[slot]) return [];
  const offset = slotOffset[slot] + address - slotAddress[slot];
  return [{ offset, bytes: sizeBytes, from: -1, to: NEVER }];
}

function boundBySegments({ segments, layout }: AddressIndex, event: EventIndex, bands: OpenBand[]) {
  const find = overlaps(bands);
  for (let row = 0; row < segments.length; row++) {
    const [start, end] = [segments.start[row], segments.end[row]];
    if (start > event || end <= event) continue;
    const { from, to } = find(layout.segmentOffset[row], segments.sizeBytes[row]);
    for (let i = from; i < to; i++) {
      bands[i].from = Math.max(bands[i].from, start);
      bands[i].to = Math.min(bands[i].to, end);
    }
  }
}

/** Whether a block touches a range depends on its place, and there are few places. */
function boundByBlocks(
  { timeline, blockPlaces }: AddressIndex,
  event: EventIndex,
  bands: OpenBand[],
) {
  const { start, end, length } = timeline.allocations;
  const { count, offset, bytes, placeOf } = blockPlaces;
  const find = overlaps(bands);
  const first = new Int32Array(count);
  const last = new Int32Array(count);
  for (let place = 0; place < count; place++) {
    const { from, to } = find(offset[place], bytes[place]);
    first[place] = from;
    last[place] = to;
  }
  for (let id = 0; id < length; id++) {
    const place = placeOf[id];
    for (let i = first[place]; i < last[place]; i++) {
      if (end[id] <= event) bands[i].from = Math.max(bands[i].from, end[id]);
      else if (start[id] > event) bands[i].to = Math.min(bands[i].to, start[id]);
    }
  }
}

/** Which of the bands, by offset and apart from each other, a range overlaps. */
function overlaps(bands: readonly OpenBand[]) {
  const low = Float64Array.from(bands, (band) => band.offset);
  const high = Float64Array.from(bands, (band) => band.offset + band.bytes);
  return (offset: number, bytes: number) => {
    const from = upperBound(high, offset);
    let to = from;
    while (to < low.length && low[to] < offset + bytes) to++;
    return { from, to };
  };
}
