/**
 * Where the driver put segments in the recorded run, and so where it would put others of that size: what
 * is free of its address space hardly depends on when it is asked. A run under other settings that takes
 * its third segment of 2 MiB five requests earlier than the recorded one gets the third one's place.
 */
import { addTo } from '../../base/grouping.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { BEFORE_TRACE, type SegmentSpanTable } from '../replay/types.ts';

interface Place {
  readonly event: EventIndex;
  readonly address: number;
}

/** Of each size of cudaMalloc's segments, the places in the order in which they were taken. */
export type RecordedPlaces = ReadonlyMap<number, readonly Place[]>;

/** @param spans a device's segments, whenever they lived; those from before the trace are left out */
export function recordedPlaces(spans: SegmentSpanTable): RecordedPlaces {
  const { start, address, sizeBytes, isExpandable, length } = spans;
  const rows = Array.from({ length }, (_, span) => span)
    .filter((span) => start[span] !== BEFORE_TRACE && isExpandable[span] === 0)
    .sort((a, b) => start[a] - start[b]);
  const places = new Map<number, Place[]>();
  for (const span of rows) {
    addTo(places, sizeBytes[span], { event: start[span], address: address[span] });
  }
  return places;
}

/** Hands each recorded place out once. */
export class PlaceGuesser {
  readonly #places: RecordedPlaces;
  readonly #next = new Map<number, number>();

  constructor(places: RecordedPlaces) {
    this.#places = places;
  }

  /**
   * The place that the recorded run took for the request of `event`, then those that it took later for
   * segments of that size. What was looked at is not offered again.
   */
  *places(segmentBytes: number, event: EventIndex): Generator<number> {
    const places = this.#places.get(segmentBytes);
    if (places === undefined) return;
    let at = this.#next.get(segmentBytes) ?? 0;
    // The event of a new segment stands before that of the request for which it is taken.
    while (at < places.length && places[at].event < event - 1) at++;
    this.#next.set(segmentBytes, at);
    for (; at < places.length; at++) {
      this.#next.set(segmentBytes, at + 1);
      yield places[at].address;
    }
  }
}
