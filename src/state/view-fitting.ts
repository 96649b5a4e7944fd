import { formatCount } from '../core/base/format.ts';
import { mainDeviceIndex } from '../core/device/main-device.ts';
import type { SessionInfo } from '../core/device/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import { DEFAULT_VIEW, type ViewState } from './view-store.ts';

/** What a file opens with, where no link says otherwise: the device that it is about. */
export function openingView(info: Pick<SessionInfo, 'devices'>): ViewState {
  return { ...DEFAULT_VIEW, deviceIndex: mainDeviceIndex(info.devices) };
}

/** The view without what this snapshot has not: a link may have been made for another one. */
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
    cursor: within(start.cursor),
    mark: within(start.mark),
  };
}

/** A sentence for each place of a link that lies behind the last event of the trace. */
export function placesBeyond(view: ViewState, info: SessionInfo): readonly string[] {
  const device = info.devices[view.deviceIndex];
  if (device === undefined) return [];
  const trace =
    device.events === 0 ? 'has no events' : `ends with event ${formatCount(device.events - 1)}`;
  const sentences: string[] = [];
  const { cursor, mark } = view;
  if (cursor !== undefined && cursor >= device.events) {
    const event = formatCount(cursor);
    sentences.push(`The link leads to event ${event}, but this trace ${trace}: the end is shown.`);
  }
  if (mark !== undefined && mark >= device.events) {
    sentences.push(
      `The link marks event ${formatCount(mark)}, but this trace ${trace}: there is no mark.`,
    );
  }
  return sentences;
}
