/** What the address map needs beyond the timeline's index; built when the map is first shown. */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import { TupleInterner } from '../../base/interners.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { MaxEndPyramid } from '../timeline/max-end-pyramid.ts';
import type { TimelineIndex } from '../timeline/timeline-index.ts';
import { addressLayout } from './address-layout.ts';
import type { SegmentLives } from './segment-lives.ts';

export type AddressIndex = ReturnType<typeof buildAddressIndex>;

/** 12 bytes per allocation: 23 MB and 80 ms for 1.9 M. */
export function buildAddressIndex(
  timeline: TimelineIndex<AllocationTable>,
  segments: SegmentLives,
) {
  const layout = addressLayout(segments, timeline.allocations);
  return {
    timeline,
    segments,
    segmentsMaxEnd: new MaxEndPyramid(segments.end),
    layout,
    blockPlaces: distinctPlaces(layout.allocationOffset, timeline.allocations.sizeBytes),
    segmentPlaces: distinctPlaces(layout.segmentOffset, segments.sizeBytes),
  };
}

/**
 * The distinct places (offset and size) of blocks. An allocator reuses the same places step after step: 1.9 M
 * allocations of a training had 994. So a block that leaves a place and returns within one pixel column needs no
 * drawing, and per-place figures fit in the CPU cache where per-allocation figures do not.
 */
export type Places = ReturnType<typeof distinctPlaces>;

const WORD = 2 ** 32;
/** Sizes have up to 43 bits, so that the upper words of an offset and a size fit in one. */
const SIZE_WORDS = 2 ** 11;

/** 4 bytes per row, and 16 per place. */
export function distinctPlaces(offsets: Float64Array, sizes: NarrowColumn) {
  const places = new TupleInterner();
  /** The place of each row. */
  const placeOfRow = new Int32Array(offsets.length);
  for (let row = 0; row < placeOfRow.length; row++) {
    const [from, size] = [offsets[row], sizes[row]];
    const upper = Math.floor(from / WORD) * SIZE_WORDS + Math.floor(size / WORD);
    placeOfRow[row] = places.intern(from | 0, size | 0, upper);
  }
  const count = places.length;
  /** One entry per place, in order of first use. */
  const offset = new Float64Array(count);
  const bytes = new Float64Array(count);
  for (let row = 0; row < placeOfRow.length; row++) {
    offset[placeOfRow[row]] = offsets[row];
    bytes[placeOfRow[row]] = sizes[row];
  }
  return { count, offset, bytes, placeOfRow };
}
