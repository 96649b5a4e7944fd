/** The axes and the grid, by D3, in SVG. */
import { axisBottom, axisLeft, type NumberValue, scaleLinear, select, ticks } from 'd3';
import { formatCount } from '../../core/base/format.ts';
import type { TimeAxis, Viewport } from '../../core/raster/types.ts';

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

/** Ticks that people count in: powers of two for bytes, 1-2-5 steps for events and time. */
export interface Tick {
  readonly value: number;
  readonly label: string;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
/** A label has at most three decimals: 1/8 of a unit is the finest step it can say. */
const FINEST_SHARE = 1 / 8;

/**
 * Bytes from y0 to y1 in steps of a power of two, at most `count` steps.
 * Example: 0 to 1.4 GiB in at most 6 steps gives 0, 256 MiB, 512 MiB, 768 MiB, 1 GiB, 1.25 GiB.
 */
export function byteTicks(y0: number, y1: number, count: number): readonly Tick[] {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((y1 - y0) / Math.max(1, count))));
  const result: Tick[] = [];
  for (let n = Math.ceil(y0 / step); n * step <= y1; n++) {
    result.push({ value: n * step, label: byteLabel(n * step, step) });
  }
  return result;
}

/** In the largest unit that the value reaches and that the step can be said in. */
function byteLabel(bytes: number, step: number): string {
  if (bytes === 0) return '0';
  let unit = UNITS.length - 1;
  while (unit > 0 && (bytes < 1024 ** unit || step < 1024 ** unit * FINEST_SHARE)) unit--;
  return `${formatDecimal(bytes / 1024 ** unit)} ${UNITS[unit]}`;
}

/** Up to three decimals, none that are 0: '1,025', '0.5'. */
function formatDecimal(value: number): string {
  const [whole = '', decimals] = String(Number(value.toFixed(3))).split('.');
  const text = formatCount(Number(whole));
  return decimals === undefined ? text : `${text}.${decimals}`;
}

/** Events or microseconds from x0 to x1, about `count` of them. */
export function axisTicks(axis: TimeAxis, x0: number, x1: number, count: number): readonly Tick[] {
  return axis === 'event' ? eventTicks(x0, x1, count) : timeTicks(x0, x1, count);
}

/** Whole events only: there is nothing at 2.5. */
function eventTicks(x0: number, x1: number, count: number): readonly Tick[] {
  return ticks(x0, x1, count)
    .filter(Number.isInteger)
    .map((value) => ({ value, label: formatCount(value) }));
}

const TIME_UNITS = [
  { us: 1e6, name: 's' },
  { us: 1e3, name: 'ms' },
  { us: 1, name: 'µs' },
] as const;

function timeTicks(x0: number, x1: number, count: number): readonly Tick[] {
  const values = ticks(x0, x1, count);
  const stepUs = values.length > 1 ? (values[1] ?? 0) - (values[0] ?? 0) : x1 - x0;
  const { us, name } = TIME_UNITS.find((unit) => stepUs >= unit.us / 10) ?? TIME_UNITS[2];
  return values.map((value) => ({
    value,
    label: value === 0 ? '0' : `${formatDecimal(value / us)} ${name}`,
  }));
}
