/** Draws the lines of two runs and the markers of their OOMs in the plot's SVG. */
import { area, curveStepAfter, line, select } from 'd3';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { lowerBound, type SortedNumbers, upperBound } from '../../../base/binary-search.ts';
import { formatBytes, formatCount } from '../../../base/format.ts';
import { type DeviceInfo, failedOoms } from '../../../device/model/device-info.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import type { RecordedSide } from '../../../worker/protocol.ts';
import { settingName } from './setting-rows.ts';

interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

interface Curves {
  readonly recorded: RecordedSide;
  readonly result: WhatIfResult | undefined;
  readonly edges: ReturnType<typeof partEdges>;
  readonly x0: number;
  readonly x1: number;
}

export function drawCurves(svg: SVGSVGElement, scales: Scales, curves: Curves): void {
  const { recorded, result, edges, x0, x1 } = curves;
  const x = ([value]: Corner) => scales.x(value);
  const y = ([, value]: Corner) => scales.y(value);
  const steps = line<Corner>(x, y).curve(curveStepAfter);
  const filled = area<Corner>(x, scales.y(0), y).curve(curveStepAfter);
  const corners = (values: Float64Array) => [...cornersIn(edges, values, x0, x1)];
  const root = select(svg);
  root.select('.whatif-was').attr('d', steps(corners(recorded.run.reserved.highest)));
  root.select('.whatif-allocated').attr('d', filled(corners(recorded.run.allocated.highest)));
  const chosen = result === undefined ? [] : corners(result.reserved.highest);
  root.select('.whatif-is').attr('d', steps(chosen));
}

interface OomMark {
  readonly x: number;
  readonly title: string;
}

/** Recorded OOMs, and the one that ends the chosen run. */
export function markedOoms(
  device: DeviceInfo,
  recorded: RecordedSide,
  result: WhatIfResult | undefined,
  axis: TimeAxis,
): readonly OomMark[] {
  const marks = failedOoms(device).map(({ event, timeUs, requestedBytes }) => ({
    x: axis === 'event' ? event + 0.5 : timeUs,
    title: `Recorded: out of memory at event ${formatCount(event)}, ${formatBytes(requestedBytes)} requested`,
  }));
  const last = result?.ooms.at(-1);
  if (result === undefined || last === undefined || last.isRecorded) return marks;
  const title = `${settingName(result.settings)}: out of memory at event ${formatCount(last.event)}, ${formatBytes(last.requestedBytes)} requested`;
  return [...marks, { x: xOfEvent(recorded, axis, last.event), title }];
}

/** @param width of the plot in CSS pixels */
export function drawMarks(
  svg: SVGSVGElement,
  x: Scales['x'],
  width: number,
  ooms: readonly OomMark[],
  cursorX: number | undefined,
): void {
  // One marker per pixel: a run may have thousands.
  const inView = ooms
    .map((oom) => [Math.round(x(oom.x)), oom] as const)
    .filter(([at]) => at >= 0 && at <= width);
  const marks = select(svg)
    .select('.whatif-ooms')
    .selectAll<SVGGElement, OomMark>('g')
    .data([...new Map(inView).values()])
    .join((enter) => {
      const mark = enter.append('g');
      mark.append('title');
      mark.append('line').attr('y1', 0).attr('y2', '100%');
      mark.append('path').attr('d', 'M-5,0H5L0,8Z');
      return mark;
    });
  marks.attr('transform', (oom) => `translate(${x(oom.x)},0)`);
  marks.select('title').text((oom) => oom.title);
  select(svg)
    .select('.whatif-cursor')
    .attr('visibility', cursorX === undefined ? 'hidden' : 'visible')
    .attr('x1', x(cursorX ?? 0))
    .attr('x2', x(cursorX ?? 0));
}

/** A corner of a step line: `y` holds from `x` to the next corner. */
type Corner = readonly [x: number, y: number];

/** Where the parts of the curves begin on an axis, and where the last one ends. */
export function partEdges({ events, timesUs }: RecordedSide, axis: TimeAxis): SortedNumbers {
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
export function xOfEvent(recorded: RecordedSide, axis: TimeAxis, event: number): number {
  if (axis === 'event' || recorded.timesUs === undefined) return event + 0.5;
  const part = upperBound(recorded.events, event) - 1;
  return recorded.timesUs[Math.max(0, part)] ?? 0;
}
