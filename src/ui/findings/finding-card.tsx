import { ChevronRight } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { formatBytes, formatExactBytes } from '../../core/base/format.ts';
import { functionText } from '../../core/device/frame-text.ts';
import { absenceText } from '../../core/device/stacks.ts';
import type { FrameView, StackKind } from '../../core/device/types.ts';
import { titleOf } from '../../core/findings/detectors.ts';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import { useStores } from '../../state/stores.ts';
import type { ViewName } from '../../state/view-store.ts';
import { CodeText } from '../shared/code-text.tsx';
import { FramePlace } from '../shared/frame-place.tsx';
import { frameTitle } from '../shared/stack-text.ts';
import { WhatIfCitation } from '../simulator/what-if-citation.tsx';
import { FindingBody } from './finding-body.tsx';
import { firstSentence, SEVERITY_LABELS, splitSentence } from './finding-labels.ts';
import { SeriesPlot } from './series-plot.tsx';
import { UserLines } from './user-lines.tsx';

interface FindingCardProps {
  readonly finding: RankedFinding;
  readonly isSelected: boolean;
  /** Says what another setting of the allocator would have come to: one finding does. */
  readonly citesWhatIf: boolean;
  /** Says what to try first, while it is not selected. */
  readonly isAdvised: boolean;
  readonly onToggle: () => void;
}

/** These show the moment of the cursor. */
const VIEWS_OF_MOMENTS: readonly ViewName[] = [
  'timeline',
  'addresses',
  'segments',
  'state',
  'events',
];

/** Goes to an event in the view that is shown, or in the timeline where that view has no moments. */
function useShowEvent(): (event: EventIndex) => void {
  const { view } = useStores();
  return (cursor) => {
    const { view: current } = view.getState().view;
    view.commit({ cursor, view: VIEWS_OF_MOMENTS.includes(current) ? current : 'timeline' });
  };
}

/** One finding: what, how much and where, in a sentence; all the rest once it is selected. */
export function FindingCard(props: FindingCardProps) {
  const { finding, isSelected, citesWhatIf, isAdvised, onToggle } = props;
  const { severity, bytes, claim, frame, stackKind, series, advice } = finding;
  const showEvent = useShowEvent();
  const head = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isSelected) head.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  const [first, rest] = splitSentence(isSelected ? claim : firstSentence(claim));
  const [firstAdvice] = advice;
  return (
    <li className="finding" data-severity={severity} data-selected={isSelected}>
      <button
        ref={head}
        type="button"
        className="finding-head"
        aria-expanded={isSelected}
        title={isSelected ? 'Leave this finding (Esc)' : 'Show this finding'}
        onClick={onToggle}
      >
        <span className="finding-title">
          <span className="severity">{SEVERITY_LABELS[severity]}</span>
          <span className="finding-name">{titleOf(finding)}</span>
          <span className="finding-bytes" title={formatExactBytes(bytes)}>
            {formatBytes(bytes)}
          </span>
          <ChevronRight size={14} aria-hidden />
        </span>
        <span className="finding-claim">
          <strong>{first}</strong> {rest}
        </span>
      </button>
      <FindingFrame frame={frame} stackKind={stackKind} />
      <UserLines finding={finding} />
      <WhatIfCitation finding={finding} isDue={citesWhatIf} />
      {isAdvised && !isSelected && firstAdvice !== undefined && (
        <p className="finding-advice">
          <strong>Try:</strong> <CodeText text={firstAdvice} />
        </p>
      )}
      {series !== undefined && <SeriesPlot series={series} onShow={showEvent} />}
      {isSelected && <FindingBody finding={finding} />}
    </li>
  );
}

interface FindingFrameProps {
  readonly frame: FrameView | undefined;
  /** Why there is no frame. */
  readonly stackKind: StackKind;
}

/** The line to look at first: function and place, ready to be copied. */
export function FindingFrame({ frame, stackKind }: FindingFrameProps) {
  if (frame === undefined) {
    return <p className="finding-frame dim">No line: {absenceText(stackKind)}</p>;
  }
  return (
    <div className="finding-frame">
      <span className="mono" title={frameTitle(frame)}>
        {functionText(frame)}
      </span>
      <FramePlace frame={frame} />
    </div>
  );
}
