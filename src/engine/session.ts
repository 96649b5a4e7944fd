/**
 * The session: holds one open snapshot and answers questions about it. Knows no worker and no DOM;
 * the worker serves it over a port, tests call it in Node.
 */
import { LoadError } from '../core/base/load-error.ts';
import type { ByteSource, Platform } from '../core/input/types.ts';
import { allocationDetails } from '../core/query/allocation-details.ts';
import { annotationSpans } from '../core/query/annotations.ts';
import { crosshairAt } from '../core/query/crosshair.ts';
import { eventAtTime } from '../core/query/event-times.ts';
import { describeHit } from '../core/query/hit.ts';
import { findAllocation } from '../core/query/labels.ts';
import type {
  AllocationDetails,
  AnnotationSpan,
  Crosshair,
  HitResult,
  SessionInfo,
} from '../core/query/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import { counterOverview } from '../core/timeline/column-extremes.ts';
import { stackHits } from '../core/timeline/stack-hits.ts';
import type { TimelineFrame } from '../core/timeline/types.ts';
import { abortError } from './abort.ts';
import { FrameQueue } from './frame-queue.ts';
import type { OpenDevice } from './open-device.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';
import type { PaceClock } from './pace.ts';
import type {
  CallOptions,
  FrameRequest,
  HitRequest,
  MinimapRequest,
  MinimapResult,
  OpenOptions,
  OpenProgress,
  OpenSource,
  SessionApi,
} from './protocol.ts';

export interface SessionHost {
  readonly platform: Platform;
  readonly clock: PaceClock;
  /** Rejects with LoadError; stops reading when `signal` is aborted. */
  readonly sourceOf: (source: OpenSource, signal: AbortSignal) => Promise<ByteSource>;
}

/** One frame is on screen, one is being drawn, one is on its way back. */
const MAX_SPARE_BUFFERS = 2;

export class Session implements SessionApi {
  readonly #host: SessionHost;
  readonly #frames: FrameQueue<TimelineFrame>;
  #current: OpenSnapshot | undefined;
  #opening: AbortController | undefined;
  /** Pixels that came back from the page, newest first. */
  #spares: Uint32Array[] = [];

  constructor(host: SessionHost) {
    this.#host = host;
    this.#frames = new FrameQueue(host.clock);
  }

  async open(
    source: OpenSource,
    options: OpenOptions,
    call: CallOptions<OpenProgress> = {},
  ): Promise<SessionInfo> {
    this.#opening?.abort(abortError('Another file was opened'));
    const own = new AbortController();
    this.#opening = own;
    const signal = call.signal ? AbortSignal.any([call.signal, own.signal]) : own.signal;
    const opened = await openSnapshot({
      source: await this.#host.sourceOf(source, signal),
      platform: this.#host.platform,
      clock: this.#host.clock,
      options,
      signal,
      onProgress: (progress) => call.onProgress?.(progress),
    });
    this.#current = opened;
    return opened.info;
  }

  async frame(request: FrameRequest, call: CallOptions = {}): Promise<TimelineFrame> {
    const device = this.#device(request.device);
    const { width, height } = request.viewport;
    let out: Uint32Array | undefined;
    const create = () => {
      out = this.#takeSpare(width * height);
      return device.begin(request, out);
    };
    try {
      return await this.#frames.request(create, call.signal);
    } catch (error) {
      if (out !== undefined) this.#keepSpare(out);
      throw error;
    }
  }

  async minimap({ device, axis, width }: MinimapRequest): Promise<MinimapResult> {
    const { index } = this.#device(device);
    return {
      activeBytes: counterOverview(index, 'activeBytes', axis, width),
      reservedBytes: counterOverview(index, 'reservedBytes', axis, width),
    };
  }

  async hit(request: HitRequest): Promise<HitResult | undefined> {
    const { index, context } = this.#device(request.device);
    const { state, bytesFrom, bytesTo } = request;
    return describeHit(context, state, stackHits(index, state, bytesFrom, bytesTo));
  }

  async crosshair(request: { device: number; event: EventIndex }): Promise<Crosshair> {
    return crosshairAt(this.#device(request.device).context, request.event);
  }

  async eventAt(request: { device: number; timeUs: number }): Promise<EventIndex> {
    return eventAtTime(this.#device(request.device).context.trace.events, request.timeUs);
  }

  async allocation(request: { device: number; index: number }): Promise<AllocationDetails> {
    return allocationDetails(this.#device(request.device).context, request.index);
  }

  async findAllocation(request: { device: number; label: string }): Promise<number | undefined> {
    const { replay, snapshot } = this.#device(request.device).context;
    return findAllocation(replay.allocations, snapshot.addresses, request.label);
  }

  async annotations(request: { device: number }): Promise<readonly AnnotationSpan[]> {
    return annotationSpans(this.#device(request.device).context);
  }

  async recycle({ pixels }: { pixels: Uint32Array }): Promise<void> {
    this.#keepSpare(pixels);
  }

  #device(position: number): OpenDevice {
    if (this.#current === undefined) {
      throw new LoadError({ code: 'nothing-open', message: 'No snapshot is open.' });
    }
    const found = this.#current.devices[position];
    if (found !== undefined) return found;
    throw new LoadError({
      code: 'no-such-device',
      message: `This snapshot has no device at position ${position}; it has ${this.#current.devices.length}.`,
    });
  }

  #takeSpare(length: number): Uint32Array | undefined {
    const at = this.#spares.findIndex((spare) => spare.length === length);
    return at < 0 ? undefined : this.#spares.splice(at, 1)[0];
  }

  /** The newest are kept: after a resize the old ones fit no frame. */
  #keepSpare(pixels: Uint32Array): void {
    this.#spares = [pixels, ...this.#spares].slice(0, MAX_SPARE_BUFFERS);
  }
}
