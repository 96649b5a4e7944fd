/** Converts between what the view keeps (ranges, 'all', 'fit') and a canvas's viewport. */

import type { DeviceInfo } from '../../device/model/device-info.ts';
import { foldTime, unfoldTime } from '../../device/model/events.ts';
import type { PlotAxis, Viewport } from '../../draw/timeline/types.ts';
import {
  axisExtent,
  clampViewport,
  type Extent,
  fitViewport,
  snapToColumns,
} from '../../draw/timeline/viewport.ts';
import type { Range, ViewState } from '../../state/view-store.ts';
import type { PlotHeights } from './plot-source.ts';

export interface Window extends Pick<ViewState, 'axis' | 'foldsGaps' | 'x'> {
  readonly y: Range | 'fit';
}

/** The axis that a plot draws. The view keeps true times; the picture may fold them. */
export const plotAxisOf = ({ axis, foldsGaps }: Pick<Window, 'axis' | 'foldsGaps'>): PlotAxis =>
  axis === 'time' && foldsGaps ? 'folded' : axis;

/** Converts an event or a true time to its place on a plot's axis. */
export const toPlotX = ({ folds }: Pick<DeviceInfo, 'folds'>, axis: PlotAxis, x: number): number =>
  axis === 'folded' ? foldTime(folds, x) : x;

/** Converts a place on a plot's axis to the event or the true time there. */
export const fromPlotX = (
  { folds }: Pick<DeviceInfo, 'folds'>,
  axis: PlotAxis,
  x: number,
): number => (axis === 'folded' ? unfoldTime(folds, x) : x);

/** The end of a device's x axis: after its last event. */
export function endOf(device: DeviceInfo, axis: PlotAxis): number {
  return axisExtent(axis, device.events, toPlotX(device, axis, device.durationUs));
}

/** The limits of panning and zooming: the end of the trace, and the top of the plot. */
export function extentOf(device: DeviceInfo, axis: PlotAxis, heights: PlotHeights): Extent {
  return { x: endOf(device, axis), y: heights.reachBytes };
}

export function viewportOf(
  window: Window,
  device: DeviceInfo,
  heights: PlotHeights,
  size: Pick<Viewport, 'width' | 'height'>,
): Viewport {
  const { x, y } = window;
  const axis = plotAxisOf(window);
  const extent = extentOf(device, axis, heights);
  const fitted = { x: extent.x, y: heights.fittedBytes };
  const whole = fitViewport(axis, fitted, size.width, size.height);
  const toX = (value: number) => toPlotX(device, axis, value);
  const withX = x === 'all' ? whole : { ...whole, x0: toX(x.from), x1: toX(x.to) };
  const withY = y === 'fit' ? withX : { ...withX, y0: y.from, y1: y.to };
  return snapToColumns(clampViewport(withY, extent), extent);
}

/** A viewport's x as the view keeps it, in true time. 'all' stays 'all' when the canvas is resized. */
export function rangeX(
  { axis, x0, x1 }: Viewport,
  extent: Extent,
  device: Pick<DeviceInfo, 'folds'>,
): Range | 'all' {
  if (x0 <= 0 && x1 >= extent.x) return 'all';
  return { from: fromPlotX(device, axis, x0), to: fromPlotX(device, axis, x1) };
}
