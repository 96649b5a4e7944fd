/** What drawing the address map needs beside the timeline's index; made when it is first shown. */

import { MaxEndPyramid } from '../raster/max-end-pyramid.ts';
import type { TimelineIndex } from '../raster/timeline-index.ts';
import type { AllocationTable } from '../replay/types.ts';
import { type AddressLayout, addressLayout } from './address-layout.ts';
import { type Places, placesOf } from './address-places.ts';
import type { SegmentLives } from './segment-lives.ts';

export interface AddressIndex {
  readonly timeline: TimelineIndex<AllocationTable>;
  readonly segments: SegmentLives;
  readonly segmentsMaxEnd: MaxEndPyramid;
  readonly layout: AddressLayout;
  readonly blockPlaces: Places;
  readonly segmentPlaces: Places;
}

/** 12 bytes an allocation: 23 MB and 80 ms for 1.9 M. */
export function buildAddressIndex(
  timeline: TimelineIndex<AllocationTable>,
  segments: SegmentLives,
): AddressIndex {
  const layout = addressLayout(segments, timeline.allocations);
  return {
    timeline,
    segments,
    segmentsMaxEnd: new MaxEndPyramid(segments.end),
    layout,
    blockPlaces: placesOf(layout.allocationOffset, timeline.allocations.sizeBytes),
    segmentPlaces: placesOf(layout.segmentOffset, segments.sizeBytes),
  };
}
