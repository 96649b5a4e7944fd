import { useEffect } from 'react';
import { isTextField } from '../shared/use-shortcut.ts';
import { onStateKey, type StateActions } from './state-keys.ts';

/** Where arrows mean something else: what scrolls beside the view, what opens over it, what resizes. */
const ELSEWHERE = 'dialog, [popover], [role="separator"], [role="tabpanel"], [role="tablist"]';

/**
 * Listens to the view's keys, also while the focus is on a tab or in the bar above: arrows step
 * through the events right after the view was opened.
 */
export function useStateKeys(actions: StateActions): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const { target } = event;
      if (event.defaultPrevented || isTextField(target) || !(target instanceof Element)) return;
      if (target.closest(ELSEWHERE) !== null) return;
      // A button takes Enter itself.
      const isTaken = event.key === 'Enter' && target.closest('button, summary') !== null;
      if (!isTaken && onStateKey(event, actions)) event.preventDefault();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [actions]);
}
