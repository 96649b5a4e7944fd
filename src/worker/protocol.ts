/**
 * The messages between the page and the session worker. Plain data only: everything here survives
 * structured clone, big arrays are transferred. `SessionApi` is the whole contract: its own methods are
 * in session.ts, the queries about a device in handlers/; the page calls it through a proxy (client.ts).
 */

import type { HitResult } from '../device/model/allocation-details.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { Crosshair } from '../device/model/events.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import type { HitRequest, PixelInfo } from './handlers/raster.ts';
import type { DeviceQueries } from './handlers.ts';
import type { GrowthInfo } from './live/growing-file.ts';
import type { CallOptions, DeviceRequest, Query, QueryClient } from './queries.ts';
import type { Method } from './rpc.ts';
import type { FrameRequest } from './timeline-renderer.ts';

/** Where the bytes come from. The URL must be one that CORS allows. */
export type OpenSource =
  | { readonly kind: 'blob'; readonly blob: Blob; readonly name: string }
  | { readonly kind: 'url'; readonly url: string };

/** What the worker reads: also a file that the page reads for it (page-blob.ts). */
export type WireSource =
  | OpenSource
  | (Pick<Blob, 'size' | 'type'> & {
      readonly kind: 'page';
      readonly port: MessagePort;
      readonly name: string;
    });

export interface OpenOptions {
  /** Open the whole events before a fault and mark the snapshot as partial. */
  readonly allowPartial?: boolean;
}

export type OpenPhase = 'reading' | 'replaying' | 'indexing';

export interface OpenProgress {
  readonly phase: OpenPhase;
  /** Bytes of the file read so far, and in all (undefined where the server does not say). */
  readonly readBytes: number;
  readonly totalBytes: number | undefined;
  readonly events: number;
  /** What can be seen of it already, by the queries of {@link GrowingQueries}; undefined while that is nothing. */
  readonly growth?: GrowthInfo | undefined;
}

/**
 * About the file that is being read, or was read up to a fault. `deviceIndex` is a trace's, see GrowthInfo.
 * They reject with an AbortError when it is not read any more.
 */
export interface GrowingQueries {
  /** Newest wins. All allocations, by stack; lines only where the recording is exact. */
  readonly growingFrame: Query<FrameRequest, TimelineFrame>;
  readonly growingHit: Query<HitRequest, PixelInfo<HitResult>>;
  readonly growingCrosshair: Query<{ readonly event: EventIndex }, Crosshair>;
}

/** Newest wins: a frame still waiting when a newer one is asked for rejects with AbortError. */
export interface FrameQueries {
  readonly frame: Query<FrameRequest, TimelineFrame>;
}

export interface SessionApi
  extends QueryClient<DeviceQueries>,
    QueryClient<FrameQueries>,
    QueryClient<GrowingQueries> {
  /** Replaces the open snapshot only when it succeeds. Rejects with LoadError (src/base/load-error.ts) or AbortError. */
  open(
    source: WireSource,
    options: OpenOptions,
    call?: CallOptions<OpenProgress>,
  ): Promise<SessionInfo>;
  /**
   * Returns the pixels of a frame that is on screen, so that the next frame need not allocate.
   * The array is transferred: it has length 0 afterwards. Optional; never rejects.
   */
  recycle(request: RecycleRequest): Promise<undefined>;
  /** Serves copies of the open snapshot's devices on a port (analysis/protocol.ts), which is transferred. */
  attachAnalysis(request: { readonly port: MessagePort }): Promise<undefined>;
}

export interface RecycleRequest extends DeviceRequest {
  readonly pixels: Uint32Array;
}

/** What goes over the wire for each method of {@link SessionApi}: one request, one result. */
export interface SessionMethods extends DeviceQueries, FrameQueries, GrowingQueries {
  readonly open: Method<
    { readonly source: WireSource; readonly options: OpenOptions },
    SessionInfo,
    OpenProgress
  >;
  readonly recycle: Method<RecycleRequest, undefined>;
  readonly attachAnalysis: Method<{ readonly port: MessagePort }, undefined>;
}
