import { lowerBound } from '../base/binary-search.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { ActionCount } from './event-list-types.ts';

/** Where an event stands in a list. */
export interface EventRowIndex {
  /** Of the event, or of the first one after it; the list's length when there is none. */
  readonly row: number;
  readonly isListed: boolean;
}

/** Some of a trace's events, in order. */
export class EventList {
  readonly length: number;
  /**
   * Every action of the trace with the number of its events that pass all of the filter but the
   * actions chosen: what choosing it would list.
   */
  readonly actions: readonly ActionCount[];
  /** Undefined: the events from #first on, without a gap. */
  readonly #events: Uint32Array | undefined;
  readonly #first: EventIndex;

  constructor(
    events: Uint32Array | { readonly first: EventIndex; readonly length: number },
    actions: readonly ActionCount[],
  ) {
    this.length = events.length;
    this.actions = actions;
    this.#events = 'first' in events ? undefined : events;
    this.#first = 'first' in events ? events.first : 0;
  }

  event(row: number): EventIndex {
    return this.#events === undefined ? this.#first + row : this.#events[row];
  }

  rowIndex(event: EventIndex): EventRowIndex {
    const row =
      this.#events === undefined
        ? Math.max(0, Math.min(event - this.#first, this.length))
        : lowerBound(this.#events, event);
    return { row, isListed: row < this.length && this.event(row) === event };
  }

  /** Rows from `from` to before `to`, cut to the list. */
  slice(from: number, to: number): readonly EventIndex[] {
    const first = Math.max(0, from);
    const count = Math.max(0, Math.min(to, this.length) - first);
    return Array.from({ length: count }, (_, i) => this.event(first + i));
  }
}
