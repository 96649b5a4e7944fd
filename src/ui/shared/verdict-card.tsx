import './verdict-card.css';
import { ChevronDown, CircleCheck, CircleHelp, OctagonAlert, TriangleAlert } from 'lucide-react';
import { frameLabel, frameLocation, functionText } from '../../core/device/frame-text.ts';
import type { Finding } from '../../core/findings/detectors.ts';
import type { Verdict, VerdictTone } from '../../core/findings/verdict.ts';
import { CodeText } from './code-text.tsx';

const ICONS: Readonly<Record<VerdictTone, typeof CircleCheck>> = {
  severe: OctagonAlert,
  warning: TriangleAlert,
  calm: CircleCheck,
  unknown: CircleHelp,
};

/** What is said of a pasted message has no findings behind it. */
type ShownVerdict = Pick<Verdict, 'tone' | 'text' | 'also' | 'why' | 'advice' | 'findings'> &
  Partial<Pick<Verdict, 'brief' | 'lead' | 'line'>>;

interface VerdictCardProps {
  /** Undefined: not known yet. */
  readonly verdict: ShownVerdict | undefined;
  /** What it is in brief, and the line, until it is unfolded; without this all of it is shown. */
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
  const { text, brief = text, lead, line, also, advice } = verdict;
  const isFolded = folding !== undefined && !folding.isUnfolded;
  const sentence = (said: string, finding = findingBehind(said, verdict)) => (
    <VerdictSentence text={said} finding={finding} onShow={onShow} />
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
        <p className="verdict-text">{isFolded ? sentence(brief, lead) : sentence(text)}</p>
        {line !== undefined && lead !== undefined && (
          <LineToLookAt line={line} onShow={() => onShow?.(lead)} />
        )}
        {!isFolded && also.map((said) => <p key={said}>{sentence(said)}</p>)}
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

interface LineToLookAtProps {
  readonly line: NonNullable<Verdict['line']>;
  readonly onShow: () => void;
}

/** 'scenarios.py:323 (_fragment) pins memory': what the line does decides, so a narrow panel wraps it. */
function LineToLookAt({ line: { frame, does }, onShow }: LineToLookAtProps) {
  const [place, name] = [frameLocation(frame), functionText(frame)];
  return (
    <button
      type="button"
      className="verdict-place"
      title={`${frameLabel(frame)} ${does}\nLook at this line first. Click to see the evidence`}
      onClick={onShow}
    >
      <strong className="mono">{place ?? name}</strong>{' '}
      {place === undefined ? does : `(${name}) ${does}`}
    </button>
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

interface VerdictSentenceProps {
  readonly text: string;
  readonly finding: Finding | undefined;
  readonly onShow: ((finding: Finding) => void) | undefined;
}

function VerdictSentence({ text, finding, onShow }: VerdictSentenceProps) {
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
function findingBehind(
  line: string,
  { text, findings }: Pick<Verdict, 'text' | 'findings'>,
): Finding | undefined {
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
