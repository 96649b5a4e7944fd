/**
 * The messages between the page and the session worker. Plain data only: everything survives structured clone, and
 * big arrays are transferred. State and ui know the workers only through this file and the clients.
 */
import type { SessionInfo } from '../device/model/device-info.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { Beside } from '../format/snapshot/from-value.ts';
import type { HANDLERS } from './answers.ts';
import type { FrameRequest } from './open-device.ts';
import type { PartialFrameRequest, PartialState } from './partial/partial-replay.ts';
import type { QueriesOf } from './queries.ts';
import type { Call, Calls, Method } from './rpc.ts';

export type { Beside } from '../format/snapshot/from-value.ts';
export type { AnalysisQueries, FindingsProgress } from './analysis/serve-analysis.ts';
export type * from './handlers/address-map.ts';
export type * from './handlers/allocation-list.ts';
export type * from './handlers/allocator-state.ts';
export type * from './handlers/compare.ts';
export type * from './handlers/device.ts';
export type * from './handlers/event-list.ts';
export type * from './handlers/flame-graph.ts';
export type * from './handlers/timeline.ts';
export type { FrameRequest, MatchingRequest } from './open-device.ts';
export type { PartialState } from './partial/partial-replay.ts';
export type * from './queries.ts';
export type { Call, CallOptions } from './rpc.ts';

/** Where the bytes come from. CORS must allow the URL. */
export type OpenSource =
  | {
      readonly kind: 'blob';
      readonly blob: Blob;
      readonly name: string;
      /** NAME.holders.json and such, which were given with it. */
      readonly beside?: Beside<Blob> | undefined;
    }
  | { readonly kind: 'url'; readonly url: string };

/** What the worker reads, including a file that the page reads for it (page-blob.ts). */
export type WireSource =
  | OpenSource
  | (Pick<Blob, 'size' | 'type'> & {
      readonly kind: 'page';
      readonly port: MessagePort;
      readonly name: string;
    });

export interface OpenOptions {
  /** Open the complete events before the damage and mark the snapshot as partial. */
  readonly allowPartial?: boolean;
}

export interface OpenRequest extends OpenOptions {
  readonly source: WireSource;
  /** The texts of NAME.holders.json and such: the client reads them. */
  readonly beside?: Beside<string> | undefined;
}

export interface OpenProgress {
  readonly phase: 'reading' | 'replaying' | 'indexing';
  /** Bytes of the file read so far, and in total (undefined if the server does not say). */
  readonly readBytes: number;
  readonly totalBytes: number | undefined;
  readonly events: number;
  /** What can already be drawn, see {@link SessionMethods.partialFrame}; undefined if nothing can. */
  readonly partial?: PartialState | undefined;
}

export interface DeviceQueries extends QueriesOf<typeof HANDLERS> {}

export interface SessionQueries extends DeviceQueries {
  /** The newest wins: a waiting frame rejects with an AbortError when a newer one is requested. */
  readonly frame: Method<FrameRequest, TimelineFrame>;
}

export interface OpeningMethods {
  /** Rejects with LoadError (src/base/load-error.ts) or AbortError. */
  readonly open: Method<OpenRequest, SessionInfo, OpenProgress>;
  /** The available part of a file that is being read, or whose reading failed partway. */
  readonly partialFrame: Method<PartialFrameRequest, TimelineFrame>;
  /**
   * Returns a frame's pixels when they are on screen, so that the next frame need not allocate. The array is
   * transferred and has length 0 afterwards. Optional; never rejects.
   */
  readonly recycle: Method<{ readonly pixels: Uint32Array }, undefined>;
  /**
   * Serves copies of the open file's devices on a port, which is transferred (analysis/device-copy.ts). Stays
   * pending while the file is open, then rejects.
   */
  readonly attachAnalysis: Method<{ readonly port: MessagePort }, never>;
}

export interface SessionMethods extends SessionQueries, OpeningMethods {}

/** Counts each pending query as work. */
export interface Idle {
  during<T>(work: () => Promise<T>): Promise<T>;
}

export type SessionApi = Calls<OpeningMethods> & { readonly query: Call<SessionQueries> };
