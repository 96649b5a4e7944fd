import { type RefObject, useEffect } from 'react';

/** Esc in the panel, or where nothing has the focus: everywhere else it has a meaning of its own. */
export function useEscape(
  panel: RefObject<HTMLElement | null>,
  action: (() => void) | undefined,
): void {
  useEffect(() => {
    if (action === undefined) return;
    function onKeyDown({ key, target }: KeyboardEvent) {
      const isInPanel = target instanceof Node && panel.current?.contains(target) === true;
      if (key === 'Escape' && (isInPanel || target === document.body)) action?.();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [panel, action]);
}
