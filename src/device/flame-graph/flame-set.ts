/** From what the page has in its hands (cursors, a window, a wish) to a set of allocations. */
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex, EventTable } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { FlameSet, FlameWeight } from './types.ts';

export type FlameDataset = 'cursor' | 'peak' | 'end' | 'window' | 'difference';

/** A range of a plot: events, or microseconds since the first event. */
export interface FlameWindow {
  readonly axis: 'event' | 'time';
  readonly from: number;
  readonly to: number;
}

export interface FlameChoice {
  readonly dataset: FlameDataset;
  readonly weight: FlameWeight;
  /** Undefined where none is set: the end then stands for it. */
  readonly cursor: EventIndex | undefined;
  readonly mark: EventIndex | undefined;
  /** Undefined: all events. */
  readonly window: FlameWindow | undefined;
}

/** Undefined when a difference has nothing to compare with: no mark, or a mark at the cursor. */
export function resolveDataset(
  { trace, replay }: DeviceModel,
  choice: FlameChoice,
): FlameSet | undefined {
  const end = trace.events.length - 1;
  const clamp = (event: EventIndex | undefined) => Math.min(event ?? end, end);
  switch (choice.dataset) {
    case 'cursor':
      return { kind: 'live', event: clamp(choice.cursor) };
    case 'end':
      return { kind: 'live', event: end };
    case 'peak': {
      const { activeBytes, allocatedBytes } = replay.peaks;
      const peak = choice.weight === 'allocated' ? allocatedBytes : activeBytes;
      return { kind: 'live', event: peak.event };
    }
    case 'window':
      return { kind: 'window', ...eventsInside(trace.events, choice.window) };
    case 'difference': {
      if (choice.mark === undefined) return undefined;
      const [mark, cursor] = [clamp(choice.mark), clamp(choice.cursor)];
      if (mark === cursor) return undefined;
      // From the mark to the cursor, whichever comes first: the figures beside the mark have the same sign.
      return { kind: 'difference', before: mark, after: cursor };
    }
  }
}

/** The events at from <= x < to: those that a window of a plot shows. */
function eventsInside(
  { length, timeUs }: EventTable,
  window: FlameWindow | undefined,
): { readonly from: EventIndex; readonly to: EventIndex } {
  if (window === undefined) return { from: 0, to: length };
  const inside = (event: number) => Math.min(length, Math.max(0, event));
  if (window.axis === 'event') {
    return { from: inside(Math.ceil(window.from)), to: inside(Math.ceil(window.to)) };
  }
  if (timeUs === undefined || length === 0) return { from: 0, to: 0 };
  const origin = timeUs[0];
  return {
    from: lowerBound(timeUs, window.from + origin),
    to: lowerBound(timeUs, window.to + origin),
  };
}
