import { useEffectEvent, useLayoutEffect } from 'react';

/**
 * Listens to the keys of the whole page, from when the component is shown. A key meets what is on screen:
 * the handler of the newest render, also where the key comes before that render's effects.
 */
export function useKeyDown(onKeyDown: (event: KeyboardEvent) => void): void {
  const onNewest = useEffectEvent(onKeyDown);
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => onNewest(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}

export function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
