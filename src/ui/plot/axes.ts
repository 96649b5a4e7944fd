/** The axes and the grid, drawn by D3 as SVG. */
import { format, scaleLinear, select, tickStep, ticks } from 'd3';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { formatCount, formatDurationUs, plural } from '../../base/format.ts';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import { foldTime, NO_FOLDS, type TimeFolds, unfoldTime } from '../../device/model/events.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import { stepsInView } from './event-markers.ts';

export function partOf<E extends Element>(plot: Element, selector: string): E {
  const found = plot.querySelector<E>(selector);
  if (found === null) throw new Error(`The plot has no ${selector}`);
  return found;
}

export const axesIn = (plot: Element) => ({
  x: partOf<SVGSVGElement>(plot, '.x-axis'),
  y: partOf<SVGSVGElement>(plot, '.y-axis'),
  grid: partOf<SVGSVGElement>(plot, '.grid'),
});

/** Minimum CSS pixels between ticks. */
const X_SPACING = 110;
const Y_SPACING = 44;
/** CSS pixels that half a label of the horizontal axis takes at most. */
const LABEL_ROOM = 28;

/** @param size of the plot in CSS pixels */
export function drawAxes(
  elements: ReturnType<typeof axesIn>,
  viewport: Viewport,
  size: { readonly width: number; readonly height: number },
  { folds: ownFolds }: Pick<DeviceInfo, 'folds'>,
): void {
  const { axis, x0, x1, y0, y1 } = viewport;
  const folds = axis === 'folded' ? ownFolds : NO_FOLDS;
  const x = scaleLinear([x0, x1], [0, size.width]);
  const y = scaleLinear([y0, y1], [size.height, 0]);
  const xCount = Math.max(2, Math.floor(size.width / X_SPACING));
  const xTicks = axis === 'event' ? eventTicks(x0, x1, xCount) : timeTicks(folds, x0, x1, xCount);
  // The last label ends at its tick if there is no room for its second half.
  const anchorOf = ({ value }: Tick) => (x(value) > size.width - LABEL_ROOM ? 'end' : 'middle');
  drawTicks(elements.x, xTicks, X_TICK, ({ value }) => `translate(${x(value) + HALF},0)`)
    .select<SVGTextElement>('text')
    .filter((tick, i, texts) => texts[i]?.getAttribute('text-anchor') !== anchorOf(tick))
    .attr('text-anchor', anchorOf);
  drawFolds(elements.x, foldsInView(folds, x0, x1, size.width), x);
  // Most zooms and pans leave the heights alone: the browser would lay out the same labels anew.
  const heights = `${y0} ${y1} ${size.width} ${size.height}`;
  if (elements.y.dataset.heights === heights) return;
  elements.y.dataset.heights = heights;
  const yTicks = byteTicks(y0, y1, Math.max(2, Math.floor(size.height / Y_SPACING)));
  const column = partOf<SVGGElement>(elements.y, 'g');
  drawTicks(column, yTicks, Y_TICK, ({ value }) => `translate(0,${y(value) + HALF})`);
  select(elements.grid)
    .selectAll('line')
    .data(yTicks.filter(({ value }) => value > y0))
    .join('line')
    .attr('x2', size.width)
    .attr('y1', ({ value }) => Math.round(y(value)) + 0.5)
    .attr('y2', ({ value }) => Math.round(y(value)) + 0.5);
}

/** Lines of a pixel are sharp in the middle of a pixel. */
const HALF = 0.5;
const X_TICK = { line: { y2: 6 }, text: { y: 9, dy: '0.71em' } };
const Y_TICK = { line: { x2: -6 }, text: { x: -9, dy: '0.32em', 'text-anchor': 'end' } };

/** Only moves ticks that were there before: the browser lays out each text that is written, even if it is the same. */
function drawTicks(
  parent: SVGElement,
  shown: readonly Tick[],
  { line, text }: Record<'line' | 'text', Readonly<Record<string, string | number>>>,
  transform: (tick: Tick) => string,
) {
  return select(parent)
    .selectAll<SVGGElement, Tick>('g.tick')
    .data(shown, ({ label }) => label)
    .join((enter) => {
      const tick = enter.append('g').attr('class', 'tick');
      const added = { line: tick.append('line'), text: tick.append('text') };
      for (const [name, value] of Object.entries(line)) added.line.attr(name, value);
      for (const [name, value] of Object.entries(text)) added.text.attr(name, value);
      added.text.text(({ label }) => label);
      return tick;
    })
    .attr('transform', transform);
}

/** Draws two slanted strokes where time is cut; their title says how long nothing happened. */
function drawFolds(
  element: SVGSVGElement,
  folds: readonly FoldInView[],
  x: (value: number) => number,
): void {
  select(element)
    .selectAll<SVGGElement, FoldInView>('g.fold')
    .data(folds)
    .join((enter) => {
      const group = enter.append('g').attr('class', 'fold');
      group.append('path').attr('d', 'M-4,10 L0,0 M0,10 L4,0');
      group.append('title');
      return group;
    })
    .attr('transform', (fold) => `translate(${x(fold.x)},0)`)
    .select('title')
    .text(({ idleUs, count }) =>
      count === 1
        ? `${formatDurationUs(idleUs)} without events`
        : `${formatDurationUs(idleUs)} without events, in ${formatCount(count)} gaps`,
    );
}

/**
 * Short enough for the corner of an axis: '8 steps', '13 iter.'. Batches are counted as they are fetched, and the end of
 * a data loader is a fetch too.
 */
const stepsText = ({ count, noun }: StepMarks): string =>
  noun === 'iteration'
    ? `${formatCount(count)} iter.`
    : noun === 'batch'
      ? plural(count, 'fetch', 'fetches')
      : plural(count, noun);

