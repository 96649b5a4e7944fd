import { CircleCheck, CircleHelp, type LucideIcon, Search } from 'lucide-react';
import type { Check } from '../../core/findings/detectors.ts';
import { detectorOf } from '../../core/findings/detectors.ts';

const STATES: Readonly<
  Record<Check['status'], { readonly word: string; readonly icon: LucideIcon }>
> = {
  found: { word: 'found', icon: Search },
  clear: { word: 'clear', icon: CircleCheck },
  'cannot-tell': { word: 'cannot tell', icon: CircleHelp },
};

/** What each detector looked for, and what came of it. */
export function CheckList({ checks }: { readonly checks: readonly Check[] }) {
  return (
    <ul aria-label="Checks">
      {checks.map(({ detector, status, reason }) => {
        const { word, icon: Icon } = STATES[status];
        return (
          <li key={detector} className="check" data-status={status}>
            <Icon size={14} aria-hidden />
            <div>
              <p>
                <span>{detectorOf({ detector }).about}</span>
                <span className="check-state dim small">{word}</span>
              </p>
              <p className="dim">{reason}</p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
