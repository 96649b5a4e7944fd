import type { AllocationIndex } from '../../replay/types.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import type { DeviceContext } from '../device-context.ts';
import type { Clock, StateAt } from './types.ts';

/** When allocations lived, in events or in microseconds since the first event. */
export class Lifetimes {
  readonly #context: DeviceContext;
  readonly #last: EventIndex;

  constructor(context: DeviceContext) {
    this.#context = context;
    this.#last = context.trace.events.length - 1;
  }

  /** How long the trace shows it: from its first event at the earliest, to its last at the latest. */
  lifetime(id: AllocationIndex, clock: Clock): number {
    const { start, end } = this.#context.replay.allocations;
    const until = Math.min(end[id], this.#last);
    if (clock === 'events') return until - start[id];
    const { timeUs } = this.#context.trace.events;
    if (timeUs === undefined || timeUs.length === 0) return Number.NaN;
    return timeUs[Math.max(0, until)] - timeUs[Math.max(0, start[id])];
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
