import { isTextField, useKeyDown } from './use-key-down.ts';

/** Calls `action` for a key that is typed outside of text fields, without Ctrl, Alt or Meta. */
export function useShortcut(key: string, action: () => void): void {
  useKeyDown((event) => {
    if (event.key !== key || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTextField(event.target)) return;
    event.preventDefault();
    action();
  });
}
