import { type ReactNode, useEffect, useRef } from 'react';
import { startTimer } from '../../base/task.ts';

interface TermProps {
  /** What it means, in a sentence. */
  readonly about: string;
  readonly children: ReactNode;
}

/** A word that is explained where it stands, to the mouse, the keyboard and screen readers. */
export function Term({ about, children }: TermProps) {
  return (
    <button type="button" className="term" title={about}>
      {children}
    </button>
  );
}

/** CSS pixels between an element and its tooltip, and between the tooltip and the window's edge. */
const GAP = 4;
/** Whoever goes on at once wants no tooltip. */
const DELAY_MS = 300;

/** Shows the tooltip of the element that the keyboard has reached: browsers show tooltips to the mouse alone. */
export function FocusedTooltip() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    let stopTimer = () => {};
    const hide = () => {
      stopTimer();
      current.hidden = true;
    };
    const show = ({ target }: Event) => {
      hide();
      if (!(target instanceof HTMLElement) || target.title === '') return;
      if (!target.matches(':focus-visible, .term')) return;
      stopTimer = startTimer(DELAY_MS, () => {
        const { left, top, bottom } = target.getBoundingClientRect();
        current.textContent = target.title;
        current.hidden = target.title === '';
        const { offsetWidth, offsetHeight } = current;
        const isBelow = bottom + GAP + offsetHeight <= window.innerHeight;
        current.style.left = `${Math.max(GAP, Math.min(left, window.innerWidth - offsetWidth - GAP))}px`;
        current.style.top = `${isBelow ? bottom + GAP : top - GAP - offsetHeight}px`;
      });
    };
    const events = ['focusout', 'keydown', 'pointerdown', 'wheel'] as const;
    window.addEventListener('focusin', show);
    for (const name of events) window.addEventListener(name, hide, { passive: true });
    return () => {
      hide();
      window.removeEventListener('focusin', show);
      for (const name of events) window.removeEventListener(name, hide);
    };
  }, []);
  // Screen readers read the title itself.
  return <div ref={box} hidden className="floating focused-tooltip" aria-hidden />;
}
