import type { SessionInfo } from '../../core/query/types.ts';
import { DEFAULT_VIEW, type ViewState } from '../../state/view-store.ts';

/** The view without what this snapshot has not: a link may have been made for another one. */
export function viewFitting(view: ViewState, info: SessionInfo): ViewState {
  const wanted = info.devices[view.device];
  const device = wanted ?? info.devices[0];
  if (device === undefined) return DEFAULT_VIEW;
  const start = wanted === undefined ? { ...DEFAULT_VIEW, colorBy: view.colorBy } : view;
  const hasAxis = start.axis === 'event' || device.hasTime;
  const { cursor } = start;
  return {
    ...start,
    device: device.index,
    axis: hasAxis ? start.axis : 'event',
    x: hasAxis ? start.x : 'all',
    colorBy: start.colorBy === 'category' && !device.hasCategory ? 'stack' : start.colorBy,
    cursor: cursor !== undefined && cursor < device.events ? cursor : undefined,
  };
}
