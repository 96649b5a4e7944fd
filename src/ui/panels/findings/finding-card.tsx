import { area, bisectCenter, curveMonotoneX, scaleLinear } from 'd3';
import { ChevronRight } from 'lucide-react';
import { type MouseEvent, useEffect, useRef } from 'react';
import { bytesAreOf, titleOf } from '../../../analysis/findings/detectors.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import type { Series } from '../../../analysis/findings/types.ts';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  plural,
  sentenceCase,
} from '../../../base/format.ts';
import { frameLabel, functionText } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import type { FrameView } from '../../../device/model/types.ts';
import { useStores } from '../../../state/stores.ts';
import type { ViewName } from '../../../state/view-store.ts';
import { Button } from '../../shared/buttons.tsx';
import { FramePlace, frameTitle } from '../../shared/code-place.tsx';
import { FrameLink } from '../../shared/frame-links.tsx';
import { CodeExcerpt } from '../../shared/source-code.tsx';
import { FindingBody, WhatIfCitation } from './finding-body.tsx';

interface FindingCardProps {
  readonly finding: RankedFinding;
  readonly isSelected: boolean;
  /** Shows the simulated peak under another allocator setting; only one finding does. */
  readonly citesWhatIf: boolean;
  /** The finding to read first: it shows everything. Others show one sentence until selected. */
  readonly isLead: boolean;
  readonly onToggle: () => void;
}

/** In other views, an event is shown in the timeline. */
const VIEWS_OF_MOMENTS: readonly ViewName[] = [
  'timeline',
  'address-map',
  'segments',
  'allocator-state',
  'events',
];

/** One finding: what, how much and where, in a sentence; the rest once it is selected. */
export function FindingCard(props: FindingCardProps) {
  const { finding, isSelected, citesWhatIf, isLead, onToggle } = props;
  const { severity, bytes, claim, series } = finding;
  const isWhole = isLead || isSelected;
  const code = finding.userLines[0] ?? finding.frame;
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) head.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  const [first, rest] = splitSentence(isSelected ? claim : firstSentence(claim));
  return (
    <li className="finding column" data-tone={severity} data-selected={isSelected}>
      <Button
        ref={head}
        className="whole-line finding-head"
        aria-expanded={isSelected}
        title={isSelected ? 'Leave this finding (Esc)' : 'Show this finding'}
        onClick={onToggle}
      >
        <span className="finding-title">
          <span className="severity">{sentenceCase(severity)}</span>
          <span className="finding-kind dim">{titleOf(finding)}</span>
          <span className="finding-bytes" title={formatExactBytes(bytes)}>
            <strong>{formatBytes(bytes)}</strong>{' '}
            <span className="dim small">{bytesAreOf(finding)}</span>
          </span>
          <ChevronRight size={14} aria-hidden />
        </span>
        <span className="dim finding-claim">
          <strong>{first}</strong> {rest}
        </span>
      </Button>
      {isWhole && <FindingFrame finding={finding} />}
      {isWhole && <UserLines finding={finding} />}
      {isSelected && code !== undefined && <CodeExcerpt frame={code} />}
      {citesWhatIf && <WhatIfCitation />}
      {isWhole && series !== undefined && <SeriesPlot series={series} />}
      {isSelected && <FindingBody finding={finding} />}
    </li>
  );
}

/** The line to look at first: its function and place, ready to copy, and its role. */
function FindingFrame({
  finding: { frame, frameIs, stackKind },
}: Pick<FindingCardProps, 'finding'>) {
  if (frame === undefined) {
    return <p className="finding-frame dim">No line: {absenceText(stackKind)}</p>;
  }
  return (
    <div className="split finding-frame">
      <span title={frameTitle(frame)}>
        <span className="dim">{frameIs}</span> <span className="mono">{functionText(frame)}</span>
      </span>
      <FramePlace frame={frame} />
    </div>
  );
}

function UserLines({ finding: { userLines } }: Pick<FindingCardProps, 'finding'>) {
  if (userLines.length < 2) return undefined;
  return (
    <p className="dim">
      {userLines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a recursion has a line twice; none moves
        <span key={index} title={`${index === 0 ? '' : 'Called from '}${frameTitle(line)}`}>
          {index === 0 ? '' : ' ← '}
          <FrameLink frame={line} label={callerLabel(line, userLines[index - 1])} />
        </span>
      ))}
    </p>
  );
}

/** ':55 (forward)' if in the same file as the line it calls, else 'train.py:55 (forward)'. */
function callerLabel(line: FrameView, callee: FrameView | undefined): string {
  const label = frameLabel(line);
  return line.line > 0 && line.filename === callee?.filename
    ? label.slice(label.lastIndexOf(':'))
    : label;
}

/** 'a.py:3 (f) keeps 2 KiB. It is …' gives 'a.py:3 (f) keeps 2 KiB.': a period within a name has no space after it. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}

/** Splits after the first period or colon before a capital or a digit: '6 GiB was reserved: 3 GiB was lost.' */
export function splitSentence(text: string): readonly [first: string, rest: string] {
  const end = /[.:] (?=[A-Z0-9])/.exec(text);
  return end === null ? [text, ''] : [text.slice(0, end.index + 1), text.slice(end.index + 2)];
}

/** In units of the drawing, which stretches to the card's width. */
const WIDTH = 240;
const HEIGHT = 44;

interface SeriesPlotProps {
  readonly series: Series;
}

/** A finding's bytes by step or event; clicking goes to the one under the pointer. */
function SeriesPlot({ series }: SeriesPlotProps) {
  const { view } = useStores();
  const { bytes, unit, label, count, events } = series;
  const most = Math.max(...bytes);
  const places = unit === 'event' ? events : [...bytes.keys()];
  const [from = 0, to = 0] = [places[0], places.at(-1)];
  const x = scaleLinear([from, Math.max(from + 1, to)], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(1, most)], [HEIGHT, 1]);
  const shape = area<number>((_, i) => x(places[i] ?? from), HEIGHT, y).curve(curveMonotoneX);
  const span =
    unit === 'step'
      ? plural(count, 'repetition')
      : `events ${formatCount(events[0] ?? 0)} to ${formatCount(events.at(-1) ?? 0)}`;
  const text = `${label}: ${formatBytes(bytes[0] ?? Number.NaN)} to ${formatBytes(bytes.at(-1) ?? Number.NaN)}, at most ${formatBytes(most)}, over ${span}`;
  const showAt = ({ clientX, detail, currentTarget }: MouseEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    // A key press has no position: it goes to the last event.
    const share = detail === 0 ? 1 : Math.max(0, Math.min(1, (clientX - left) / width));
    const event = events[bisectCenter(places, x.invert(share * WIDTH))];
    if (event === undefined) return;
    const { view: current } = view.getState().view;
    const shown = VIEWS_OF_MOMENTS.includes(current) ? current : 'timeline';
    view.commit({ cursor: Math.max(0, event), view: shown });
  };
  return (
    <figure className="series">
      <Button
        className="whole-line series-button hoverable"
        title="Click a point to go to its event"
        onClick={showAt}
      >
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={text}
        >
          <title>{text}</title>
          <path className="series-area" d={shape(bytes) ?? ''} />
          <path className="series-line" d={shape.lineY1()(bytes) ?? ''} />
        </svg>
      </Button>
      <figcaption className="split dim small">
        <span>{label}</span>
        <span>
          up to {formatBytes(most)}, {span}
        </span>
      </figcaption>
    </figure>
  );
}
