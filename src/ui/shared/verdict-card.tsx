import { Button } from './buttons.tsx';
import './verdict-card.css';
import { ChevronDown, CircleCheck, CircleHelp, OctagonAlert, TriangleAlert } from 'lucide-react';
import { Fragment } from 'react';
import {
  gainText,
  otherLines,
  type Verdict,
  type VerdictTone,
} from '../../analysis/verdict/types.ts';
import { frameLabel, frameLocation, functionText } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import { CodeText } from './facts.tsx';
import { FrameLink, FrameLinks } from './frame-links.tsx';

const ICONS: Readonly<Record<VerdictTone, typeof CircleCheck>> = {
  severe: OctagonAlert,
  warning: TriangleAlert,
  calm: CircleCheck,
  unknown: CircleHelp,
};

/** The verdict on a pasted message has no account behind it. */
type ShownVerdict = Pick<Verdict, 'tone' | 'text' | 'also' | 'advice'> &
  Partial<Pick<Verdict, 'cause' | 'brief' | 'lines' | 'does' | 'holder'>>;

interface VerdictCardProps {
  readonly verdict: ShownVerdict | undefined;
  /** Shows the short form until unfolded. Without this, everything is shown. */
  readonly folding?: { readonly isUnfolded: boolean; readonly onToggle: () => void };
  /** Turns the sentence and the line into buttons that lead to the evidence. */
  readonly onShow?: (() => void) | undefined;
  /** What that is: 'its blocks in the plots'. */
  readonly shows?: string;
}

export function VerdictCard({ verdict, folding, onShow, shows = '' }: VerdictCardProps) {
  if (verdict === undefined) {
    return (
      <div className="verdict" data-tone="unknown" role="status">
        <span className="verdict-wait" aria-hidden />
        <p>Looking for what went wrong…</p>
      </div>
    );
  }
  const Icon = ICONS[verdict.tone];
  const { cause, text, brief = text, lines = [], does = '', holder, also, advice } = verdict;
  const { beside, callers } = otherLines(cause ?? 'none', lines);
  // What is fine has little to say, so nothing of it hides.
  const isFoldable = folding !== undefined && verdict.tone !== 'calm';
  const hasMore =
    text !== brief || also.length > 0 || advice.length > 1 || beside.length + callers.length > 0;
  const isFolded = isFoldable && !folding.isUnfolded;
  const sentence = isFolded ? brief : text;
  const shown = isFolded ? advice.slice(0, 1) : advice;
  return (
    <div
      className="verdict"
      data-tone={verdict.tone}
      data-folded={isFolded}
      role="status"
      aria-label="Verdict"
    >
      <Icon size={17} aria-hidden />
      <div className="verdict-body column">
        <p className="verdict-text">
          {onShow === undefined ? (
            <span className="verdict-line">{sentence}</span>
          ) : (
            <Button
              className="whole-line verdict-line"
              title={`${sentence}\nClick to see ${shows}`}
              onClick={onShow}
            >
              <span>{sentence}</span>
            </Button>
          )}
        </p>
        {lines[0] !== undefined && (
          <div className="row verdict-look">
            <LineToLookAt line={lines[0]} {...{ does, cause, callers, onShow, shows }} />
            <FrameLinks frame={lines[0]} />
          </div>
        )}
        {isFolded && holder !== undefined && (
          <p>
            held by <CodeText text={holder} />
          </p>
        )}
        {!isFolded && beside.length + callers.length > 0 && (
          <p className="dim small">
            <Chain lines={beside} first="and " next=" and " />{' '}
            <Chain lines={callers} first="called from " next=" ← " />
          </p>
        )}
        {!isFolded && also.map((said) => <p key={said}>{said}</p>)}
        {shown.length > 0 && (
          <section className="ruled" aria-label="What to try first">
            <h2 className="dim">{isFolded ? 'Try first' : 'What to try'}</h2>
            <ol>
              {shown.map((remedy) => (
                <li key={remedy.id}>
                  <CodeText text={remedy.text} /> <span className="dim">{gainText(remedy)}</span>
                </li>
              ))}
            </ol>
          </section>
        )}
      </div>
      {isFoldable && hasMore && (
        <Button
          icon={ChevronDown}
          className="verdict-fold"
          aria-expanded={folding.isUnfolded}
          aria-label="The whole verdict"
          title={folding.isUnfolded ? 'Show less' : 'Show all of it, and what else to try'}
          onClick={folding.onToggle}
        />
      )}
    </div>
  );
}

interface ChainProps {
  readonly lines: readonly FrameView[];
  /** Before the first line, and between lines. */
  readonly first: string;
  readonly next: string;
}

function Chain({ lines, first, next }: ChainProps) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a recursion has a line twice; none moves
    <Fragment key={index}>
      {index === 0 ? first : next}
      <FrameLink frame={line} />
    </Fragment>
  ));
}

interface LineToLookAtProps extends Pick<VerdictCardProps, 'onShow' | 'shows'> {
  readonly line: FrameView;
  readonly does: string;
  readonly cause: Verdict['cause'] | undefined;
  readonly callers: readonly FrameView[];
}

const HOLDER_UNKNOWN = 'It makes the tensors. The recording does not say who holds on to them.';
const KEPT: readonly (Verdict['cause'] | undefined)[] = ['kept', 'kept-graph'];
const DOES_ABOUT: Readonly<Record<string, string>> = {
  'pins memory':
    'Its blocks are still in use, so the free memory around them cannot go back to the GPU.',
};

/** 'scenarios.py:323 (_fragment) pins memory': what the line does matters most, so a narrow panel wraps it. */
function LineToLookAt({ line, does, cause, callers, onShow, shows }: LineToLookAtProps) {
  const [place, name] = [frameLocation(line), functionText(line)];
  // Who holds a model's parameters is no question.
  const isKept = KEPT.includes(cause) && does.startsWith('allocates');
  const text = isKept ? HOLDER_UNKNOWN : DOES_ABOUT[does];
  const about = text === undefined ? '' : `\n${text}`;
  const called = callers.map((caller) => `\ncalled from ${frameLabel(caller)}`).join('');
  return (
    <Button
      className="verdict-place"
      title={`${frameLabel(line)} ${does}${called}${about}\n${cause === 'none' ? '' : 'Look at this line first. '}Click to see ${shows}`}
      onClick={onShow}
    >
      <strong className="mono">{place ?? name}</strong> {place !== undefined && `(${name}) `}
      <span className={about === '' ? undefined : 'term'}>{does}</span>
    </Button>
  );
}
