import { formatCount } from '../base/format.ts';
import type { DeviceInfo, SessionInfo } from '../device/model/device-info.ts';
import { mainDeviceIndex, mainPeak, reservedOverhead } from '../device/model/main-device.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import { DEFAULT_VIEW, type ViewState } from './view-store.ts';

/** The view a file opens with unless a link says otherwise: its main device at its key moment. */
export function openingView(info: Pick<SessionInfo, 'devices'>): ViewState {
  const deviceIndex = mainDeviceIndex(info.devices);
  const device = info.devices[deviceIndex];
  return { ...DEFAULT_VIEW, deviceIndex, cursor: device && openingCursor(device) };
}

/**
 * The event to show first: the first OOM that the program saw; else the peak of reserved memory if much of it was
 * never needed; else the main peak. Not the end, where teardown leaves little to see. A peak before the trace maps to
 * the first event.
 */
export function openingCursor(
  device: Pick<DeviceInfo, 'events' | 'ooms' | 'peaks'>,
): EventIndex | undefined {
  if (device.events === 0) return undefined;
  const oom = device.ooms.find(({ wasRetried }) => !wasRetried);
  if (oom !== undefined) return oom.event;
  const { severity } = reservedOverhead(device.peaks, device.ooms.length);
  const { event } = device.peaks.reservedBytes;
  // A finding then covers it, usually the largest one.
  const isFragmented = (severity === 'high' || severity === 'medium') && event >= 0;
  return isFragmented ? event : Math.max(0, mainPeak(device.peaks).event);
}

/**
 * Switches to another device and drops the windows, selection and cursor, which mean nothing there. Pass it to
 * `commit`.
 */
export function onDevice(device: DeviceInfo): Partial<ViewState> {
  const { x, y, selection, secondCursor, search, finding, addresses, flame } = DEFAULT_VIEW;
  const cursor = openingCursor(device);
  const deviceIndex = device.index;
  return { deviceIndex, x, y, selection, cursor, secondCursor, search, finding, addresses, flame };
}

/** Drops what this snapshot lacks, since the link may be for another one. */
export function viewFitting(view: ViewState, info: SessionInfo): ViewState {
  const wanted = info.devices[view.deviceIndex];
  const opening = openingView(info);
  const device = wanted ?? info.devices[opening.deviceIndex];
  if (device === undefined) return opening;
  const start = wanted === undefined ? { ...opening, colorBy: view.colorBy } : view;
  const hasAxis = start.axis === 'event' || device.hasTime;
  const within = (event: EventIndex | undefined) =>
    event !== undefined && event < device.events ? event : undefined;
  return {
    ...start,
    deviceIndex: device.index,
    axis: hasAxis ? start.axis : 'event',
    x: hasAxis ? start.x : 'all',
    colorBy: start.colorBy === 'category' && !device.hasCategory ? 'stack' : start.colorBy,
    flame:
      start.flame.groupBy === 'holder' && !device.hasHolders
        ? { ...start.flame, groupBy: DEFAULT_VIEW.flame.groupBy, root: undefined }
        : start.flame,
    cursor: within(start.cursor),
    secondCursor: within(start.secondCursor),
  };
}

/** A sentence for each place in a link beyond the trace's last event. */
export function placesBeyond(view: ViewState, info: SessionInfo): readonly string[] {
  const device = info.devices[view.deviceIndex];
  if (device === undefined) return [];
  const trace =
    device.events === 0 ? 'has no events' : `ends with event ${formatCount(device.events - 1)}`;
  const beyond = (event: EventIndex | undefined, does: string, instead: string) =>
    event === undefined || event < device.events
      ? []
      : [`The link ${does} event ${formatCount(event)}, but this trace ${trace}. ${instead}`];
  return [
    ...beyond(view.cursor, 'points to', 'Showing the end.'),
    ...beyond(view.secondCursor, 'sets a second cursor at', 'That cursor was removed.'),
  ];
}
