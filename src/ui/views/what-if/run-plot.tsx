import '../../plot/plot.css';
import './runs.css';
import { scaleLinear } from 'd3';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../../base/format.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { useView } from '../../../state/stores.ts';
import type { RecordedSide } from '../../../worker/protocol.ts';
import { drawAxes, Y_AXIS_WIDTH } from '../../plot/axes.ts';
import { Minimap } from '../../plot/minimap.tsx';
import { AxisSwitch } from '../../plot/plot-controls.tsx';
import { endOf } from '../../plot/viewport-of.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { drawCurves, drawMarks, markedOoms, partAt, partEdges, xOfEvent } from './draw-runs.ts';
import { settingName } from './setting-rows.ts';

interface RunPlotProps {
  readonly recorded: RecordedSide;
  /** Undefined until the chosen setting has been run. */
  readonly result: WhatIfResult | undefined;
}

const HEIGHT = 190;
/** Space above the highest line, for the markers of OOMs. */
const HEADROOM = 1.08;

/** Reserved memory of the recorded run and of the chosen setting, in the timeline's window. */
export function RunPlot({ recorded, result }: RunPlotProps) {
  const { device } = useDevice();
  const plotRef = useRef<SVGSVGElement>(null);
  const xRef = useRef<SVGSVGElement>(null);
  const yRef = useRef<SVGSVGElement>(null);
  const gridRef = useRef<SVGSVGElement>(null);
  const width = useElementWidth(plotRef);
  const axis = useView((view) => view.axis);
  const shown = useView((view) => view.x);
  const cursor = useView((view) => view.cursor);
  const [pointer, setPointer] = useState<number>();
  const [x0, x1] = shown === 'all' ? [0, endOf(device, axis)] : [shown.from, shown.to];
  useEffect(() => {
    const [plot, x, y, grid] = [plotRef.current, xRef.current, yRef.current, gridRef.current];
    if (width === 0 || plot === null || x === null || y === null || grid === null) return;
    const y1 = highestOf(recorded, result) * HEADROOM || 1;
    drawAxes(
      { x, y, grid },
      { axis, x0, x1, y0: 0, y1, width, height: HEIGHT },
      { width, height: HEIGHT },
    );
    const scales = {
      x: scaleLinear([x0, x1], [0, width]),
      y: scaleLinear([0, y1], [HEIGHT, 0]),
    };
    drawCurves(plot, scales, { recorded, result, edges: partEdges(recorded, axis), x0, x1 });
    const cursorX = cursor === undefined ? undefined : xOfEvent(recorded, axis, cursor);
    drawMarks(plot, scales.x, width, markedOoms(device, recorded, result, axis), cursorX);
  }, [device, recorded, result, axis, x0, x1, cursor, width]);
  const part =
    pointer === undefined || width === 0
      ? undefined
      : partAt(partEdges(recorded, axis), x0 + ((x1 - x0) * pointer) / width);
  const follow = (event: PointerEvent<SVGSVGElement>) =>
    setPointer(event.clientX - event.currentTarget.getBoundingClientRect().left);
  return (
    <section className="whatif-plot" aria-label="Reserved memory over time">
      <div className="row toolbar-row">
        <AxisSwitch canFold={false} />
        <RunLegend recorded={recorded} result={result} part={part} axis={axis} />
      </div>
      <div
        className="plot-grid"
        style={{
          gridTemplateColumns: `${Y_AXIS_WIDTH}px minmax(0, 1fr)`,
          gridTemplateRows: `0 ${HEIGHT}px 0 24px auto`,
        }}
      >
        <svg ref={yRef} className="axis y-axis" width={Y_AXIS_WIDTH} aria-hidden="true">
          <g transform={`translate(${Y_AXIS_WIDTH - 1},0)`} />
        </svg>
        <div className="plot">
          <svg ref={gridRef} className="grid" aria-hidden="true" />
          <svg
            ref={plotRef}
            className="whatif-curves"
            role="img"
            aria-label={plotLabel(recorded, result)}
            onPointerMove={follow}
            onPointerLeave={() => setPointer(undefined)}
          >
            <path className="whatif-allocated" />
            <path className="whatif-was" />
            <path className="whatif-is" />
            <g className="whatif-ooms" />
            <line className="whatif-cursor" y1={0} y2={HEIGHT} visibility="hidden" />
          </svg>
        </div>
        <svg ref={xRef} className="axis x-axis" aria-hidden="true" />
        <Minimap />
      </div>
    </section>
  );
}

function highestOf({ run }: RecordedSide, result: WhatIfResult | undefined): number {
  return Math.max(run.peakReservedBytes, result?.peakReservedBytes ?? 0);
}

function plotLabel({ run }: RecordedSide, result: WhatIfResult | undefined): string {
  const was = `Reserved memory over time: recorded up to ${formatBytes(run.peakReservedBytes)}`;
  if (result === undefined) return was;
  return `${was}, ${settingName(result.settings)} up to ${formatBytes(result.peakReservedBytes)}`;
}

interface RunLegendProps extends RunPlotProps {
  readonly part: number | undefined;
  readonly axis: TimeAxis;
}

/** The lines with their peaks, or with their highest values under the pointer. */
function RunLegend({ recorded, result, part, axis }: RunLegendProps) {
  const { run } = recorded;
  const at = (values: Float64Array, peak: number) => {
    const bytes = part === undefined ? peak : (values[part] ?? Number.NaN);
    return Number.isNaN(bytes) ? 'ended' : formatBytes(bytes);
  };
  const lines = [
    ['was', 'reserved, recorded', at(run.reserved.highest, run.peakReservedBytes)],
    result && ['is', 'reserved, chosen', at(result.reserved.highest, result.peakReservedBytes)],
    ['allocated', 'allocated', at(run.allocated.highest, run.peakAllocatedBytes)],
  ];
  return (
    <ul className="color-key whatif-legend" aria-label="Lines">
      {lines.map(
        (line) =>
          line !== undefined && (
            <li key={line[0]}>
              <span className="line-swatch whatif-swatch" data-line={line[0]} aria-hidden />
              {line[1]} <b>{line[2]}</b>
            </li>
          ),
      )}
      <li className="dim">{part === undefined ? 'peaks' : placeText(recorded, part, axis)}</li>
    </ul>
  );
}

/** 'highest in events 1,200 to 1,205': a curve has one value for each part. */
function placeText({ events, timesUs }: RecordedSide, part: number, axis: TimeAxis): string {
  const first = events[part] ?? 0;
  const last = Math.max(first, (events[part + 1] ?? 0) - 1);
  const where =
    first === last
      ? `event ${formatCount(first)}`
      : `highest in events ${formatCount(first)} to ${formatCount(last)}`;
  if (axis === 'event' || timesUs === undefined) return where;
  return `${where}, ${formatDurationUs(timesUs[part] ?? Number.NaN)}`;
}
