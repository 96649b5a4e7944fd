/** What lies under a pixel of the address map, and what a segment holds, in words and numbers. */
import type { DeviceContext } from '../device/device-context.ts';
import { describeHit } from '../device/hit.ts';
import type { HitResult } from '../device/types.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AddressBand, MarkStyle } from './address-bands.ts';
import { addressHits } from './address-hits.ts';
import type { AddressIndex } from './address-index.ts';
import type { ByteRange } from './address-ranges.ts';
import { type SegmentFacts, segmentFacts } from './segment-facts.ts';
import type { SegmentLife } from './segment-lives.ts';

/** Under a pixel of the address map; offsets are bytes of the packed order. */
export interface AddressHit {
  /** The block that covers most of the pixel; undefined where none does. */
  readonly block: HitResult | undefined;
  /** The unbroken free range that most of the pixel's free bytes are in, and those bytes. */
  readonly gap: ByteRange | undefined;
  readonly freeBytes: number;
  /** The segment that covers most of the pixel; undefined where nothing is reserved. */
  readonly segment: SegmentFacts | undefined;
  /** Segments that overlap the pixel. */
  readonly segments: number;
}

export function addressHit(
  context: DeviceContext,
  index: AddressIndex,
  state: EventIndex,
  range: ByteRange,
): AddressHit {
  const hits = addressHits(index, state, range.from, range.to);
  const { main, segment } = hits;
  const mainBottomBytes = main < 0 ? 0 : index.layout.allocationOffset[main];
  return {
    block: describeHit(context, state, { ...hits, mainBottomBytes }),
    gap: hits.gap,
    freeBytes: hits.freeBytes,
    segment: segment < 0 ? undefined : segmentFacts(context, index.segments, segment),
    segments: hits.segments.length,
  };
}

/** Where the newest of the live blocks is; undefined when there is none. */
export function newestBlock(
  { timeline, layout }: AddressIndex,
  state: EventIndex,
): ByteRange | undefined {
  const { end, sizeBytes } = timeline.allocations;
  let id = timeline.nextId(state) - 1;
  while (id >= 0 && end[id] <= state) id--;
  if (id < 0) return undefined;
  const from = layout.allocationOffset[id];
  return { from, to: from + sizeBytes[id] };
}

/** A segment, and what it holds at a state. */
export interface SegmentUse {
  readonly facts: SegmentFacts;
  /** Where it is in the address map, and when: to be highlighted there. */
  readonly band: AddressBand;
  /** Undefined while it is not reserved. */
  readonly use: SegmentContent | undefined;
}

export interface SegmentContent {
  readonly blocks: number;
  readonly usedBytes: number;
  /** Largest unbroken free range in it; an expandable one may go on in the next piece. */
  readonly largestFreeBytes: number;
}

export function segmentUse(
  context: DeviceContext,
  index: AddressIndex,
  segment: SegmentLife,
  state: EventIndex,
): SegmentUse {
  const { segments, layout } = index;
  const band: AddressBand = {
    offset: layout.segmentOffset[segment],
    bytes: segments.sizeBytes[segment],
    from: segments.start[segment],
    to: segments.end[segment],
  };
  const facts = segmentFacts(context, segments, segment);
  if (state < band.from || state >= band.to) return { facts, band, use: undefined };
  const hits = addressHits(index, state, band.offset, band.offset + band.bytes);
  const { gap } = hits;
  const use = {
    blocks: hits.ids.length,
    usedBytes: band.bytes - hits.freeBytes,
    largestFreeBytes: gap === undefined ? 0 : gap.to - gap.from,
  };
  return { facts, band, use };
}

/** An allocation's rectangle in the address map; none for -1. */
export function allocationBands(
  index: AddressIndex,
  id: AllocationIndex,
  style?: MarkStyle,
): readonly AddressBand[] {
  if (id < 0) return [];
  const { start, end, sizeBytes } = index.timeline.allocations;
  const offset = index.layout.allocationOffset[id];
  const band = { offset, bytes: sizeBytes[id], from: start[id], to: end[id] };
  return [style === undefined ? band : { ...band, style }];
}
