import { type RefObject, useEffect } from 'react';
import { isTextField } from '../app/use-shortcut.ts';
import { onStateKey, type StateActions } from './state-keys.ts';

/**
 * Listens to the view's keys while the focus is in it or nowhere: arrows step through the events
 * right after the view was opened.
 */
export function useStateKeys(section: RefObject<HTMLElement | null>, actions: StateActions): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const { target } = event;
      if (event.defaultPrevented || isTextField(target) || !(target instanceof Element)) return;
      const isHere = target === document.body || section.current?.contains(target) === true;
      // A button takes Enter itself.
      const isTaken = event.key === 'Enter' && target.closest('button') !== null;
      if (isHere && !isTaken && onStateKey(event, actions)) event.preventDefault();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [section, actions]);
}
