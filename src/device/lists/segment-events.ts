/** Maps segment events to the replay's spans that they open and close. */

import { isReleasing, isReserving, isSegmentAction } from '../../allocator/replay/trace-events.ts';
import { BEFORE_TRACE, NEVER, type SegmentSpanTable } from '../../allocator/replay/types.ts';
import { addTo } from '../../base/collections.ts';
import type { EventIndex, EventTable } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';

/** Row of the replay's SegmentSpanTable. */
type SpanIndex = number;

export class SegmentEvents {
  readonly #events: EventTable;
  readonly #spans: SegmentSpanTable;
  readonly #opened = new Map<EventIndex, SpanIndex>();
  readonly #closed = new Map<EventIndex, SpanIndex[]>();
  readonly #uses: ReadonlyMap<EventIndex, number>;

  constructor({ trace, replay }: DeviceModel) {
    this.#events = trace.events;
    this.#spans = replay.segmentSpans;
    const { start, end } = this.#spans;
    for (let span = 0; span < this.#spans.length; span++) {
      if (this.#isOpening(start[span])) this.#opened.set(start[span], span);
      if (end[span] !== NEVER) addTo(this.#closed, end[span], span);
    }
    this.#uses = earlierSegments(trace.events);
  }

  /** The span that the event opens, or one that it closes; -1 for none. */
  span(event: EventIndex): SpanIndex {
    return this.#opened.get(event) ?? this.#closed.get(event)?.[0] ?? -1;
  }

  /** How often a segment at this address was freed or unmapped before: the number in its label. */
  earlierUses(event: EventIndex): number {
    return this.#uses.get(event) ?? 0;
  }

  /**
   * The events at the other end, in order: for segment_alloc its segment_free, for segment_map the first segment_unmap
   * that takes part of it, for segment_unmap all maps that it takes from. BEFORE_TRACE and NEVER stand for events
   * outside the trace. Empty if the event opens and closes nothing.
   */
  others(event: EventIndex): readonly EventIndex[] {
    const opened = this.#opened.get(event);
    if (opened !== undefined) return [this.#spans.end[opened]];
    const origins = (this.#closed.get(event) ?? []).map((span) => this.#origin(span));
    return [...new Set(origins)].sort((a, b) => a - b);
  }

  /** Where a span was mapped. A span that begins with an unmap is the rest of an earlier span. */
  #origin(span: SpanIndex): EventIndex {
    const { start, address } = this.#spans;
    let at = span;
    while (start[at] !== BEFORE_TRACE && !this.#isOpening(start[at])) {
      const parent = this.#closed.get(start[at])?.find((row) => this.#contains(row, address[at]));
      if (parent === undefined) return start[at];
      at = parent;
    }
    return start[at];
  }

  #contains(span: SpanIndex, address: number): boolean {
    const { address: from, sizeBytes } = this.#spans;
    return from[span] <= address && address < from[span] + sizeBytes[span];
  }

  #isOpening(event: EventIndex): boolean {
    return isReserving(this.#events.action[event]);
  }
}

/** Segment events only; omits events without an earlier segment. */
function earlierSegments({ action, address, length }: EventTable): Map<EventIndex, number> {
  const uses = new Map<EventIndex, number>();
  const ended = new Map<number, number>();
  for (let event = 0; event < length; event++) {
    if (!isSegmentAction(action[event])) continue;
    const before = ended.get(address[event]) ?? 0;
    if (before > 0) uses.set(event, before);
    if (isReleasing(action[event])) ended.set(address[event], before + 1);
  }
  return uses;
}
