/** The lines of two runs and the marks of their OOMs, by D3, in the plot's SVG. */

import { area, curveStepAfter, line, select } from 'd3';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatBytes, formatCount } from '../../../base/format.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import type { DeviceInfo } from '../../../device/model/types.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import type { RecordedSide } from '../../../worker/analysis/what-if-handler.ts';
import { settingName } from './labels.ts';
import { type Corner, cornersIn, type partEdges, xOfEvent } from './run-curves.ts';

export interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

export interface Curves {
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

export interface OomMark {
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
  // Of several in one pixel one would hide the others: a run may have thousands.
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
