/**
 * What the main thread and the session worker say to each other. Plain data only: everything here
 * survives structured clone, big arrays are transferred. `SessionApi` is the whole contract: the
 * worker implements it (session.ts), the page calls it through a proxy (client.ts).
 */
import type {
  AllocationDetails,
  AnnotationSpan,
  Crosshair,
  HitResult,
  SessionInfo,
} from '../core/query/types.ts';
import type { CounterName } from '../core/replay/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import type { ColorBy, Palette, TimelineFrame, Viewport } from '../core/timeline/types.ts';

/** Where the bytes come from. The URL must be one that CORS allows. */
export type OpenSource =
  | { readonly kind: 'blob'; readonly blob: Blob; readonly name: string }
  | { readonly kind: 'url'; readonly url: string };

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
}

export interface FrameRequest {
  readonly device: number;
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted, -1 for none. */
  readonly selected: number;
}

export interface HitRequest {
  readonly device: number;
  /** State under the pointer: TimelineFrame.states of that column. */
  readonly state: EventIndex;
  /** Bytes from the bottom of the stack under the pointer: from the pixel's lower to its upper edge. */
  readonly bytesFrom: number;
  readonly bytesTo: number;
}

export interface MinimapRequest {
  readonly device: number;
  readonly axis: 'event' | 'time';
  readonly width: number;
}

export interface MinimapResult {
  /** Highest value in each of `width` columns over the whole trace. */
  readonly activeBytes: Float64Array;
  readonly reservedBytes: Float64Array;
}

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: P) => void;
}

export interface SessionApi {
  /** Replaces the open snapshot only when it succeeds. Rejects with LoadError (core/base/load-error.ts) or AbortError. */
  open(
    source: OpenSource,
    options: OpenOptions,
    call?: CallOptions<OpenProgress>,
  ): Promise<SessionInfo>;
  /** Newest wins: a frame still waiting when a newer one is asked for rejects with AbortError. */
  frame(request: FrameRequest, call?: CallOptions): Promise<TimelineFrame>;
  minimap(request: MinimapRequest, call?: CallOptions): Promise<MinimapResult>;
  hit(request: HitRequest, call?: CallOptions): Promise<HitResult | undefined>;
  crosshair(request: { device: number; event: EventIndex }, call?: CallOptions): Promise<Crosshair>;
  /** Event whose state holds at `timeUs` (since the first event). */
  eventAt(request: { device: number; timeUs: number }, call?: CallOptions): Promise<EventIndex>;
  allocation(
    request: { device: number; index: number },
    call?: CallOptions,
  ): Promise<AllocationDetails>;
  /** From a label of a URL to the allocation; undefined when this snapshot has none such. */
  findAllocation(
    request: { device: number; label: string },
    call?: CallOptions,
  ): Promise<number | undefined>;
  annotations(request: { device: number }, call?: CallOptions): Promise<readonly AnnotationSpan[]>;
  /**
   * Gives the pixels of a frame that is on screen back, so that the next frame need not allocate.
   * The array is transferred: it has length 0 afterwards. Optional; never rejects.
   */
  recycle(request: { pixels: Uint32Array }): Promise<void>;
}

/** What goes over the wire for each method of {@link SessionApi}: one request, one result. */
export type SessionMethods = {
  readonly [K in Exclude<keyof SessionApi, 'open'>]: WireMethod<SessionApi[K]>;
} & {
  readonly open: {
    readonly request: { readonly source: OpenSource; readonly options: OpenOptions };
    readonly progress: OpenProgress;
    readonly result: SessionInfo;
  };
};

type WireMethod<F> = F extends (request: infer Q, call?: CallOptions) => Promise<infer R>
  ? { readonly request: Q; readonly progress: never; readonly result: R }
  : never;