/** Draws short strokes where the program's steps begin, and their number in the corner of the axis. */
export function drawSteps(
  element: SVGSVGElement,
  steps: StepMarks | undefined,
  device: Pick<DeviceInfo, 'folds'>,
  viewport: Viewport,
  width: number,
): void {
  const x = scaleLinear([viewport.x0, viewport.x1], [0, width]);
  // The labels of the axis begin below.
  const path = stepsInView(steps, device, viewport, width)
    .map((place) => `M${Math.round(x(place)) + 0.5},1V6`)
    .join('');
  const root = select(element);
  root
    .selectAll('path.steps')
    .data([path])
    .join((enter) => enter.append('path').attr('class', 'steps'))
    .attr('d', path);
  root
    .selectAll<SVGTextElement, string>('text.steps')
    .data(steps === undefined ? [] : [stepsText(steps)], (text) => text)
    .join((enter) =>
      enter
        .append('text')
        .attr('class', 'steps')
        .attr('x', -8)
        .attr('y', 16)
        .attr('text-anchor', 'end')
        .text((text) => text),
    );
}

export interface FoldInView {
  /** Its middle, on the folded axis. */
  readonly x: number;
  readonly idleUs: number;
  /** Gaps too close together are drawn as one. */
  readonly count: number;
}

/** Minimum CSS pixels between the strokes of two folds. */
const FOLD_SPACING = 14;

/** Where the axis is cut, from x0 to x1 on `width` pixels. */
export function foldsInView(
  { fromUs, toUs, fromX, cutUs }: TimeFolds,
  x0: number,
  x1: number,
  width: number,
): readonly FoldInView[] {
  const spacing = ((x1 - x0) / width) * FOLD_SPACING;
  const found: FoldInView[] = [];
  for (let at = 0; at < fromX.length; at++) {
    const x = (fromX[at] ?? 0) + cutUs / 2;
    if (x < x0 || x > x1) continue;
    const idleUs = (toUs[at] ?? 0) - (fromUs[at] ?? 0);
    const last = found.at(-1);
    if (last === undefined || x - last.x >= spacing) found.push({ x, idleUs, count: 1 });
    else
      found[found.length - 1] = { x: last.x, idleUs: last.idleUs + idleUs, count: last.count + 1 };
  }
  return found;
}

/** Ticks at about `count` round events. There is no event 2.5. */
export const eventTicks = (x0: number, x1: number, count: number): readonly Tick[] =>
  ticks(x0, x1, count)
    .filter(Number.isInteger)
    .map((value) => ({ value, label: formatCount(value) }));

/** About `count` ticks at round true times, placed where time is folded; none lies within a gap. */
export function timeTicks(
  folds: TimeFolds,
  x0: number,
  x1: number,
  count: number,
): readonly Tick[] {
  const stepUs = tickStep(x0, x1, count);
  const apart = stepUs * 0.75;
  const found: Tick[] = [];
  // Try positions a quarter step apart, and move each to the nearest round time.
  for (let x = Math.ceil(x0 / stepUs) * stepUs; x <= x1; x += stepUs / 4) {
    const timeUs = Math.round(unfoldTime(folds, x) / stepUs) * stepUs;
    const place = foldTime(folds, timeUs);
    const isInside = place >= x0 && place <= x1 && Math.abs(unfoldTime(folds, place) - timeUs) < 1;
    const last = found.at(-1);
    if (!isInside || isInGap(folds, timeUs)) continue;
    if (last !== undefined && place - last.value < apart) continue;
    found.push({ value: place, label: timeLabel(timeUs, stepUs) });
  }
  return found;
}

function isInGap({ fromUs, toUs }: TimeFolds, timeUs: number): boolean {
  const at = lowerBound(fromUs, timeUs) - 1;
  return at >= 0 && timeUs < (toUs[at] ?? 0);
}

/** A tick at a round value: powers of two for bytes; multiples of 1, 2 and 5 for events and time. */
export interface Tick {
  readonly value: number;
  readonly label: string;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/**
 * Bytes from y0 to y1 in steps of a power of two, at most `count` steps. Example: 0 to 1.4 GiB in at most 6 steps gives
 * 0, 256 MiB, 512 MiB, 768 MiB, 1 GiB, 1.25 GiB.
 */
export function byteTicks(y0: number, y1: number, count: number): readonly Tick[] {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((y1 - y0) / Math.max(1, count))));
  const result: Tick[] = [];
  for (let n = Math.ceil(y0 / step); n * step <= y1; n++) {
    result.push({ value: n * step, label: byteLabel(n * step, step) });
  }
  return result;
}

/**
 * Uses the largest unit that the value reaches and whose eighth is no more than the step: labels have three decimals.
 */
function byteLabel(bytes: number, step: number): string {
  if (bytes === 0) return '0';
  let unit = UNITS.length - 1;
  while (unit > 0 && (bytes < 1024 ** unit || step < 1024 ** unit / 8)) unit--;
  return `${formatDecimal(bytes / 1024 ** unit)} ${UNITS[unit]}`;
}

/** '1,025', '0.5': up to three decimals, without trailing zeros. */
const formatDecimal = format(',.3~f');

const TIME_UNITS = [
  { us: 1e6, name: 's' },
  { us: 1e3, name: 'ms' },
  { us: 1, name: 'µs' },
] as const;

/** Uses the unit that suits the step between ticks. */
function timeLabel(timeUs: number, stepUs: number): string {
  const { us, name } = TIME_UNITS.find((unit) => stepUs >= unit.us / 10) ?? TIME_UNITS[2];
  return timeUs === 0 ? '0' : `${formatDecimal(timeUs / us)} ${name}`;
}
