import type { EventWindow } from '../../../output/slice/window-snapshot.ts';
import type { ViewState } from '../../../state/view-store.ts';

/**
 * The same view on a report: its device is its only one, and the events of a part are counted from
 * the part's start. Example: the cursor at 5,200 of a part from 5,000 on is at 200.
 * @param events of the whole recording
 */
export function viewOfPart(view: ViewState, window: EventWindow, events: number): ViewState {
  if (window.from === 0 && window.to === events) return { ...view, deviceIndex: 0 };
  const moved = (event: number | undefined) =>
    event === undefined || event < window.from || event >= window.to
      ? undefined
      : event - window.from;
  return {
    ...view,
    deviceIndex: 0,
    // The part is what was in view.
    x: 'all',
    cursor: moved(view.cursor),
    mark: moved(view.mark),
    // A label counts the earlier uses of an address, a finding the bytes: both differ in a part.
    selection: undefined,
    finding: undefined,
  };
}
