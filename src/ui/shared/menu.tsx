import './menu.css';
import type { LucideIcon } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef } from 'react';

export interface MenuItem {
  readonly label: string;
  /** What it does, as a tooltip. */
  readonly about: string;
  readonly icon: LucideIcon;
  /** Why it can't be chosen here. */
  readonly reason?: string | undefined;
  readonly onChoose: () => void;
}

/** CSS pixels in the window. */
export interface MenuPlace {
  readonly x: number;
  readonly y: number;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Undefined: closed. */
  readonly place: MenuPlace | undefined;
  readonly onClose: () => void;
}

const MARGIN_PX = 8;

/**
 * A context menu. The browser closes it on Esc and on a click outside, and returns the focus. Arrow keys, Home and End
 * move between its items.
 */
export function Menu({ label, items, place, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = menu.current;
    if (element === null || place === undefined) return;
    element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    const within = (at: number, size: number, room: number) =>
      Math.max(MARGIN_PX, Math.min(at, room - size - MARGIN_PX));
    const left = within(place.x, width, window.innerWidth);
    const top = within(place.y, height, window.innerHeight);
    element.style.inset = `${top}px auto auto ${left}px`;
    itemsIn(element)[0]?.focus();
  }, [place]);
  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      aria-label={label}
      className="floating menu"
      onToggle={(event) => event.newState === 'closed' && onClose()}
      onKeyDown={onMenuKey}
      onContextMenu={(event) => event.preventDefault()}
    >
      {items.map(({ label: text, about, icon: Icon, reason, onChoose }) => (
        <button
          key={text}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className="menu-item hoverable"
          aria-disabled={reason !== undefined}
          title={reason ?? about}
          onClick={() => {
            if (reason !== undefined) return;
            menu.current?.hidePopover();
            onChoose();
          }}
        >
          <Icon size={14} aria-hidden />
          <span className="one-line">{text}</span>
        </button>
      ))}
    </div>
  );
}

const itemsIn = (menu: Element) => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];

function onMenuKey(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget } = event;
  // The view's own keys rest while the menu is open.
  event.stopPropagation();
  const items = itemsIn(currentTarget);
  const at = items.findIndex((item) => item.matches(':focus'));
  const { length } = items;
  const to = {
    ArrowDown: (at + 1) % length,
    ArrowUp: (at - 1 + length) % length,
    Home: 0,
    End: length - 1,
  }[key];
  if (key === 'Tab') currentTarget.hidePopover();
  else if (to !== undefined) items[to]?.focus();
  else return;
  event.preventDefault();
}
