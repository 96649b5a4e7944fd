/** OOMs and snapshots as marks on the x axis, found by where they are. */
import { lowerBound } from '../../base/binary-search.ts';
import type { DeviceInfo } from '../../device/model/types.ts';
import type { PlotAxis } from '../../draw/timeline/types.ts';
import { oomContent, snapshotContent, type TooltipContent } from './tooltip.ts';
import { toPlotX } from './viewport-of.ts';

export interface Marker {
  /** 'retried': an OOM that the program did not see. */
  readonly kind: 'oom' | 'retried' | 'snapshot';
  /** In the middle of its event: events or microseconds. */
  readonly x: number;
  readonly content: TooltipContent;
}

/** Ordered by x. */
export interface Markers {
  readonly items: readonly Marker[];
  readonly xs: Float64Array;
}

export const NO_MARKERS: Markers = { items: [], xs: new Float64Array(0) };

/** @param snapshotTimesUs of device.snapshots; only for the axes by time */
export function markersOf(
  device: DeviceInfo,
  axis: PlotAxis,
  snapshotTimesUs: readonly number[],
): Markers {
  const ooms = device.ooms.map((oom): Marker => {
    return {
      kind: oom.wasRetried ? 'retried' : 'oom',
      x: axis === 'event' ? oom.event + 0.5 : toPlotX(device, axis, oom.timeUs),
      content: oomContent(oom),
    };
  });
  const snapshots = device.snapshots.map((event, index): Marker => {
    const timeUs = snapshotTimesUs[index] ?? Number.NaN;
    const x = axis === 'event' ? event + 0.5 : toPlotX(device, axis, timeUs);
    return { kind: 'snapshot', x, content: snapshotContent(event) };
  });
  const items = [...ooms, ...snapshots].filter(({ x }) => !Number.isNaN(x));
  items.sort((a, b) => a.x - b.x);
  return { items, xs: Float64Array.from(items, ({ x }) => x) };
}

/** Those in view, at most one a CSS pixel and kind: more would be drawn over each other. */
export function markersInView(
  { items, xs }: Markers,
  x0: number,
  x1: number,
  width: number,
): readonly Marker[] {
  const perPixel = (x1 - x0) / width;
  const found: Marker[] = [];
  let at = lowerBound(xs, x0);
  while (at < items.length && (xs[at] ?? x1) < x1) {
    const marker = items[at];
    if (marker === undefined) break;
    found.push(marker);
    const next = items[at + 1];
    const isOther = next !== undefined && next.kind !== marker.kind;
    at = isOther ? at + 1 : Math.max(at + 1, lowerBound(xs, marker.x + perPixel, at));
  }
  return found;
}
