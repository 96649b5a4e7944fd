import './segments.css';
import { useMemo, useState } from 'react';
import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import type { StackView } from '../../../device/model/types.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import type { SegmentUse } from '../../../draw/address-map/address-hits.ts';
import type { SegmentLife } from '../../../draw/address-map/segment-lives.ts';
import { SEGMENT_CLASSES } from '../../../draw/address-map/segment-timeline.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { Plot } from '../../plot/plot.tsx';
import { AxisSwitch, ColorKey, FitButton } from '../../plot/plot-controls.tsx';
import { Button } from '../../shared/buttons.tsx';
import { Blank, Bytes, Fact } from '../../shared/facts.tsx';
import { lifeText, SEGMENT_CLASS_LABELS, segmentKindText } from '../../shared/segment-content.tsx';
import { useDevice, useServices } from '../../shared/services.ts';
import { StackList } from '../../shared/stack-list.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { ViewModes } from '../../shared/view-modes.tsx';
import { useTheme } from '../../theme/use-theme.ts';
import { segmentColor, segmentSource } from './segment-source.ts';

const HINT = `Every segment is a layer as tall as its size, the oldest at the bottom; the top is the
reserved memory. Arrow keys pan, plus and minus zoom, F shows all, brackets step through events, Enter
pins the newest segment at the event, Shift with arrow up and down pins its neighbors. Details
appear below the plot.`;

export function View() {
  const { device } = useDevice();
  if (device.peaks.reservedBytes.bytes > 0) return <SegmentPlot />;
  return (
    <Blank
      title="No segments are known"
      text="The trace has no segment events and the file lists no segments at its end, so what this device had reserved is unknown. The other views show its allocations."
    >
      <ViewModes />
    </Blank>
  );
}

function SegmentPlot() {
  const { device } = useDevice();
  const { session } = useServices();
  const [segment, setSegment] = useState<SegmentLife>(-1);
  const source = useMemo(
    () => segmentSource({ device, session, onPinned: setSegment }),
    [device, session],
  );
  return (
    <section className="view" aria-label="Segments">
      <SegmentToolbar />
      <Plot source={source} label="Reserved memory over time" kind="stacked segments" hint={HINT} />
      <SegmentPanel segment={segment} />
    </section>
  );
}

function SegmentToolbar() {
  const { device } = useDevice();
  const { actions } = device;
  const hasEvents = ['segment_alloc', 'segment_map'].some((word) => (actions[word] ?? 0) > 0);
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <ViewModes />
        <AxisSwitch />
        <FitButton />
        <SegmentLegend />
        <span className="one-line event-readout" data-readout="event" />
      </div>
      {!hasEvents && (
        <p className="dim">
          No segment was created in this trace. Those shown existed before it, so the file does not
          say which lines created them.
        </p>
      )}
    </div>
  );
}

/** The kinds of segments in the trace; all kinds until that is known. */
function SegmentLegend() {
  const theme = useTheme();
  const { value = SEGMENT_CLASSES } = useQuery('segmentKinds', {});
  const entries = value.map((kind) => {
    return { label: SEGMENT_CLASS_LABELS[kind], color: segmentColor(theme, kind) };
  });
  return <ColorKey label="Colors" entries={entries} />;
}

/** What the pinned segment is, what it holds at the cursor, who allocated it and who freed it. */
function SegmentPanel({ segment }: { readonly segment: SegmentLife }) {
  const { device } = useDevice();
  const state = cursorEvent(
    device,
    useView((view) => view.cursor),
  );
  const isPinned = segment >= 0;
  const { value, failure } = useQuery('segmentUse', isPinned ? { segment, state } : undefined);
  return (
    <section
      className={isPinned ? 'segment-panel' : 'segment-panel segment-hint'}
      aria-label="Segment"
      role={failure === undefined ? undefined : 'alert'}
    >
      {isPinned ? (
        failure !== undefined && <p>Could not read the segment: {failure}</p>
      ) : (
        <p className="dim">
          Click a segment to see its size, its contents and the line that created it.
        </p>
      )}
      {isPinned && failure === undefined && value !== undefined && (
        <>
          <SegmentFactList found={value} state={state} />
          <SegmentStack heading="Created by" stack={value.facts.stack} />
          {value.facts.releaseStack !== undefined && (
            <SegmentStack heading="Released by" stack={value.facts.releaseStack} />
          )}
        </>
      )}
    </section>
  );
}

function SegmentStack({ heading, stack }: { heading: string; stack: StackView }) {
  return (
    <div className="segment-stack">
      <h2 className="details-heading">{heading}</h2>
      <StackList stack={stack} />
    </div>
  );
}

interface SegmentFactListProps {
  readonly found: SegmentUse;
  readonly state: EventIndex;
}

function SegmentFactList({ found: { facts, use }, state }: SegmentFactListProps) {
  const { view } = useStores();
  const filter = () => view.commit({ search: addTerm(view.getState().view.search, facts.label) });
  return (
    <div className="segment-facts">
      <p className="segment-name">
        <Bytes as="strong" bytes={facts.sizeBytes} />
        <code>{facts.label}</code>
        <Button title="Filter all views to the blocks that were in it" onClick={filter}>
          Filter
        </Button>
      </p>
      <dl className="details-facts">
        <Fact term="Kind">{segmentKindText(facts)}</Fact>
        <Fact term="Stream">{facts.stream}</Fact>
        <Fact term="Reserved">{lifeText(facts)}</Fact>
        <Fact term={`At event ${formatCount(state)}`}>
          {use === undefined ? 'not reserved' : contentText(use)}
        </Fact>
      </dl>
    </div>
  );
}

/** '6.80 MiB used by 2 blocks; largest free range 3.20 MiB' */
function contentText(use: NonNullable<SegmentUse['use']>): string {
  if (use.blocks === 0) return 'completely free';
  const used = `${formatBytes(use.usedBytes)} used by ${plural(use.blocks, 'block')}`;
  if (use.largestFreeBytes === 0) return `${used}; completely full`;
  return `${used}; largest free range ${formatBytes(use.largestFreeBytes)}`;
}
