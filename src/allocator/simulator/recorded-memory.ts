import { addTo } from '../../base/collections.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { BEFORE_TRACE, type SegmentSpanTable } from '../replay/types.ts';

/**
 * Where the driver put segments in the recorded run, and so probably where it puts others of the same size: which of
 * its addresses are free hardly depends on the moment. If a run under other settings takes its third segment of 2 MiB
 * five requests earlier than the recorded one, it gets the third one's place.
 */

interface Place {
  readonly event: EventIndex;
  readonly address: number;
}

/** By size of cudaMalloc's segments: their places in the order of allocation. */
export type RecordedPlaces = ReadonlyMap<number, readonly Place[]>;

/** @param spans all segments of a device; those from before the trace are left out */
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

/** Returns each recorded place once. */
export class PlaceGuesser {
  readonly #places: RecordedPlaces;
  readonly #next = new Map<number, number>();

  constructor(places: RecordedPlaces) {
    this.#places = places;
  }

  /** Yields the place recorded for the request of `event`, then later ones of that size; each only once. */
  *places(segmentBytes: number, event: EventIndex): Generator<number> {
    const places = this.#places.get(segmentBytes);
    if (places === undefined) return;
    let at = this.#next.get(segmentBytes) ?? 0;
    // The event of a new segment comes before that of the request that needs it.
    while (at < places.length && places[at].event < event - 1) at++;
    this.#next.set(segmentBytes, at);
    for (; at < places.length; at++) {
      this.#next.set(segmentBytes, at + 1);
      yield places[at].address;
    }
  }
}

/**
 * Bytes over the trace in equal parts, as the lowest and highest value of each. Part b of n is the events from ceil(b *
 * events / n). Each part includes the value it begins with. Example: 4 events with 1, 5, 2, 3 bytes after them, in 2
 * parts, starting from 0: lowest 0 and 2, highest 5 and 5.
 */
export interface ByteCurve {
  readonly lowest: Float64Array;
  /** NaN for parts that were not run, after an out-of-memory error that the recording did not have. */
  readonly highest: Float64Array;
}

/** First event of a part; see {@link ByteCurve}. For part `parts`, the number of events. */
export function firstEventOfPart(part: number, events: number, parts: number): number {
  return Math.ceil((part * events) / parts);
}

export class ByteCurveBuilder {
  readonly #lowest: Float64Array;
  readonly #highest: Float64Array;
  readonly #events: number;
  #part = -1;
  #bytes = 0;

  constructor(events: number, parts: number) {
    this.#events = events;
    const length = Math.min(parts, events);
    this.#lowest = new Float64Array(length).fill(Number.NaN);
    this.#highest = new Float64Array(length).fill(Number.NaN);
  }

  /** Sets the bytes from this event on; -1 is before the trace. Events must not decrease. */
  set(event: number, bytes: number): void {
    if (event >= 0) {
      this.#goTo(Math.floor((event * this.#highest.length) / this.#events));
      this.#lowest[this.#part] = Math.min(this.#lowest[this.#part], bytes);
      this.#highest[this.#part] = Math.max(this.#highest[this.#part], bytes);
    }
    this.#bytes = bytes;
  }

  /** @param events number of events that were run */
  finish(events: number): ByteCurve {
    const parts = Math.ceil((events * this.#highest.length) / this.#events);
    if (events > 0) this.#goTo(Math.min(parts, this.#highest.length) - 1);
    return { lowest: this.#lowest, highest: this.#highest };
  }

  /** Starts the parts up to this one with the current bytes. */
  #goTo(part: number): void {
    while (this.#part < part) {
      this.#part++;
      this.#lowest[this.#part] = this.#bytes;
      this.#highest[this.#part] = this.#bytes;
    }
  }
}
