import { useEffect } from 'react';

/** Calls `action` for a key that is typed outside of text fields, without Ctrl, Alt or Meta. */
export function useShortcut(key: string, action: () => void): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.key !== key || event.ctrlKey || event.altKey || event.metaKey) return;
      if (isTextField(event.target)) return;
      event.preventDefault();
      action();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [key, action]);
}

export function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}
