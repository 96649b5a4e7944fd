import '../../plot/plot.css';
import { area, curveStepAfter, line, scaleLinear } from 'd3';
import { memo, type PointerEvent, useEffect, useRef, useState } from 'react';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { lowerBound, type SortedNumbers, upperBound } from '../../../base/binary-search.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../../base/format.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { useView } from '../../../state/stores.ts';
import { axesIn, drawAxes, Y_AXIS_WIDTH } from '../../plot/axes.ts';
import { Minimap } from '../../plot/minimap.tsx';
import { AxisSwitch } from '../../plot/plot-controls.tsx';
import { endOf } from '../../plot/viewport-of.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { settingName } from './runs.tsx';

interface RunPlotProps {
  readonly recorded: RecordedRun;
  /** Undefined until the chosen setting has been run. */
  readonly result: WhatIfResult | undefined;
}

const HEIGHT = 190;
/** Space above the highest line, for the markers of OOMs. */
const HEADROOM = 1.08;

/** Reserved memory of the recorded run and of the chosen setting, in the timeline's window. */
export function RunPlot({ recorded, result }: RunPlotProps) {
  const { device } = useDevice();
  const plot = useRef<SVGSVGElement>(null);
  const width = useElementWidth(plot);
  const axis = useView((view) => view.axis);
  const shown = useView((view) => view.x);
  const [pointer, setPointer] = useState<number>();
  const [x0, x1] = shown === 'all' ? [0, endOf(device, axis)] : [shown.from, shown.to];
  const highest = Math.max(recorded.peakReservedBytes, result?.peakReservedBytes ?? 0);
  const y1 = highest * HEADROOM || 1;
  useEffect(() => {
    const grid = plot.current?.closest('.plot-grid');
    if (width === 0 || !grid) return;
    const size = { width, height: HEIGHT };
    drawAxes(axesIn(grid), { axis, x0, x1, y0: 0, y1, ...size }, size);
  }, [axis, x0, x1, y1, width]);
  const part =
    pointer === undefined || width === 0
      ? undefined
      : partAt(partEdges(recorded, axis), x0 + ((x1 - x0) * pointer) / width);
  const follow = (event: PointerEvent<SVGSVGElement>) =>
    setPointer(event.clientX - event.currentTarget.getBoundingClientRect().left);
  const was = `Reserved memory over time: recorded up to ${formatBytes(recorded.peakReservedBytes)}`;
  const is =
    result && `${settingName(result.settings)} up to ${formatBytes(result.peakReservedBytes)}`;
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
        <svg className="axis y-axis" width={Y_AXIS_WIDTH} aria-hidden="true">
          <g transform={`translate(${Y_AXIS_WIDTH - 1},0)`} />
        </svg>
        <div className="plot">
          <svg className="grid" aria-hidden="true" />
          <svg
            ref={plot}
            className="whatif-curves"
            role="img"
            aria-label={is === undefined ? was : `${was}, ${is}`}
            onPointerMove={follow}
            onPointerLeave={() => setPointer(undefined)}
          >
            <Curves {...{ recorded, result, axis, x0, x1, y1, width }} />
          </svg>
        </div>
        <svg className="axis x-axis" aria-hidden="true" />
        <Minimap />
      </div>
    </section>
  );
}

interface CurvesProps extends RunPlotProps {
  readonly axis: TimeAxis;
  readonly x0: number;
  readonly x1: number;
  readonly y1: number;
  readonly width: number;
}

/** The lines of two runs, their OOMs and the cursor. The pointer moves without drawing them again. */
const Curves = memo(function Curves(props: CurvesProps) {
  const { recorded, result, axis, x0, x1, y1, width } = props;
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  if (width === 0) return undefined;
  const x = scaleLinear([x0, x1], [0, width]);
  const y = scaleLinear([0, y1], [HEIGHT, 0]);
  const xAt = ([at]: Corner) => x(at);
  const yAt = ([, bytes]: Corner) => y(bytes);
  const edges = partEdges(recorded, axis);
  const corners = (values: Float64Array) => cornersIn(edges, values, x0, x1);
  const steps = (values: Float64Array) =>
    line<Corner>(xAt, yAt).curve(curveStepAfter)(corners(values)) ?? '';
  const filled = area<Corner>(xAt, HEIGHT, yAt).curve(curveStepAfter);
  const ooms = failedOoms(device).map(({ event, timeUs, requestedBytes }) => ({
    x: x(axis === 'event' ? event + 0.5 : timeUs),
    title: `Recorded: ${oomText(event, requestedBytes)}`,
  }));
  const last = result?.ooms.at(-1);
  if (result !== undefined && last !== undefined && !last.isRecorded) {
    const title = `${settingName(result.settings)}: ${oomText(last.event, last.requestedBytes)}`;
    ooms.push({ x: x(xOfEvent(recorded, axis, last.event)), title });
  }
  // One marker per pixel: a run may have thousands.
  const marks = new Map(ooms.map((oom) => [Math.round(oom.x), oom]));
  const cursorX = cursor === undefined ? undefined : x(xOfEvent(recorded, axis, cursor));
  return (
    <>
      <path className="whatif-allocated" d={filled(corners(recorded.allocated.highest)) ?? ''} />
      <path className="whatif-was" d={steps(recorded.reserved.highest)} />
      {result !== undefined && <path className="whatif-is" d={steps(result.reserved.highest)} />}
      {[...marks].map(
        ([pixel, oom]) =>
          pixel >= 0 &&
          pixel <= width && (
            <g key={pixel} className="whatif-oom" transform={`translate(${oom.x},0)`}>
              <title>{oom.title}</title>
              <line y1={0} y2="100%" />
              <path d="M-5,0H5L0,8Z" />
            </g>
          ),
      )}
      {cursorX !== undefined && (
        <line className="whatif-cursor" x1={cursorX} x2={cursorX} y1={0} y2={HEIGHT} />
      )}
    </>
  );
});

