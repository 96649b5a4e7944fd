import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { startTimer } from '../../base/task.ts';

/**
 * Listens to the whole page's keys. A key always meets the handler of the newest render, even before that render's
 * effects have run.
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

/** Calls `action` for keys typed outside text fields, without Ctrl, Alt or Meta. It returns false for those of others. */
export function useShortcuts(action: (key: string) => boolean): void {
  useKeyDown((event) => {
    const { key, ctrlKey, altKey, metaKey, target, defaultPrevented } = event;
    if (defaultPrevented || ctrlKey || altKey || metaKey || isTextField(target)) return;
    if (action(key)) event.preventDefault();
  });
}

export const useShortcut = (key: string, action: () => void): void =>
  useShortcuts((typed) => {
    if (typed === key) action();
    return typed === key;
  });

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
