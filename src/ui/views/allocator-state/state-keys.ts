/** Keys of the state view. */
import { BIG_STEP } from '../../panels/cursor/cursor-steps.ts';
import { isTextField, useKeyDown } from '../../shared/browser.ts';

/** What the keys do. */
export interface StateActions {
  /** Moves the cursor by this many events. */
  step(events: number): void;
  firstEvent(): void;
  lastEvent(): void;
  moveRow(rows: number): void;
  movePage(direction: -1 | 1): void;
  /** The live block before or after the selected one. */
  moveBlock(direction: -1 | 1): void;
  /** Folds or unfolds a group, selects the first block of a segment. */
  open(): void;
  /** Esc takes back what the last clicks did; without any, deselects. */
  deselect(): unknown;
}

type StateKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>;

/** Runs the action of a key; false if the key has none. */
export function onStateKey(event: StateKey, actions: StateActions): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const action = actionOf(event, actions);
  action?.();
  return action !== undefined;
}

function actionOf({ key, shiftKey }: StateKey, actions: StateActions): (() => unknown) | undefined {
  switch (key) {
    case 'ArrowLeft':
      return () => actions.step(shiftKey ? -BIG_STEP : -1);
    case 'ArrowRight':
      return () => actions.step(shiftKey ? BIG_STEP : 1);
    case 'Home':
      return () => actions.firstEvent();
    case 'End':
      return () => actions.lastEvent();
    case 'ArrowUp':
      return () => (shiftKey ? actions.moveBlock(-1) : actions.moveRow(-1));
    case 'ArrowDown':
      return () => (shiftKey ? actions.moveBlock(1) : actions.moveRow(1));
    case 'PageUp':
      return () => actions.movePage(-1);
    case 'PageDown':
      return () => actions.movePage(1);
    case 'Enter':
      return () => actions.open();
    case 'Escape':
      return () => actions.deselect();
    default:
      return undefined;
  }
}

/** Elements where arrow keys mean something else: scrollable panels, dialogs, resize handles. */
const ELSEWHERE = 'dialog, [popover], [role="separator"], [role="tabpanel"], [role="tablist"]';

/**
 * Listens to the view's keys, also while the focus is on a tab or in the bar above: arrows step
 * through the events right after the view was opened.
 */
export function useStateKeys(actions: StateActions): void {
  useKeyDown((event) => {
    const { target } = event;
    if (event.defaultPrevented || isTextField(target) || !(target instanceof Element)) return;
    if (target.closest(ELSEWHERE) !== null) return;
    // A button takes Enter itself.
    const isTaken = event.key === 'Enter' && target.closest('button, summary') !== null;
    if (!isTaken && onStateKey(event, actions)) event.preventDefault();
  });
}
