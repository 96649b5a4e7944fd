import './plot.css';
import { area, brushX, curveStepAfter, type D3BrushEvent, scaleLinear, select } from 'd3';
import { type ReactNode, type Ref, type RefObject, useEffect, useRef } from 'react';
import { useStores, useView } from '../../state/stores.ts';
import type { Range } from '../../state/view-store.ts';
import { useElementWidth } from '../shared/browser.ts';
import { useDevice } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import { endOf, fromPlotX, plotAxisOf, toPlotX } from './viewport-of.ts';

const HEIGHT = 36;

/** Width of the byte axis in CSS pixels. */
const Y_AXIS_WIDTH = 72;

interface PlotFrameProps {
  readonly ref?: Ref<HTMLDivElement>;
  readonly rows?: string;
  readonly above?: ReactNode;
  readonly children: ReactNode;
}

/** Axes and minimap around a picture; drawAxes() fills the axes. */
export function PlotFrame({ ref, rows, above, children }: PlotFrameProps) {
  const gridTemplateColumns = `${Y_AXIS_WIDTH}px minmax(0, 1fr)`;
  return (
    <div ref={ref} className="plot-grid" style={{ gridTemplateColumns, gridTemplateRows: rows }}>
      {above}
      <svg className="axis y-axis" width={Y_AXIS_WIDTH} aria-hidden="true">
        <g transform={`translate(${Y_AXIS_WIDTH - 1},0)`} />
      </svg>
      <div className="plot">{children}</div>
      <svg className="axis x-axis" aria-hidden="true" />
      <Minimap />
    </div>
  );
}

/** Active and reserved memory over the whole trace; the brush is the window shown above. */
function Minimap() {
  const root = useRef<SVGSVGElement>(null);
  const width = useElementWidth(root);
  const axis = useView(plotAxisOf);
  const { value } = useQuery('minimap', width === 0 ? undefined : { axis, width });
  useBrush(root, width);
  const { activeBytes = NOTHING, reservedBytes = NOTHING } = value ?? {};
  const highest = [...activeBytes, ...reservedBytes].reduce((a, b) => Math.max(a, b || 0), 1);
  const y = scaleLinear([0, highest], [HEIGHT, 2]);
  const shape = area<number>()
    .defined((bytes) => !Number.isNaN(bytes))
    .x((_, column) => column)
    .y0(HEIGHT)
    .y1(y)
    .curve(curveStepAfter);
  return (
    <svg
      ref={root}
      className="minimap"
      data-testid="minimap"
      role="img"
      aria-label={`The whole trace by ${axis === 'event' ? 'event' : 'time'}, with the part that is shown`}
      height={HEIGHT}
    >
      <path className="minimap-reserved" d={shape(Array.from(reservedBytes)) ?? undefined} />
      <path className="minimap-active" d={shape(Array.from(activeBytes)) ?? undefined} />
      <g className="minimap-brush" />
    </svg>
  );
}

const NOTHING = new Float64Array(0);

/** The brush writes the window to the view, and follows changes from elsewhere. */
function useBrush(root: RefObject<SVGSVGElement | null>, width: number): void {
  const { view } = useStores();
  const { device } = useDevice();
  useEffect(() => {
    if (root.current === null || width === 0) return;
    const group = select(root.current).select<SVGGElement>('.minimap-brush');
    const axis = () => plotAxisOf(view.getState().view);
    const scale = () => scaleLinear([0, endOf(device, axis())], [0, width]);
    const timeAt = (pixel: number) => fromPlotX(device, axis(), scale().invert(pixel));
    const pixelOf = (x: number) => scale()(toPlotX(device, axis(), x));
    const rangeOf = (selection: D3BrushEvent<unknown>['selection']): Range | 'all' => {
      const [left, right] = selection?.map(Number) ?? [];
      // A click beside the brush clears it, which shows everything.
      if (left === undefined || right === undefined || !(left < right)) return 'all';
      return { from: timeAt(left), to: timeAt(right) };
    };
    const brush = brushX<unknown>()
      .extent([
        [0, 0],
        [width, HEIGHT],
      ])
      .on('start brush end', ({ type, sourceEvent, selection }: D3BrushEvent<unknown>) => {
        // No source event: `follow` below moved it.
        if (!sourceEvent) return;
        if (type === 'start') view.beginDrag();
        // A press has no range yet; released without one, it is a click.
        else view.move({ x: rangeOf(selection) });
        if (type === 'end') view.endDrag();
      });
    const follow = () => {
      const { x } = view.getState().view;
      // Draw no frame around the whole map: dragging would move the frame instead of drawing a range.
      if (x === 'all') return group.call(brush.move, null);
      const left = Math.min(width - 2, pixelOf(x.from));
      // At least two pixels wide, to be seen and gripped.
      const right = Math.min(width, Math.max(left + 2, pixelOf(x.to)));
      return group.call(brush.move, [left, right]);
    };
    group.call(brush);
    follow();
    let animation = 0;
    const followInNextFrame = () => {
      animation = requestAnimationFrame(() => {
        animation = 0;
        follow();
      });
    };
    const unsubscribe = view.subscribe((now, before) => {
      if (now.view.x === before.view.x && plotAxisOf(now.view) === plotAxisOf(before.view)) return;
      // The frame after this one, which also shows the new picture: this one has nothing else to paint.
      if (animation === 0) animation = requestAnimationFrame(followInNextFrame);
    });
    return () => {
      unsubscribe();
      cancelAnimationFrame(animation);
    };
  }, [root, view, device, width]);
}
