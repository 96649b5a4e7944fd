/** Between what the URL says (ranges, 'all', 'fit') and the viewport of a canvas. */
import type { DeviceInfo } from '../../core/device/types.ts';
import type { TimeAxis, Viewport } from '../../core/raster/types.ts';
import {
  axisExtent,
  clampViewport,
  type Extent,
  fitViewport,
  snapToColumns,
} from '../../core/raster/viewport.ts';
import type { Range } from '../../state/view-store.ts';
import type { PlotHeights } from './plot-source.ts';

/** Of a canvas, in device pixels. */
export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** The part of the view that decides what is shown. */
export interface Window {
  readonly axis: TimeAxis;
  readonly x: Range | 'all';
  readonly y: Range | 'fit';
}

/** Where the x axis of a device ends: after its last event. */
export function endOf(device: DeviceInfo, axis: TimeAxis): number {
  return axisExtent(axis, device.events, device.durationUs);
}

/** How far one can go: x to the end of the trace, y as high as the plot reaches. */
export function extentOf(device: DeviceInfo, axis: TimeAxis, heights: PlotHeights): Extent {
  return { x: endOf(device, axis), y: heights.reachBytes };
}

export function viewportOf(
  window: Window,
  device: DeviceInfo,
  heights: PlotHeights,
  size: PlotSize,
): Viewport {
  const { axis, x, y } = window;
  const extent = extentOf(device, axis, heights);
  const fitted = { x: extent.x, y: heights.fittedBytes };
  const whole = fitViewport(axis, fitted, size.width, size.height);
  const withX = x === 'all' ? whole : { ...whole, x0: x.from, x1: x.to };
  const withY = y === 'fit' ? withX : { ...withX, y0: y.from, y1: y.to };
  return snapToColumns(clampViewport(withY, extent), extent);
}

/** The x of a viewport as it is kept: 'all' stays true when the canvas is resized. */
export function rangeX(viewport: Viewport, extent: Extent): Range | 'all' {
  const isWhole = viewport.x0 <= 0 && viewport.x1 >= extent.x;
  return isWhole ? 'all' : { from: viewport.x0, to: viewport.x1 };
}

export function rangeY({ y0, y1 }: Viewport): Range {
  return { from: y0, to: y1 };
}
