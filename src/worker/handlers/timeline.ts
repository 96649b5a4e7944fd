/** The timeline: overviews, hit tests, the event at a time, and what its colors mean. Frames are in session.ts. */

import { classText, knownClasses } from '../../device/classes/classify.ts';
import { describeHit, type HitResult } from '../../device/model/allocation-details.ts';
import { annotationTracks } from '../../device/model/annotations.ts';
import { cardHistory } from '../../device/model/card.ts';
import { type Crosshair, crosshairAt, eventAtTime } from '../../device/model/events.ts';
import { unavailableReason } from '../../draw/coloring/colorings.ts';
import { type LegendPlace, legendAt, legendEvent } from '../../draw/coloring/legend.ts';
import { counterOverview } from '../../draw/timeline/columns.ts';
import { COLORINGS, type ColorBy, type PlotAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { MatchingRequest } from '../open-device.ts';
import { type AtEvent, type DeviceRequest, queryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';

/** A pixel: the state of its column, and the bytes from the plot's bottom to its lower and its upper edge. */
export interface PixelRequest {
  readonly state: EventIndex;
  readonly bytesFrom: number;
  readonly bytesTo: number;
}

export interface HitRequest extends DeviceRequest, MatchingRequest, PixelRequest {}

/** Everything a hover shows about a pixel: what lies there, and the counters at its state. */
export interface PixelInfo<Hit> {
  readonly hit: Hit | undefined;
  readonly crosshair: Crosshair;
}

export interface LegendRequest extends LegendPlace {
  readonly colorBy: ColorBy;
  /** Number of colors in the palette, as in a frame. */
  readonly classes: number;
}

export const timelineHandlers = queryHandlers({
  /** The highest value in each of `width` columns over the whole trace. */
  minimap({ index }, { axis, width }: { readonly axis: PlotAxis; readonly width: number }) {
    const activeBytes = counterOverview(index, 'activeBytes', axis, width);
    const reservedBytes = counterOverview(index, 'reservedBytes', axis, width);
    return transferring({ activeBytes, reservedBytes });
  },
  async hit(device, request: HitRequest): Promise<PixelInfo<HitResult>> {
    const { context } = device;
    const { state, bytesFrom, bytesTo } = request;
    const renderer = await device.rendererOf(request);
    const matching = await device.matchingOf(request);
    const hits = renderer.hits(matching, state, bytesFrom, bytesTo);
    const hit = describeHit(context, state, hits);
    const known = knownClasses(context);
    const what = hit && known && classText(known, hit.allocation);
    return { hit: hit && { ...hit, what }, crosshair: crosshairAt(context, state) };
  },
  /** Height of the drawn stack after an event. */
  async stackBytes(device, request: MatchingRequest & { readonly state: EventIndex }) {
    const stacked = device.timeline.indexOf(await device.matchingOf(request));
    return stacked.counter('activeBytes').highest(request.state, request.state);
  },
  crosshair: ({ context }, { event }: AtEvent) => crosshairAt(context, event),
  /** The event whose state holds at `timeUs` (since the first event). */
  eventAt: ({ context }, { timeUs }: { readonly timeUs: number }) =>
    eventAtTime(context.trace.events, timeUs),
  annotations: ({ context }) => transferring(annotationTracks(context.annotations())),
  /** The whole card, as sampled; undefined without a ledger. */
  card: ({ context }) => cardHistory(context),
  /** What the colors mean, and how much of each there is. */
  async legend(device, { colorBy, classes, ...place }: LegendRequest) {
    const { context, index } = device;
    const coloring = await device.coloring(colorBy, classes);
    return legendAt(context, index, colorBy, coloring, legendEvent(context, index, place));
  },
  /** `reason`: why a coloring distinguishes nothing on this device; undefined if it does. */
  colorings: ({ context }) =>
    COLORINGS.map((colorBy) => ({ colorBy, reason: unavailableReason(context, colorBy) })),
});
