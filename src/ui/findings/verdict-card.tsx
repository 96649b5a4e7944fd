import './verdict.css';
import { CircleCheck, CircleHelp, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Verdict, VerdictTone } from '../../core/findings/verdict.ts';

const ICONS: Readonly<Record<VerdictTone, typeof CircleCheck>> = {
  grave: OctagonAlert,
  warning: TriangleAlert,
  calm: CircleCheck,
  unknown: CircleHelp,
};

/** The answer in a sentence, on top of all else. Undefined: not known yet. */
export function VerdictCard({ verdict }: { readonly verdict: Verdict | undefined }) {
  if (verdict === undefined) {
    return (
      <div className="verdict" data-tone="unknown" role="status">
        <span className="verdict-wait" aria-hidden />
        <p>Looking for what went wrong…</p>
      </div>
    );
  }
  const Icon = ICONS[verdict.tone];
  return (
    <div className="verdict" data-tone={verdict.tone} role="status" aria-label="Verdict">
      <Icon size={17} aria-hidden />
      <div>
        <p className="verdict-text">{verdict.text}</p>
        {verdict.also.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
    </div>
  );
}
