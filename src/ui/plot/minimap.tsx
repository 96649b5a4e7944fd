import {
  area,
  type BrushBehavior,
  brushX,
  curveStepAfter,
  type D3BrushEvent,
  type Selection,
  scaleLinear,
  select,
} from 'd3';
import { type RefObject, useEffect, useRef } from 'react';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import { useStores, useView } from '../../state/stores.ts';
import type { Range } from '../../state/view-store.ts';
import type { MinimapResult } from '../../worker/handlers/raster.ts';
import { useElementWidth } from '../shared/browser.ts';
import { useDevice } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import { endOf, fromPlotX, plotAxisOf, toPlotX } from './viewport-of.ts';

const HEIGHT = 36;

/** Active and reserved memory over the whole trace; the brush is the window shown above. */
export function Minimap() {
  const { device } = useDevice();
  const root = useRef<SVGSVGElement>(null);
  const width = useElementWidth(root);
  const axis = useView((view) => view.axis);
  useOverview(root, width);
  useBrush(root, device, width);
  return (
    <svg
      ref={root}
      className="minimap"
      data-testid="minimap"
      role="img"
      aria-label={`The whole trace by ${axis}, with the part that is shown`}
      height={HEIGHT}
    >
      <path className="minimap-reserved" />
      <path className="minimap-active" />
      <g className="minimap-brush" />
    </svg>
  );
}

type SvgRef = RefObject<SVGSVGElement | null>;

function useOverview(root: SvgRef, width: number): void {
  const axis = useView(plotAxisOf);
  const { value } = useQuery('minimap', width === 0 ? undefined : { axis, width });
  useEffect(() => {
    if (value !== undefined && root.current !== null) drawOverview(root.current, value);
  }, [root, value]);
}

function drawOverview(svg: SVGSVGElement, { activeBytes, reservedBytes }: MinimapResult): void {
  const highest = activeBytes.reduce((most, value, column) => {
    return Math.max(most, value || 0, reservedBytes[column] || 0);
  }, 1);
  const y = scaleLinear([0, highest], [HEIGHT, 2]);
  const shape = area<number>()
    .defined((value) => !Number.isNaN(value))
    .x((_, column) => column)
    .y0(HEIGHT)
    .y1((value) => y(value))
    .curve(curveStepAfter);
  select(svg)
    .select('.minimap-reserved')
    .attr('d', shape(Array.from(reservedBytes)));
  select(svg)
    .select('.minimap-active')
    .attr('d', shape(Array.from(activeBytes)));
}

/** The brush writes the window to the view, and follows it when it was changed elsewhere. */
function useBrush(root: SvgRef, device: DeviceInfo, width: number): void {
  const { view } = useStores();
  useEffect(() => {
    if (root.current === null || width === 0) return;
    const group = select(root.current).select<SVGGElement>('.minimap-brush');
    const axis = () => plotAxisOf(view.getState().view);
    const end = () => endOf(device, axis());
    const timeOf = (range: Range | 'all') => mapRange(range, (x) => fromPlotX(device, axis(), x));
    const placeOf = (range: Range | 'all') => mapRange(range, (x) => toPlotX(device, axis(), x));
    const brush = brushX<unknown>()
      .extent([
        [0, 0],
        [width, HEIGHT],
      ])
      .on('start brush end', ({ type, sourceEvent, selection }: D3BrushEvent<unknown>) => {
        // Without a source event it was moved by `follow` below.
        if (!sourceEvent) return;
        if (type === 'start') view.beginDrag();
        // A press alone has not drawn a range yet; on its release it is a click.
        else view.move({ x: timeOf(rangeOf(selection, end() / width)) });
        if (type === 'end') view.endDrag();
      });
    group.call(brush);
    const follow = () => moveBrush(group, brush, placeOf(view.getState().view.x), width, end());
    follow();
    return view.subscribe((now, before) => {
      if (now.view.x !== before.view.x || plotAxisOf(now.view) !== plotAxisOf(before.view))
        follow();
    });
  }, [root, view, device, width]);
}

function mapRange(range: Range | 'all', map: (x: number) => number): Range | 'all' {
  return range === 'all' ? range : { from: map(range.from), to: map(range.to) };
}

type BrushGroup = Selection<SVGGElement, unknown, null, undefined>;

function moveBrush(
  group: BrushGroup,
  brush: BrushBehavior<unknown>,
  x: Range | 'all',
  width: number,
  end: number,
): void {
  // Without a range all of the map is free to draw one: a frame around it would be dragged instead.
  if (x === 'all') {
    group.call(brush.move, null);
    return;
  }
  const { from, to } = x;
  const left = Math.min(width - 2, (from / end) * width);
  // At least two pixels, so that it can be seen and gripped.
  group.call(brush.move, [left, Math.min(width, Math.max(left + 2, (to / end) * width))]);
}

/** A click beside the brush clears it: then everything is shown. */
function rangeOf(selection: D3BrushEvent<unknown>['selection'], perPixel: number): Range | 'all' {
  if (selection === null) return 'all';
  const [left, right] = selection;
  if (typeof left !== 'number' || typeof right !== 'number' || right <= left) return 'all';
  return { from: left * perPixel, to: right * perPixel };
}
