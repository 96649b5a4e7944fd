import './verdict-card.css';
import { CircleCheck, CircleHelp, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Verdict, VerdictTone } from '../../core/findings/verdict.ts';
import { CodeText } from './code-text.tsx';

const ICONS: Readonly<Record<VerdictTone, typeof CircleCheck>> = {
  severe: OctagonAlert,
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
        {verdict.why.length > 0 && <Why why={verdict.why} />}
        {verdict.advice.length > 0 && <Advice advice={verdict.advice} />}
      </div>
    </div>
  );
}

function Why({ why }: Pick<Verdict, 'why'>) {
  return (
    <details className="verdict-why">
      <summary>Why</summary>
      {why.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </details>
  );
}

function Advice({ advice }: Pick<Verdict, 'advice'>) {
  return (
    <section className="verdict-advice" aria-label="What to try first">
      <strong>Try</strong>
      <ul>
        {advice.map((text) => (
          <li key={text}>
            <CodeText text={text} />
          </li>
        ))}
      </ul>
    </section>
  );
}
