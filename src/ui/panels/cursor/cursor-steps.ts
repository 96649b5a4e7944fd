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

const STEP_KEYS: Readonly<Record<string, number>> = {
  ',': -1,
  '.': 1,
  '<': -BIG_STEP,
  '>': BIG_STEP,
};

type Goal = (device: DeviceInfo, cursor: EventIndex | undefined) => EventIndex | undefined;

const GOAL_KEYS: Readonly<Record<string, Goal>> = {
  p: ({ peaks }) => peaks.allocatedBytes.event,
  r: ({ peaks }) => peaks.reservedBytes.event,
  o: (device, cursor) => nextOom(device, cursor, 1),
  O: (device, cursor) => nextOom(device, cursor, -1),
  e: ({ events }) => events - 1,
};

/** Returns false if the key has no action here. */
export function onCursorKey(key: string, device: DeviceInfo, view: ViewStore): boolean {
  const { cursor } = view.getState().view;
  const step = STEP_KEYS[key];
  const goal = GOAL_KEYS[key];
  if (step !== undefined) view.move({ cursor: stepped(device, cursor, step) });
  else if (goal !== undefined) {
    const event = goal(device, cursor);
    if (event !== undefined && event >= 0) view.commit({ cursor: event });
  } else if (key === 'm') view.commit({ secondCursor: cursorEvent(device, cursor) });
  else if (key === 'M') view.commit({ secondCursor: undefined });
  else return false;
  return true;
}

/** Handles the cursor's keys wherever the focus is, except in text fields and dialogs. */
export function useCursorKeys(): void {
  const { device } = useDevice();
  const { view } = useStores();
  useShortcuts((key) => {
    if (device.events === 0 || document.activeElement?.closest('dialog') != null) return false;
    return onCursorKey(key, device, view);
  });
}
