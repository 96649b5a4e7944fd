/**
 * Reserved bytes of the recorded run, from the lives of its segments: a step each time that they change.
 * Of the replay's columns alone, so that it works on a copy of them without the replay's functions.
 */
import { upperBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { BEFORE_TRACE, NEVER, type SegmentSpanTable } from '../replay/types.ts';

export class ReservedSteps {
  /** Ascending; `bytes[i]` from state events[i] to the next. events[0] is {@link BEFORE_TRACE}. */
  readonly events: readonly EventIndex[];
  readonly bytes: readonly number[];

  constructor({ start, end, sizeBytes, length }: SegmentSpanTable) {
    const changes = new Map<EventIndex, number>([[BEFORE_TRACE, 0]]);
    const add = (event: EventIndex, bytes: number) =>
      changes.set(event, (changes.get(event) ?? 0) + bytes);
    for (let span = 0; span < length; span++) {
      add(start[span], sizeBytes[span]);
      if (end[span] !== NEVER) add(end[span], -sizeBytes[span]);
    }
    const steps = [...changes].sort(([a], [b]) => a - b);
    let now = 0;
    this.events = steps.map(([event]) => event);
    this.bytes = steps.map(([, bytes]) => {
      now += bytes;
      return now;
    });
  }

  /** Bytes reserved after an event; after {@link BEFORE_TRACE} those that were there before. */
  after(event: EventIndex): number {
    return this.bytes[upperBound(this.events, event) - 1];
  }
}
