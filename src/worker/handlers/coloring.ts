/** What the colors of allocations mean, and how much of each there is. */

import { unavailableReason } from '../../draw/coloring/colorings.ts';
import { type Legend, legendAt, peakInWindow } from '../../draw/coloring/legend.ts';
import { COLORINGS, type ColorBy, type TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import type { DeviceRequest, Query, QueryHandlers } from '../queries.ts';

export interface LegendRequest extends DeviceRequest {
  readonly colorBy: ColorBy;
  /** Number of colors in the palette, as in a frame. */
  readonly classes: number;
  /** The cursor; undefined means the window's peak of active memory. */
  readonly at: EventIndex | undefined;
  readonly axis: TimeAxis;
  readonly x: { readonly from: number; readonly to: number } | 'all';
}

export interface ColoringChoice {
  readonly colorBy: ColorBy;
  /** Why this coloring distinguishes nothing on this device; undefined if it does. */
  readonly reason: string | undefined;
}

export interface ColoringQueries {
  readonly legend: Query<LegendRequest, Legend>;
  readonly colorings: Query<object, readonly ColoringChoice[]>;
}

export const coloringHandlers: QueryHandlers<ColoringQueries> = {
  async legend(device, request) {
    const { colorBy, classes } = request;
    const coloring = await device.coloring(colorBy, classes);
    return legendAt(device.context, device.index, colorBy, coloring, legendEvent(device, request));
  },
  colorings: ({ context }) =>
    COLORINGS.map((colorBy) => ({ colorBy, reason: unavailableReason(context, colorBy) })),
};

function legendEvent({ index, context }: OpenDevice, { at, axis, x }: LegendRequest): EventIndex {
  const last = context.trace.events.length - 1;
  if (at !== undefined) return Math.min(at, last);
  if (x === 'all') return context.replay.peaks.activeBytes.event;
  return peakInWindow(index, axis, x.from, x.to);
}
