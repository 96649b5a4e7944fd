import { area, curveStepAfter, line, scaleLinear } from 'd3';
import { memo, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { ByteCurve } from '../../../allocator/simulator/recorded-memory.ts';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { type SortedNumbers, upperBound } from '../../../base/binary-search.ts';
import { formatBytes, formatCount, formatDurationUs } from '../../../base/format.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import type { PlotAxis, Viewport } from '../../../draw/timeline/types.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useView } from '../../../state/stores.ts';
import { axesIn, drawAxes } from '../../plot/axes.ts';
import { PlotFrame } from '../../plot/minimap.tsx';
import { AxisSwitch } from '../../plot/plot-controls.tsx';
import { toPlotX, viewportOf } from '../../plot/viewport-of.ts';
import { useElementWidth } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { settingName } from './runs.tsx';

interface RunPlotProps {
  readonly recorded: RecordedRun;
  /** Undefined until the chosen setting has been run. */
  readonly result: WhatIfResult | undefined;
}

const HEIGHT = 190;
/** CSS pixels beside the plot where the corners of lines are drawn that are out of view. */
const BESIDE = 9;

/**
 * Reserved memory of the recorded run and of the chosen setting, in the timeline's window. Allocated memory is of the
 * chosen one: other settings round blocks otherwise, so its reserved line may lie below what the recorded run allocated.
 */
export function RunPlot({ recorded, result }: RunPlotProps) {
  const { device } = useDevice();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<SVGSVGElement>(null);
  const width = useElementWidth(plot);
  const timeAxis = useView((view) => view.axis);
  const foldsGaps = useView((view) => view.foldsGaps);
  const x = useView((view) => view.x);
  const [pointer, setPointer] = useState<number>();
  const highest = Math.max(recorded.peakReservedBytes, result?.peakReservedBytes ?? 0);
  const viewport = useMemo(() => {
    const heights = { reachBytes: highest, fittedBytes: highest };
    const shown = { axis: timeAxis, foldsGaps, x, y: 'fit' } as const;
    return viewportOf(shown, device, heights, { width: Math.max(1, width), height: HEIGHT });
  }, [timeAxis, foldsGaps, x, device, highest, width]);
  const { axis, x0, x1 } = viewport;
  const edges = useMemo(
    () =>
      axis === 'event'
        ? recorded.events
        : Array.from(recorded.timesUs ?? recorded.events, (timeUs) =>
            toPlotX(device, axis, timeUs),
          ),
    [recorded, device, axis],
  );
  useEffect(() => {
    if (frame.current !== null && width > 0) {
      drawAxes(axesIn(frame.current), viewport, viewport, device);
    }
  }, [viewport, device, width]);
  const part =
    pointer === undefined || width === 0
      ? undefined
      : partAt(edges, x0 + ((x1 - x0) * pointer) / width);
  const follow = (event: PointerEvent<SVGSVGElement>) =>
    setPointer(event.clientX - event.currentTarget.getBoundingClientRect().left);
  const was = `Reserved memory over time: recorded up to ${formatBytes(recorded.peakReservedBytes)}`;
  const is =
    result && `${settingName(result.settings)} up to ${formatBytes(result.peakReservedBytes)}`;
  return (
    <section className="whatif-plot" aria-label="Reserved memory over time">
      <div className="row toolbar-row">
        <AxisSwitch />
        <RunLegend recorded={recorded} result={result} part={part} axis={axis} />
      </div>
      <PlotFrame ref={frame} rows={`0 ${HEIGHT}px 0 24px auto`}>
        <svg className="grid" aria-hidden="true" />
        <svg
          ref={plot}
          className="whatif-curves"
          role="img"
          aria-label={is === undefined ? was : `${was}, ${is}`}
          onPointerMove={follow}
          onPointerLeave={() => setPointer(undefined)}
        >
          {width > 0 && <Curves {...{ recorded, result, edges, viewport }} />}
        </svg>
      </PlotFrame>
    </section>
  );
}

interface CurvesProps extends RunPlotProps {
  readonly viewport: Viewport;
  /** Where the parts of the curves begin on the axis, and where the last one ends. */
  readonly edges: SortedNumbers;
}

