/**
 * The session: holds one open snapshot and answers questions about it. Knows no worker and no DOM;
 * the worker serves it over a port, tests call it in Node.
 */
import { LoadError } from '../core/base/load-error.ts';
import type { SessionInfo } from '../core/device/types.ts';
import type { ByteSource, Platform } from '../core/input/types.ts';
import type { TimelineFrame } from '../core/raster/types.ts';
import { loadRegexEngine, mayHoldRegex } from '../core/search/regex-engine.ts';
import { abortError } from './abort.ts';
import type { CooperativeClock } from './cooperative-reader.ts';
import { createRpcProxy } from './create-rpc-proxy.ts';
import { FrameQueue } from './frame-queue.ts';
import type { FrameRequest } from './frame-request.ts';
import type { DeviceQueries } from './handlers.ts';
import type { OpenDevice } from './open-device.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';
import type {
  OpenOptions,
  OpenProgress,
  OpenSource,
  RecycleRequest,
  SessionApi,
} from './protocol.ts';
import type { CallOptions, QueryHandlers } from './queries.ts';
import { transferring } from './transfer.ts';

export interface SessionHost {
  readonly platform: Platform;
  readonly clock: CooperativeClock;
  /** Rejects with LoadError; stops reading when `signal` is aborted. */
  readonly sourceOf: (source: OpenSource, signal: AbortSignal) => Promise<ByteSource>;
}

const NEVER_ABORTED = new AbortController().signal;

/** A session and all that it can be asked. */
export function createSession(host: SessionHost): SessionApi {
  const session = new Session(host);
  const own: OwnMethods = {
    open: (source, options, call) => session.open(source, options, call),
    frame: (request, call) => session.frame(request, call),
    recycle: (request) => session.recycle(request),
    attachAnalysis: (request) => session.attachAnalysis(request),
  };
  const ask = (name: keyof DeviceQueries) => (request: never, call: CallOptions<unknown>) =>
    session.ask(name, request, call);
  return createRpcProxy<SessionApi>(own, (name) => ask(name as keyof DeviceQueries));
}

type OwnMethods = Omit<SessionApi, keyof DeviceQueries>;

/**
 * Half of the worker's code answers questions that nobody can ask before a file is open: it is
 * fetched while the first one is read.
 */
const loadAnswers = () => import('./handlers.ts');

/** Whatever is asked with a search is matched at once: what that needs must be there. */
async function prepareSearch(request: object): Promise<void> {
  const texts = 'choice' in request ? [request, request.choice] : [request];
  const holdsRegex = texts.some(
    (part) =>
      typeof part === 'object' &&
      part !== null &&
      'search' in part &&
      typeof part.search === 'string' &&
      mayHoldRegex(part.search),
  );
  if (holdsRegex) await loadRegexEngine();
}

class Session {
  readonly #host: SessionHost;
  readonly #frames: FrameQueue<TimelineFrame>;
  #current: OpenSnapshot | undefined;
  #opening: AbortController | undefined;

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
    // What it fails with, the first question fails with, too.
    loadAnswers().catch(() => undefined);
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
    const device = this.#device(request.deviceIndex);
    await prepareSearch(request);
    const begin = (out: Uint32Array | undefined) => device.stacks.begin(request, out);
    const frame = await device.spares.draw(this.#frames, request.viewport, begin, call.signal);
    return transferring(frame, [frame.pixels, frame.states, ...Object.values(frame.lines)]);
  }

  /** The answer to a question about a device (answers/). */
  async ask<K extends keyof DeviceQueries>(
    name: K,
    request: DeviceQueries[K]['request'],
    call: CallOptions<DeviceQueries[K]['progress']> = {},
  ): Promise<DeviceQueries[K]['result']> {
    const { signal = NEVER_ABORTED, onProgress = () => undefined } = call;
    const { HANDLERS } = await loadAnswers();
    const answer: QueryHandlers<DeviceQueries>[K] | undefined = HANDLERS[name];
    if (answer === undefined) throw new Error(`No question ${name}`);
    await prepareSearch(request);
    return answer(this.#device(request.deviceIndex), request, { signal, onProgress });
  }

  async recycle({ deviceIndex, pixels }: RecycleRequest): Promise<undefined> {
    this.#current?.devices[deviceIndex]?.spares.keep(pixels);
    return undefined;
  }

  async attachAnalysis({ port }: { port: MessagePort }): Promise<undefined> {
    const { serveDeviceCopies } = await import('./analysis/serve-device-copies.ts');
    serveDeviceCopies(port, (position) => this.#device(position).context, this.#host.clock);
    return undefined;
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
}
