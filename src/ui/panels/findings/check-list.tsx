import { Check as CheckMark, CircleHelp, type LucideIcon, Search } from 'lucide-react';
import { type Check, detectorOf } from '../../../analysis/findings/detectors.ts';
import { plural, sentenceCase } from '../../../base/format.ts';

const STATES: Readonly<
  Record<Check['status'], { readonly word: string; readonly icon: LucideIcon }>
> = {
  found: { word: 'Found', icon: Search },
  clear: { word: 'Clear', icon: CheckMark },
  'cannot-tell': { word: "Can't tell", icon: CircleHelp },
};

/** What each detector looked for, and what came of it: for those who ask. */
export function CheckList({ checks }: { readonly checks: readonly Check[] }) {
  if (checks.length === 0) return undefined;
  return (
    <details className="checks">
      <summary>
        What was checked <span className="dim small">{tallyOf(checks)}</span>
      </summary>
      <ul aria-label="Checks">
        {checks.map(({ detector, status, reason }) => {
          const { word, icon: Icon } = STATES[status];
          return (
            <li key={detector} className="check">
              <Icon size={14} aria-hidden />
              <div>
                <p>
                  <span>{sentenceCase(detectorOf({ detector }).about)}</span>
                  <span className="check-state dim small">{word}</span>
                </p>
                <p className="dim small">{sentenceCase(reason)}</p>
              </div>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** '7 checks: 5 clear, 2 can't tell' */
function tallyOf(checks: readonly Check[]): string {
  const counts = Object.entries(STATES).flatMap(([status, { word }]) => {
    const count = checks.filter((check) => check.status === status).length;
    return count === 0 ? [] : [`${count} ${word.toLowerCase()}`];
  });
  return `${plural(checks.length, 'check')}: ${counts.join(', ')}`;
}
