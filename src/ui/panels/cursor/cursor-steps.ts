/** Where the cursor can go: steps, peaks, OOMs, the end. It stands on an event of the trace. */
import { failedOoms } from '../../../device/model/device-info.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';

/** Events of a big step, by Shift or the outer buttons. */
export const BIG_STEP = 100;

/** Event at which the cursor stands: without one, or with one beyond the trace, the last. */
export function cursorEvent(device: DeviceInfo, cursor: EventIndex | undefined): EventIndex {
  return Math.min(cursor ?? Infinity, device.events - 1);
}

/** The event that is `step` events on, within the trace. */
export function stepped(
  device: DeviceInfo,
  cursor: EventIndex | undefined,
  step: number,
): EventIndex {
  return Math.max(0, Math.min(device.events - 1, cursorEvent(device, cursor) + step));
}

/** The nearest OOM that the program saw before (-1) or after (1) the cursor; the first or last one beyond the ends. */
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

export interface Jump {
  readonly label: string;
  /** Undefined where it cannot be gone to: see `note`. */
  readonly event: EventIndex | undefined;
  /** Bytes there; undefined where there is no such figure. */
  readonly bytes: number | undefined;
  readonly key: string | undefined;
}

/** More OOMs than a menu can list are gone through one by one. */
export const LISTED_OOMS = 12;

/** Places that are worth a look, in the order of a menu. */
export function jumpsOf(device: DeviceInfo): readonly Jump[] {
  const { peaks } = device;
  const ooms = failedOoms(device);
  const peak = (
    label: string,
    { bytes, event }: DeviceInfo['peaks']['activeBytes'],
    key?: string,
  ) => ({
    label,
    event: event < 0 ? undefined : event,
    bytes,
    key,
  });
  return [
    peak('Peak allocated', peaks.allocatedBytes, 'P'),
    peak('Peak active', peaks.activeBytes),
    peak('Peak reserved', peaks.reservedBytes, 'R'),
    ...ooms.slice(0, LISTED_OOMS).map(({ event, requestedBytes }, index) => ({
      label: ooms.length === 1 ? 'Out of memory' : `Out of memory, ${index + 1} of ${ooms.length}`,
      event,
      bytes: requestedBytes,
      key: index === 0 ? 'O' : undefined,
    })),
    { label: 'First event', event: 0, bytes: undefined, key: undefined },
    { label: 'End', event: device.events - 1, bytes: undefined, key: 'E' },
  ];
}
