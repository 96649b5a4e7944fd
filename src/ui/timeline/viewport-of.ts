/** Between what the URL says (ranges, 'all', 'fit') and the viewport of a canvas. */
import type { DeviceInfo } from '../../core/query/types.ts';
import type { CounterName } from '../../core/replay/types.ts';
import type { TimeAxis, Viewport } from '../../core/timeline/types.ts';
import {
  axisExtent,
  clampViewport,
  type Extent,
  fitViewport,
  snapToColumns,
} from '../../core/timeline/viewport.ts';
import type { Range, ViewState } from '../../state/view-store.ts';

/** Of a canvas, in device pixels. */
export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

export type Window = Pick<ViewState, 'axis' | 'x' | 'y' | 'lines'>;

/** How far one can go: x to the end of the trace, y to the highest of all counters. */
export function extentOf(device: DeviceInfo, axis: TimeAxis): Extent {
  return {
    x: axisExtent(axis, device.events, device.durationUs),
    y: Math.max(device.peaks.activeBytes.bytes, device.peaks.reservedBytes.bytes),
  };
}

/** The highest that is drawn: the stack, and those lines that are switched on. */
function fittedY(device: DeviceInfo, lines: readonly CounterName[]): number {
  return Math.max(device.peaks.activeBytes.bytes, ...lines.map((line) => device.peaks[line].bytes));
}

export function viewportOf(window: Window, device: DeviceInfo, size: PlotSize): Viewport {
  const { axis, x, y, lines } = window;
  const extent = extentOf(device, axis);
  const fitted = { x: extent.x, y: fittedY(device, lines) };
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
