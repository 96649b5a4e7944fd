import './verdict-card.css';
import { ChevronDown, CircleCheck, CircleHelp, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Finding } from '../../core/findings/detectors.ts';
import type { Verdict, VerdictTone } from '../../core/findings/verdict.ts';
import { CodeText } from './code-text.tsx';

const ICONS: Readonly<Record<VerdictTone, typeof CircleCheck>> = {
  severe: OctagonAlert,
  warning: TriangleAlert,
  calm: CircleCheck,
  unknown: CircleHelp,
};

interface VerdictCardProps {
  /** Undefined: not known yet. */
  readonly verdict: Verdict | undefined;
  /** At most three lines until it is unfolded; without this all of it is shown. */
  readonly folding?: { readonly isUnfolded: boolean; readonly onToggle: () => void };
  /** Makes a button of each line that a finding is behind: it leads to the evidence. */
  readonly onShow?: (finding: Finding) => void;
}

/** The answer in a sentence, on top of all else. */
export function VerdictCard({ verdict, folding, onShow }: VerdictCardProps) {
  if (verdict === undefined) {
    return (
      <div className="verdict" data-tone="unknown" role="status">
        <span className="verdict-wait" aria-hidden />
        <p>Looking for what went wrong…</p>
      </div>
    );
  }
  const Icon = ICONS[verdict.tone];
  const { text, advice } = verdict;
  const isFolded = folding !== undefined && !folding.isUnfolded;
  // 'No out-of-memory error in this file, but:' alone says little: what follows is worth a line of the three.
  const also = isFolded ? verdict.also.slice(0, text.endsWith(':') ? 1 : 0) : verdict.also;
  const lineOf = (line: string) => (
    <VerdictLine text={line} finding={findingBehind(line, verdict)} onShow={onShow} />
  );
  return (
    <div
      className="verdict"
      data-tone={verdict.tone}
      data-folded={isFolded}
      role="status"
      aria-label="Verdict"
    >
      <Icon size={17} aria-hidden />
      <div className="verdict-body">
        <p className="verdict-text">{lineOf(text)}</p>
        {also.map((sentence) => (
          <p key={sentence}>{lineOf(sentence)}</p>
        ))}
        {!isFolded && verdict.why.length > 0 && <Why why={verdict.why} />}
        {!isFolded && advice.length > 0 && <Advice advice={advice} />}
      </div>
      {folding !== undefined && (
        <button
          type="button"
          className="verdict-fold"
          aria-expanded={folding.isUnfolded}
          aria-label="The whole verdict"
          title={folding.isUnfolded ? 'Show less' : 'Show all of it, and what to try'}
          onClick={folding.onToggle}
        >
          <ChevronDown size={15} aria-hidden />
        </button>
      )}
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

interface VerdictLineProps {
  readonly text: string;
  readonly finding: Finding | undefined;
  readonly onShow: ((finding: Finding) => void) | undefined;
}

function VerdictLine({ text, finding, onShow }: VerdictLineProps) {
  if (finding === undefined || onShow === undefined) {
    return <span className="verdict-line">{text}</span>;
  }
  return (
    <button
      type="button"
      className="verdict-line"
      title={`${text}\nClick to see the evidence`}
      onClick={() => onShow(finding)}
    >
      <span>{text}</span>
    </button>
  );
}

/**
 * The first line is about the first finding, unless it only leads over to the next. Another begins
 * with the headline of its finding, or is what its finding says of the holder.
 */
function findingBehind(line: string, { text, findings }: Verdict): Finding | undefined {
  if (line === text) return text.endsWith(':') ? undefined : findings[0];
  return findings.find(
    ({ headline, claim, holder }) => line === holder || line.startsWith(headline ?? claim),
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
