/** The keys of the view that is shown work wherever the focus is: on a fresh page, on a tab, beside the view. */
import type { RefObject } from 'react';
import { isTextField, useKeyDown } from '../../shared/use-key-down.ts';

/** Nothing else on the page takes these, save a text field. */
const FREE_KEYS: ReadonlySet<string> = new Set([...'+=-_0fxwasd[]{}']);

/** These scroll, press and close where the focus is: the view has them while that is nowhere or on a view's tab. */
const OWNED_KEYS: ReadonlySet<string> = new Set([
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  'Enter',
  'Escape',
]);

/**
 * Hands keys on to the element in `view` that takes them, marked `data-takes-keys`, as if it had the
 * focus. The State view listens to the window by itself and has no such element.
 */
export function useViewKeys(view: RefObject<HTMLElement | null>): void {
  useKeyDown((event) => {
    const { key, target, altKey, shiftKey } = event;
    if (!event.isTrusted || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (!(target instanceof Element) || isTextField(target)) return;
    if (document.querySelector('dialog[open], :popover-open') !== null) return;
    const taker = view.current?.querySelector('[data-takes-keys]') ?? undefined;
    if (taker === undefined || taker.contains(target)) return;
    const isOnTab = target.closest('.view-tabs') !== null;
    const isOwned = OWNED_KEYS.has(key) && !(isOnTab && key === 'Enter');
    const isOurs = FREE_KEYS.has(key) || (isOwned && (isOnTab || target === document.body));
    if (!isOurs) return;
    if (handOn(taker, { key, altKey, shiftKey })) event.preventDefault();
  });
}

/** True when the element took the key. Who listens to the window gets the key itself, not this copy of it. */
function handOn(taker: Element, key: KeyboardEventInit): boolean {
  const copy = new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true });
  const stop = (event: Event) => {
    if (event === copy) event.stopPropagation();
  };
  document.addEventListener('keydown', stop);
  taker.dispatchEvent(copy);
  document.removeEventListener('keydown', stop);
  return copy.defaultPrevented;
}
