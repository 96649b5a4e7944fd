/** The timeline's queries: overviews, hit tests, and the event at a time. Frames are in session.ts. */

import { classText, knownClasses } from '../../device/classes/classify.ts';
import { describeHit, type HitResult } from '../../device/model/allocation-details.ts';
import { type AnnotationTracks, annotationTracks } from '../../device/model/annotations.ts';
import { type Crosshair, crosshairAt, eventAtTime } from '../../device/model/events.ts';
import { counterOverview } from '../../draw/timeline/columns.ts';
import type { PlotAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceRequest, Query, QueryHandlers } from '../queries.ts';
import { transferring } from '../rpc.ts';
import type { MatchingRequest } from '../timeline-renderer.ts';

export interface HitRequest extends DeviceRequest, MatchingRequest {
  /** State under the pointer: TimelineFrame.states of that column. */
  readonly state: EventIndex;
  /** Bytes from the bottom of the stack to the pixel's lower edge; `bytesTo` is to its upper edge. */
  readonly bytesFrom: number;
  readonly bytesTo: number;
}

/** Everything a hover shows about a pixel: what lies there, and the counters at its state. */
export interface PixelInfo<Hit> {
  readonly hit: Hit | undefined;
  readonly crosshair: Crosshair;
}

export interface MinimapRequest {
  readonly axis: PlotAxis;
  readonly width: number;
}

export interface MinimapResult {
  /** Highest value in each of `width` columns over the whole trace. */
  readonly activeBytes: Float64Array;
  readonly reservedBytes: Float64Array;
}

export interface RasterQueries {
  readonly minimap: Query<MinimapRequest, MinimapResult>;
  readonly hit: Query<HitRequest, PixelInfo<HitResult>>;
  /** Height of the drawn stack after an event. */
  readonly stackBytes: Query<MatchingRequest & { readonly state: EventIndex }, number>;
  readonly crosshair: Query<{ readonly event: EventIndex }, Crosshair>;
  /** The event whose state holds at `timeUs` (since the first event). */
  readonly eventAt: Query<{ readonly timeUs: number }, EventIndex>;
  readonly annotations: Query<object, AnnotationTracks>;
}

export const rasterHandlers: QueryHandlers<RasterQueries> = {
  minimap({ index }, { axis, width }) {
    const activeBytes = counterOverview(index, 'activeBytes', axis, width);
    const reservedBytes = counterOverview(index, 'reservedBytes', axis, width);
    return transferring({ activeBytes, reservedBytes });
  },
  async hit({ timeline, context }, request) {
    const { state, bytesFrom, bytesTo } = request;
    const hits = await timeline.hits(request, state, bytesFrom, bytesTo);
    const hit = describeHit(context, state, hits);
    const known = knownClasses(context);
    const what = hit && known && classText(known, hit.allocation);
    return { hit: hit && { ...hit, what }, crosshair: crosshairAt(context, state) };
  },
  stackBytes: ({ timeline }, request) => timeline.bytesAt(request, request.state),
  crosshair: ({ context }, { event }) => crosshairAt(context, event),
  eventAt: ({ context }, { timeUs }) => eventAtTime(context.trace.events, timeUs),
  annotations: ({ context }) => transferring(annotationTracks(context.annotations())),
};
