/**
 * What the page and the session worker say to each other. Plain data only: everything here survives structured clone,
 * big arrays are transferred. What state and ui know of the workers stands here and in the clients.
 */
import type { SessionInfo } from '../device/model/device-info.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { DeviceQueries } from './answers.ts';
import type { PartialFrameRequest, PartialState } from './partial/partial-replay.ts';
import type { AskQuery, CallOptions, DeviceRequest, Query } from './queries.ts';
import type { Method } from './rpc.ts';
import type { FrameRequest } from './timeline-renderer.ts';

export type { AnalysisQueries, FindingsProgress } from './analysis/serve-analysis.ts';
export type * from './analysis/what-if-handler.ts';
export type { DeviceQueries } from './answers.ts';
export type * from './handlers/address-map.ts';
export type * from './handlers/allocation-list.ts';
export type * from './handlers/allocator-state.ts';
export type * from './handlers/coloring.ts';
export type * from './handlers/compare.ts';
export type * from './handlers/event-list.ts';
export type * from './handlers/flame-graph.ts';
export type * from './handlers/memory-summary.ts';
export type * from './handlers/raster.ts';
export type * from './handlers/search.ts';
export type { PartialState } from './partial/partial-replay.ts';
export type * from './queries.ts';
export type { FrameRequest, MatchingRequest } from './timeline-renderer.ts';

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
  /** What can be drawn of it already, see {@link SessionApi.partialFrame}; undefined while that is nothing. */
  readonly partial?: PartialState | undefined;
}

/** The newest wins: a frame that waits when a newer one is asked for rejects with an AbortError. */
export interface FrameQueries {
  readonly frame: Query<FrameRequest, TimelineFrame>;
}

export interface SessionQueries extends DeviceQueries, FrameQueries {}

export interface SessionApi {
  /** Rejects with LoadError (src/base/load-error.ts) or AbortError. */
  open(
    source: WireSource,
    options: OpenOptions,
    call?: CallOptions<OpenProgress>,
  ): Promise<SessionInfo>;
  readonly query: AskQuery<SessionQueries>;
  /** All of a file that is being read, or was read up to a fault, as far as it is there. */
  partialFrame(request: PartialFrameRequest): Promise<TimelineFrame>;
  /**
   * Returns the pixels of a frame that is on screen, so that the next frame need not allocate.
   * The array is transferred: it has length 0 afterwards. Optional; never rejects.
   */
  recycle(request: RecycleRequest): Promise<undefined>;
  /**
   * Serves copies of the open file's devices on a port, which is transferred (analysis/clone-device.ts). Stays pending
   * while the file is open: rejects when it is not any more.
   */
  attachAnalysis(request: { readonly port: MessagePort }): Promise<never>;
}

export interface RecycleRequest extends DeviceRequest {
  readonly pixels: Uint32Array;
}

/** What goes over the wire for each method of {@link SessionApi}: one request, one result. */
export interface SessionMethods extends SessionQueries {
  readonly open: Method<
    { readonly source: WireSource; readonly options: OpenOptions },
    SessionInfo,
    OpenProgress
  >;
  readonly partialFrame: Method<PartialFrameRequest, TimelineFrame>;
  readonly recycle: Method<RecycleRequest, undefined>;
  readonly attachAnalysis: Method<{ readonly port: MessagePort }, never>;
}
