import type { EventIndex } from '../snapshot/tables.ts';

export interface EventWindow {
  readonly from: EventIndex;
  /** One past the last event. */
  readonly to: EventIndex;
}
