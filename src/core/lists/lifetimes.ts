import type { DeviceContext } from '../device/device-context.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { Clock, StateAt } from './allocation-list-types.ts';

/** When allocations lived, in events or in microseconds since the first event. */
export class Lifetimes {
  readonly #context: DeviceContext;
  readonly #last: EventIndex;

  constructor(context: DeviceContext) {
    this.#context = context;
    this.#last = context.trace.events.length - 1;
  }

  /**
   * How long the trace shows it: "state t" spans t to t + 1, so what is not freed reaches to the
   * number of events, and what was there before begins at 0. In time: from the first to the last event.
   * NaN without events, and in time without times: nothing was seen to live.
   */
  lifetime(id: AllocationIndex, clock: Clock): number {
    const { start, end } = this.#context.replay.allocations;
    const from = Math.max(0, start[id]);
    const { length, timeUs } = this.#context.trace.events;
    if (length === 0) return Number.NaN;
    if (clock === 'events') return Math.min(end[id], length) - from;
    if (timeUs === undefined) return Number.NaN;
    return timeUs[Math.min(end[id], length - 1)] - timeUs[from];
  }

  /** `cursor`: the event after which the state is taken; undefined: the end. */
  stateAt(id: AllocationIndex, cursor: EventIndex | undefined): StateAt {
    const { start, freeRequested, end } = this.#context.replay.allocations;
    const at = Math.min(cursor ?? this.#last, this.#last);
    if (start[id] > at) return 'later';
    if (end[id] <= at) return 'freed';
    return freeRequested[id] <= at ? 'pending' : 'live';
  }
}
