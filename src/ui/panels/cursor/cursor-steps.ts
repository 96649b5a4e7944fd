/** Where the cursor can go, and the keys that move it. It stands on an event of the trace. */

import { type DeviceInfo, failedOoms } from '../../../device/model/device-info.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores } from '../../../state/stores.ts';
import type { ViewStore } from '../../../state/view-store.ts';
import { useShortcuts } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';

/** Events per big step, by Shift or the outer buttons. */
export const BIG_STEP = 100;

/** The cursor's event. Without a cursor, or beyond the trace, the last event. */
export function cursorEvent(device: DeviceInfo, cursor: EventIndex | undefined): EventIndex {
  return Math.min(cursor ?? Infinity, device.events - 1);
}

/** The event `step` events away, clamped to the trace. */
export function stepped(
  device: DeviceInfo,
  cursor: EventIndex | undefined,
  step: number,
): EventIndex {
  return Math.max(0, Math.min(device.events - 1, cursorEvent(device, cursor) + step));
}

/** The next OOM visible to the program before (-1) or after (1) the cursor; wraps around. */
export function nextOom(
  device: DeviceInfo,
  cursor: EventIndex | undefined,
  direction: -1 | 1,
): EventIndex | undefined {
  const ooms = failedOoms(device);
  if (direction > 0) {
    return (ooms.find(({ event }) => event > (cursor ?? -1)) ?? ooms[0])?.event;
  }
  return (ooms.findLast(({ event }) => event < (cursor ?? device.events)) ?? ooms.at(-1))?.event;
}

/** What the cursor's keys do. */
export function cursorKeys(device: DeviceInfo, view: ViewStore) {
  const cursor = () => view.getState().view.cursor;
  const step = (events: number) => () =>
    device.events > 0 && view.move({ cursor: stepped(device, cursor(), events) });
  // A peak from before the trace is at no event.
  const goTo = (goal: () => EventIndex | undefined) => () => {
    const event = goal() ?? -1;
    if (event >= 0) view.commit({ cursor: event });
  };
  const clear = () => view.commit({ secondCursor: undefined });
  return {
    ',': step(-1),
    '.': step(1),
    '<': step(-BIG_STEP),
    '>': step(BIG_STEP),
    p: goTo(() => device.peaks.allocatedBytes.event),
    r: goTo(() => device.peaks.reservedBytes.event),
    o: goTo(() => nextOom(device, cursor(), 1)),
    O: goTo(() => nextOom(device, cursor(), -1)),
    e: goTo(() => device.events - 1),
    m: () => view.commit({ secondCursor: cursorEvent(device, cursor()) }),
    M: clear,
  };
}

/** Handles the cursor's keys wherever the focus is, except in text fields and dialogs. */
export function useCursorKeys(): void {
  const { device } = useDevice();
  const { view } = useStores();
  useShortcuts(device.events === 0 ? {} : cursorKeys(device, view));
}
