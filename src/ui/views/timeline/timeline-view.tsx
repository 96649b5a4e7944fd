import './timeline.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import { annotationTracks } from '../../../device/model/annotations.ts';
import { useStores } from '../../../state/stores.ts';
import { useGuidesStore } from '../../plot/guides.ts';
import { PlotArea } from '../../plot/plot-area.tsx';
import type { StripHost } from '../../plot/plot-controller.ts';
import { usePlot } from '../../plot/use-plot.ts';
import { useDevice, useServices } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { LANE_HEIGHT, LABEL as LANES_LABEL, LaneStrip } from './lane-strip.ts';
import { timelineSource } from './timeline-source.ts';
import { CounterReadout, TimelineToolbar } from './timeline-toolbar.tsx';

const NO_ANNOTATIONS = annotationTracks([]);

/** More levels than these are shown on request, and beyond those by the wheel. */
const LANES_AT_FIRST = 4;
const MAX_LANES = 12;

const HINT = `Every allocation is a band as tall as its block, the oldest at the bottom. Arrow keys
pan, plus and minus zoom, F shows all, brackets step through events, Enter pins the newest
allocation at the event, Shift with arrow up and down pins its neighbors. The side panel
shows its details.`;

/** All allocations over events or time, with what goes along with them. */
export function TimelineView() {
  const { info, device } = useDevice();
  const { session } = useServices();
  const { view } = useStores();
  const guides = useGuidesStore();
  const source = useMemo(
    () =>
      timelineSource(
        device,
        session,
        () => view.getState().view,
        () => guides.getState().limitBytes,
      ),
    [device, session, view, guides],
  );
  const canvas = useRef<HTMLCanvasElement>(null);
  const surface = useRef<HTMLDivElement>(null);
  const lanes = useRef<LaneStrip>(undefined);
  const strip = (host: StripHost) => {
    if (canvas.current === null || surface.current === null) return undefined;
    lanes.current = new LaneStrip(surface.current, canvas.current, host);
    return lanes.current;
  };
  const plot = usePlot({ source, strip });
  const annotations = useQuery('annotations', {}).value ?? NO_ANNOTATIONS;
  const levels = annotations.first.length - 1;
  const [areAllShown, setAreAllShown] = useState(false);
  const shown = Math.min(levels, areAllShown ? MAX_LANES : LANES_AT_FIRST);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a lane more or less is painted anew
  useEffect(() => lanes.current?.setAnnotations(annotations), [annotations, shown, info]);
  return (
    <section className="view" aria-label="Timeline">
      <TimelineToolbar onFit={() => plot.navigation()?.fit()} />
      <PlotArea
        plot={plot}
        label="Memory over time"
        kind="stacked timeline"
        hint={HINT}
        testId="timeline"
        figures={<CounterReadout readout={plot.refs.readout} />}
      >
        {levels > 0 && (
          <LaneHead
            levels={levels}
            isOpen={areAllShown}
            onToggle={() => setAreAllShown(!areAllShown)}
          />
        )}
        <div
          ref={surface}
          className="plot-above lanes"
          style={{ height: shown * LANE_HEIGHT }}
          aria-label={LANES_LABEL}
          role="application"
          tabIndex={levels > 0 ? 0 : -1}
        >
          <canvas ref={canvas} />
        </div>
      </PlotArea>
    </section>
  );
}

interface LaneHeadProps {
  readonly levels: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function LaneHead({ levels, isOpen, onToggle }: LaneHeadProps) {
  if (levels <= LANES_AT_FIRST) return <div className="lane-head plot-above-head">annotations</div>;
  const more = `${formatCount(levels - LANES_AT_FIRST)} more`;
  return (
    <button
      type="button"
      className="lane-head plot-above-head lane-toggle"
      aria-expanded={isOpen}
      title={`Annotations on ${formatCount(levels)} levels; scroll over them to see all`}
      onClick={onToggle}
    >
      {isOpen ? 'fewer' : more}
    </button>
  );
}
