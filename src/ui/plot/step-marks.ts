/** Short strokes on the x axis where the program's steps begin, and how many there are in its corner. */
import { select } from 'd3';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import { plural } from '../../base/format.ts';
import type { DeviceInfo } from '../../device/model/types.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import { stepsInView } from './guides.ts';

/** CSS pixels; the labels of the axis begin below. */
const HEIGHT = 6;

export function drawSteps(
  element: SVGSVGElement,
  steps: StepMarks | undefined,
  device: Pick<DeviceInfo, 'folds'>,
  viewport: Viewport,
  width: number,
): void {
  const { x0, x1 } = viewport;
  const path = stepsInView(steps, device, viewport, width)
    .map((x) => `M${Math.round(((x - x0) / (x1 - x0)) * width) + 0.5},1V${HEIGHT}`)
    .join('');
  const root = select(element);
  root.selectAll('path.steps').data([path]).join('path').attr('class', 'steps').attr('d', path);
  root
    .selectAll('text.steps')
    .data(steps === undefined ? [] : [plural(steps.count, 'step')])
    .join('text')
    .attr('class', 'steps')
    .attr('x', -8)
    .attr('y', 16)
    .attr('text-anchor', 'end')
    .text((text) => text);
}