const oomText = (event: number, requestedBytes: number): string =>
  `out of memory at event ${formatCount(event)}, ${formatBytes(requestedBytes)} requested`;

interface RunLegendProps extends RunPlotProps {
  readonly part: number | undefined;
  readonly axis: TimeAxis;
}

/** The lines with their peaks, or with their highest values under the pointer. */
function RunLegend({ recorded, result, part, axis }: RunLegendProps) {
  const at = (values: Float64Array, peak: number) => {
    const bytes = part === undefined ? peak : (values[part] ?? Number.NaN);
    return Number.isNaN(bytes) ? 'ended' : formatBytes(bytes);
  };
  const lines = [
    ['was', 'reserved, recorded', at(recorded.reserved.highest, recorded.peakReservedBytes)],
    result && ['is', 'reserved, chosen', at(result.reserved.highest, result.peakReservedBytes)],
    ['allocated', 'allocated', at(recorded.allocated.highest, recorded.peakAllocatedBytes)],
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
function placeText({ events, timesUs }: RecordedRun, part: number, axis: TimeAxis): string {
  const first = events[part] ?? 0;
  const last = Math.max(first, (events[part + 1] ?? 0) - 1);
  const where =
    first === last
      ? `event ${formatCount(first)}`
      : `highest in events ${formatCount(first)} to ${formatCount(last)}`;
  if (axis === 'event' || timesUs === undefined) return where;
  return `${where}, ${formatDurationUs(timesUs[part] ?? Number.NaN)}`;
}

/** A corner of a step line: `y` holds from `x` to the next corner. */
type Corner = readonly [x: number, y: number];

/** Where the parts of the curves begin on an axis, and where the last one ends. */
function partEdges({ events, timesUs }: RecordedRun, axis: TimeAxis): SortedNumbers {
  return axis === 'time' && timesUs !== undefined ? timesUs : events;
}

/**
 * The part of a curve in [x0, x1], cut at both ends. Parts that were not run are left out: the line ends where the run
 * ended. Example: edges 0, 10, 20 with 5 and 8 in [4, 20] give [4, 5], [10, 8], [20, 8].
 */
export function cornersIn(
  edges: SortedNumbers,
  values: Float64Array,
  x0: number,
  x1: number,
): readonly Corner[] {
  const corners: Corner[] = [];
  let end = x0;
  // Include parts without width (several at one time) for their peaks.
  const from = Math.max(0, Math.min(lowerBound(edges, x0), upperBound(edges, x0) - 1));
  for (let part = from; part < values.length; part++) {
    const y = values[part] ?? Number.NaN;
    const start = edges[part] ?? x1;
    if (start > x1 || Number.isNaN(y)) break;
    corners.push([Math.max(x0, start), y]);
    end = Math.min(x1, edges[part + 1] ?? x1);
  }
  const last = corners.at(-1);
  return last === undefined ? [] : [...corners, [end, last[1]]];
}

/** The part under an x; undefined outside the curves. */
export function partAt(edges: SortedNumbers, x: number): number | undefined {
  const part = upperBound(edges, x) - 1;
  return part < 0 || part >= edges.length - 1 ? undefined : part;
}

/** The x of an event: exact by events; by time the start of its part, which is under a pixel wide. */
function xOfEvent(recorded: RecordedRun, axis: TimeAxis, event: number): number {
  if (axis === 'event' || recorded.timesUs === undefined) return event + 0.5;
  const part = upperBound(recorded.events, event) - 1;
  return recorded.timesUs[Math.max(0, part)] ?? 0;
}
