/** The axes and the grid, by D3, in SVG. */
import { axisBottom, axisLeft, type NumberValue, scaleLinear, select } from 'd3';
import type { Viewport } from '../../core/raster/types.ts';
import { axisTicks, byteTicks, type Tick } from './ticks.ts';

export interface AxisElements {
  readonly x: SVGSVGElement;
  readonly y: SVGSVGElement;
  readonly grid: SVGSVGElement;
}

/** Width of the byte axis' element, in CSS pixels. */
export const Y_AXIS_WIDTH = 72;

/** CSS pixels between ticks, at least. */
const X_SPACING = 110;
const Y_SPACING = 44;

/** @param size of the plot in CSS pixels */
export function drawAxes(
  elements: AxisElements,
  viewport: Viewport,
  size: { readonly width: number; readonly height: number },
): void {
  const { axis, x0, x1, y0, y1 } = viewport;
  const x = scaleLinear([x0, x1], [0, size.width]);
  const y = scaleLinear([y0, y1], [size.height, 0]);
  const xTicks = axisTicks(axis, x0, x1, Math.max(2, Math.floor(size.width / X_SPACING)));
  const yTicks = byteTicks(y0, y1, Math.max(2, Math.floor(size.height / Y_SPACING)));
  select(elements.x).call(
    axisBottom(x).tickValues(valuesOf(xTicks)).tickFormat(labelOf(xTicks)).tickSizeOuter(0),
  );
  const left = axisLeft(y).tickValues(valuesOf(yTicks)).tickFormat(labelOf(yTicks));
  // Drawn towards the left from the right edge of its own element.
  select(elements.y).select<SVGGElement>('g').call(left.tickSizeOuter(0));
  select(elements.grid)
    .selectAll('line')
    .data(yTicks.filter(({ value }) => value > y0))
    .join('line')
    .attr('x2', size.width)
    .attr('y1', ({ value }) => Math.round(y(value)) + 0.5)
    .attr('y2', ({ value }) => Math.round(y(value)) + 0.5);
}

const valuesOf = (ticks: readonly Tick[]) => ticks.map(({ value }) => value);

const labelOf = (ticks: readonly Tick[]) => (_: NumberValue, index: number) =>
  ticks[index]?.label ?? '';
