import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { startTimer } from '../../base/task.ts';

/** Ctrl, Alt and Meta belong to the browser. */
export const hasModifier = ({ ctrlKey, altKey, metaKey }: KeyboardEvent): boolean =>
  ctrlKey || altKey || metaKey;

export const isOverlayOpen = (): boolean =>
  document.querySelector('dialog[open], :popover-open') !== null;

/**
 * The whole page's keys, except those typed in text fields and those that something else has used. A key always meets
 * the handler of the newest render, even before that render's effects have run.
 * @param onKey returns false if it does not use the key; `target` has the focus, the body if nothing has
 */
export function useKeys(onKey: (event: KeyboardEvent, target: Element) => boolean): void {
  const onNewest = useEffectEvent(onKey);
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : document.body;
      if (event.defaultPrevented || target.matches('input, textarea, select')) return;
      if (onNewest(event, target)) event.preventDefault();
    };
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}

/** What keys do, by their names. */
export type KeyActions = Readonly<Record<string, () => unknown>>;

/** Keys without Ctrl, Alt or Meta. In a dialog only those that say so. */
export function useShortcuts(actions: KeyActions, { inDialogs = false } = {}): void {
  useKeys((event, target) => {
    const action = actions[event.key];
    if (action === undefined || hasModifier(event)) return false;
    if (!inDialogs && target.closest('dialog') !== null) return false;
    action();
    return true;
  });
}

/** Width of an element in whole CSS pixels, kept up to date; 0 before it is known. */
export function useElementWidth(ref: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** Long enough for any browser to have begun reading. */
const KEEP_MS = 10_000;

/**
 * Saves a text, whole or in parts, as a file on the user's machine. `mime` without charset: the text is UTF-8.
 * @returns the length of the file in bytes
 */
export function downloadText(name: string, mime: string, text: string | readonly Blob[]): number {
  const parts = typeof text === 'string' ? [text] : [...text];
  const file = new Blob(parts, { type: `${mime};charset=utf-8` });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  startTimer(KEEP_MS, () => URL.revokeObjectURL(url));
  return file.size;
}
