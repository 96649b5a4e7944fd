import './timeline.css';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '../../core/base/format.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import { Y_AXIS_WIDTH } from './axes.ts';
import { LANE_HEIGHT } from './lane-strip.ts';
import { Minimap } from './minimap.tsx';
import { onPlotKey } from './plot-keys.ts';
import { TimelineToolbar } from './timeline-toolbar.tsx';
import { useAnnotations } from './use-annotations.ts';
import { type TimelineRefs, useTimelineController } from './use-timeline-controller.ts';

interface TimelineViewProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  /** Index of the pinned allocation; -1 for none. */
  readonly selected: number;
}

/** More levels than these are shown on request, and beyond those by the wheel. */
const LANES_AT_FIRST = 4;
const MOST_LANES = 12;

/** All allocations over events or time, with what goes along with them. */
export function TimelineView({ info, device, selected }: TimelineViewProps) {
  const refs = useTimelineRefs();
  const plot = useTimelineController({ info, device, selected, refs });
  const { spans, levels } = useAnnotations(info, device);
  const [areAllShown, setAreAllShown] = useState(false);
  const shown = Math.min(levels, areAllShown ? MOST_LANES : LANES_AT_FIRST);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a lane more or less is painted anew
  useEffect(() => plot.current?.setAnnotations(spans), [plot, spans, shown, info]);
  return (
    <section className="timeline-view" aria-label="Timeline">
      <TimelineToolbar
        device={device}
        readout={refs.readout}
        onFit={() => plot.current?.navigation.fit()}
      />
      <div
        className="plot-grid"
        style={{ gridTemplateColumns: `${Y_AXIS_WIDTH}px minmax(0, 1fr)` }}
      >
        {levels > 0 && (
          <LaneHead
            levels={levels}
            isOpen={areAllShown}
            onToggle={() => setAreAllShown(!areAllShown)}
          />
        )}
        <canvas
          ref={refs.lanes}
          className="lanes"
          style={{ height: shown * LANE_HEIGHT }}
          aria-label="Annotations"
          role="img"
        />
        <svg ref={refs.yAxis} className="axis y-axis" width={Y_AXIS_WIDTH} aria-hidden="true">
          <g transform={`translate(${Y_AXIS_WIDTH - 1},0)`} />
        </svg>
        <div className="plot">
          <div
            ref={refs.surface}
            className="plot-surface"
            data-testid="timeline"
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, see plot-keys.ts
            tabIndex={0}
            aria-label="Memory over time"
            aria-roledescription="stacked timeline"
            aria-describedby="plot-hint"
            onKeyDown={(event) => {
              if (plot.current !== undefined && onPlotKey(event, plot.current.navigation)) {
                event.preventDefault();
              }
            }}
          >
            <canvas ref={refs.base} />
            <svg ref={refs.grid} className="grid" aria-hidden="true" />
            <canvas ref={refs.overlay} />
          </div>
        </div>
        <svg ref={refs.xAxis} className="axis x-axis" aria-hidden="true" />
        <Minimap info={info} device={device} />
      </div>
      <p id="plot-hint" className="visually-hidden">
        Every allocation as a band as high as its block, the oldest at the bottom. Arrow keys pan,
        plus and minus zoom, F shows all, brackets step through events, Enter pins the newest
        allocation at the event, Shift with arrow up and down pins its neighbours. Details of what
        is pinned follow in the panel beside it.
      </p>
      <div ref={refs.tooltip} className="tooltip" data-testid="tooltip" role="tooltip" hidden />
    </section>
  );
}

interface LaneHeadProps {
  readonly levels: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function LaneHead({ levels, isOpen, onToggle }: LaneHeadProps) {
  if (levels <= LANES_AT_FIRST) return <div className="lane-head">ranges</div>;
  const more = `${formatCount(levels - LANES_AT_FIRST)} more`;
  return (
    <button
      type="button"
      className="lane-head lane-toggle"
      aria-expanded={isOpen}
      title={`Ranges on ${formatCount(levels)} levels; the wheel over them goes through all`}
      onClick={onToggle}
    >
      {isOpen ? 'fewer' : more}
    </button>
  );
}

function useTimelineRefs(): TimelineRefs {
  return {
    surface: useRef<HTMLDivElement>(null),
    base: useRef<HTMLCanvasElement>(null),
    overlay: useRef<HTMLCanvasElement>(null),
    lanes: useRef<HTMLCanvasElement>(null),
    xAxis: useRef<SVGSVGElement>(null),
    yAxis: useRef<SVGSVGElement>(null),
    grid: useRef<SVGSVGElement>(null),
    tooltip: useRef<HTMLDivElement>(null),
    readout: useRef<HTMLDivElement>(null),
  };
}