/** The lines of two runs, their OOMs and the cursor. The pointer moves without drawing them again. */
const Curves = memo(function Curves({ recorded, result, edges, viewport }: CurvesProps) {
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  const { axis, x0, x1, y1, width } = viewport;
  const x = scaleLinear([x0, x1], [0, width]);
  const y = scaleLinear([0, y1], [HEIGHT, 0]);
  const ends = [-BESIDE, width + BESIDE];
  const clamped = scaleLinear(ends.map(x.invert), ends).clamp(true);
  const edge = (_: number, part: number) => clamped(edges[part] ?? x1);
  const lineOf = ({ highest }: ByteCurve) =>
    line<number>(edge, y).curve(curveStepAfter)(stepsOf(highest)) ?? '';
  const filled = area<number>(edge, HEIGHT, y).curve(curveStepAfter);
  const xOf = (event: EventIndex) => x(xOfEvent(recorded, edges, axis, event));
  const ooms = failedOoms(device).map(({ event, timeUs, requestedBytes }) => ({
    x: x(axis === 'event' ? event + 0.5 : toPlotX(device, axis, timeUs)),
    title: `Recorded: ${oomText(event, requestedBytes)}`,
  }));
  const last = result?.ooms.at(-1);
  if (result !== undefined && last !== undefined && !last.isRecorded) {
    const title = `${settingName(result.settings)}: ${oomText(last.event, last.requestedBytes)}`;
    ooms.push({ x: xOf(last.event), title });
  }
  const shown = ooms.filter((oom) => oom.x >= 0 && oom.x <= width);
  // One per pixel: a run may have thousands.
  const onePerPixel = new Map(shown.map((oom) => [Math.round(oom.x), oom]));
  return (
    <>
      <path
        className="whatif-allocated"
        d={filled(stepsOf((result ?? recorded).allocated.highest)) ?? ''}
      />
      <path className="whatif-was" d={lineOf(recorded.reserved)} />
      {result !== undefined && <path className="whatif-is" d={lineOf(result.reserved)} />}
      {[...onePerPixel].map(([pixel, oom]) => (
        <g key={pixel} className="whatif-oom" transform={`translate(${oom.x},0)`}>
          <title>{oom.title}</title>
          <line y1={0} y2="100%" />
          <path d="M-5,0H5L0,8Z" />
        </g>
      ))}
      {cursor !== undefined && (
        <line className="whatif-cursor" x1={xOf(cursor)} x2={xOf(cursor)} y1={0} y2={HEIGHT} />
      )}
    </>
  );
});

const oomText = (event: number, requestedBytes: number): string =>
  `out of memory at event ${formatCount(event)}, ${formatBytes(requestedBytes)} requested`;

interface RunLegendProps extends RunPlotProps {
  readonly part: number | undefined;
  readonly axis: PlotAxis;
}

/** The lines with their peaks, or with their highest values under the pointer. */
function RunLegend({ recorded, result, part, axis }: RunLegendProps) {
  const at = (values: Float64Array, peak: number) => {
    const bytes = part === undefined ? peak : (values[part] ?? Number.NaN);
    return Number.isNaN(bytes) ? 'ended' : formatBytes(bytes);
  };
  const shown = result ?? recorded;
  const lines = [
    ['was', 'reserved, recorded', at(recorded.reserved.highest, recorded.peakReservedBytes)],
    result && ['is', 'reserved, chosen', at(result.reserved.highest, result.peakReservedBytes)],
    [
      'allocated',
      result === undefined ? 'allocated, recorded' : 'allocated, chosen',
      at(shown.allocated.highest, shown.peakAllocatedBytes),
    ],
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
function placeText({ events, timesUs }: RecordedRun, part: number, axis: PlotAxis): string {
  const first = events[part] ?? 0;
  const last = Math.max(first, (events[part + 1] ?? 0) - 1);
  const where =
    first === last
      ? `event ${formatCount(first)}`
      : `highest in events ${formatCount(first)} to ${formatCount(last)}`;
  if (axis === 'event' || timesUs === undefined) return where;
  return `${where}, ${formatDurationUs(timesUs[part] ?? Number.NaN)}`;
}

/** A curve's values up to where its run ended; the last one holds to the end of its part. */
export function stepsOf(values: Float64Array): readonly number[] {
  const end = values.findIndex(Number.isNaN);
  const ran = end < 0 ? values : values.subarray(0, end);
  return [...ran, ...ran.subarray(-1)];
}

/** The part under an x; undefined outside the curves. */
export function partAt(edges: SortedNumbers, x: number): number | undefined {
  const part = upperBound(edges, x) - 1;
  return part < 0 || part >= edges.length - 1 ? undefined : part;
}

/** The x of an event: exact by events; by time the start of its part, which is under a pixel wide. */
function xOfEvent(
  { events }: RecordedRun,
  edges: SortedNumbers,
  axis: PlotAxis,
  event: EventIndex,
): number {
  if (axis === 'event') return event + 0.5;
  return edges[Math.max(0, upperBound(events, event) - 1)] ?? 0;
}
