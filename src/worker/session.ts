/**
 * The session: holds one open snapshot and answers queries about it. Knows no worker and no DOM;
 * the worker serves it over a port, tests call it in Node.
 */
import { abortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import type { Clock } from '../base/task.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { loadSearchMatching } from '../device/search/lazy-matching.ts';
import { loadRegexEngine, mayHoldRegex } from '../device/search/regex.ts';
import { loadColorings, needsColorings } from '../draw/coloring/lazy-colorings.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { ByteSource, Platform } from '../format/input/types.ts';
import { FrameQueue } from './frame-queue.ts';
import type { DeviceQueries } from './handlers.ts';
import type { GrowingFile } from './live/growing-file.ts';
import { Growth } from './live/growth.ts';
import type { Replayer } from './live/replayer.ts';
import type { OpenDevice } from './open-device.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';
import type {
  OpenOptions,
  OpenProgress,
  RecycleRequest,
  SessionApi,
  SessionMethods,
  WireSource,
} from './protocol.ts';
import type { CallOptions, QueryHandlers } from './queries.ts';
import { createRpcProxy, type Handlers, serve, transferring } from './rpc.ts';
import { type FrameRequest, loadBandRenderer } from './timeline-renderer.ts';

export interface SessionHost {
  readonly platform: Platform;
  readonly clock: Clock;
  /** Rejects with LoadError; stops reading when `signal` is aborted. */
  readonly sourceOf: (source: WireSource, signal: AbortSignal) => Promise<ByteSource>;
  /** Where a file is replayed while it is read. */
  readonly startReplayer: () => Promise<Replayer>;
}

const NEVER_ABORTED = new AbortController().signal;

/** A session with all of its queries. */
export function createSession(host: SessionHost): SessionApi {
  const session = new Session(host);
  const own: SessionOwnMethods = {
    open: (source, options, call) => session.open(source, options, call),
    frame: (request, call) => session.frame(request, call),
    growingFrame: async (request) => transferring(await session.growing().frame(request)),
    growingHit: async (request) => session.growing().hit(request),
    growingCrosshair: async ({ deviceIndex, event }) =>
      session.growing().crosshair(deviceIndex, event),
    recycle: (request) => session.recycle(request),
    attachAnalysis: (request) => session.attachAnalysis(request),
  };
  const query = (name: keyof DeviceQueries) => (request: never, call: CallOptions<unknown>) =>
    session.query(name, request, call);
  return createRpcProxy<SessionApi>(own, (name) => query(name as keyof DeviceQueries));
}

/** What the session implements; every other method is a query of handlers/. */
type SessionOwnMethods = Omit<SessionApi, keyof DeviceQueries>;

/**
 * Half of the worker's code handles queries that nobody can send before a file is open: it is
 * fetched once the first one is, while the page makes its views. Sooner, compiling it would hold up the decoder.
 */
const loadHandlers = () => import('./handlers.ts');
const loadDeviceCopies = () => import('./analysis/clone-device.ts');

/** Whatever is asked with a search, or by class, is answered at once: what that needs must be there. */
async function prepare(request: object): Promise<void> {
  const parts = 'choice' in request ? [request, request.choice] : [request];
  const searches = parts.flatMap((part) =>
    typeof part === 'object' && part !== null && 'search' in part && typeof part.search === 'string'
      ? [part.search]
      : [],
  );
  const isMarking = 'marked' in request && request.marked !== '';
  if (isMarking || searches.some((search) => search !== '')) await loadSearchMatching();
  if (searches.some(mayHoldRegex)) await loadRegexEngine();
  if ('colorBy' in request && needsColorings(request.colorBy)) await loadColorings();
  if ('inBands' in request && request.inBands === true) await loadBandRenderer();
}

/**
 * Fetches for a request once it is done for those before. Of two pictures the one that was asked for later is the
 * newer one, also where the first needs a search whose code has yet to be loaded.
 */
function inOrder(): <T>(fetch: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (fetch) => {
    const fetched = before.then(fetch);
    before = fetched.catch(() => undefined);
    return fetched;
  };
}

class Session {
  readonly #host: SessionHost;
  readonly #frames: FrameQueue;
  #current: OpenSnapshot | undefined;
  #opening: AbortController | undefined;
  #growth: Growth | undefined;
  readonly #preparedFrame = inOrder();
  readonly #preparedQuery = inOrder();

  constructor(host: SessionHost) {
    this.#host = host;
    this.#frames = new FrameQueue(host.clock);
  }

  async open(
    source: WireSource,
    options: OpenOptions,
    call: CallOptions<OpenProgress> = {},
  ): Promise<SessionInfo> {
    this.#opening?.abort(abortError('Another file was opened'));
    const superseded = new AbortController();
    this.#opening = superseded;
    const signal = call.signal
      ? AbortSignal.any([call.signal, superseded.signal])
      : superseded.signal;
    this.#growth?.close();
    const bytes = await this.#host.sourceOf(source, signal);
    // Another file may have been given meanwhile.
    signal.throwIfAborted();
    let progress: OpenProgress | undefined;
    const growth = new Growth({
      source: bytes,
      clock: this.#host.clock,
      startReplayer: this.#host.startReplayer,
      onGrown: (info) => progress && call.onProgress?.({ ...progress, growth: info }),
    });
    this.#growth = growth;
    const opened = await openSnapshot({
      source: bytes,
      platform: this.#host.platform,
      clock: this.#host.clock,
      frames: this.#frames,
      options,
      signal,
      growth,
      onProgress: (step) => {
        progress = step;
        call.onProgress?.(step);
      },
    }).catch((error: unknown) => {
      // What was read of a broken file can be seen until another is given.
      if (signal.aborted || growth.info === undefined) growth.close();
      throw error;
    });
    this.#current = opened;
    // With the columns that went to the replay worker and back.
    if (this.#growth === growth) this.#growth = undefined;
    // If one fails, the first query for it fails with the same error.
    for (const load of [loadHandlers, loadDeviceCopies]) load().catch(() => undefined);
    return opened.info;
  }

  /** @throws AbortError when no file is read */
  growing(): GrowingFile {
    if (this.#growth === undefined) throw abortError('No file is read');
    return this.#growth.file;
  }

  async frame(request: FrameRequest, call: CallOptions = {}): Promise<TimelineFrame> {
    const device = this.#device(request.deviceIndex);
    await this.#preparedFrame(() => prepare(request));
    const begin = (out: Uint32Array | undefined) => device.timeline.begin(request, out);
    return transferring(await device.drawFrame(request.viewport, begin, call.signal));
  }

  /** What a handler of handlers/ answers to a query about a device. */
  async query<K extends keyof DeviceQueries>(
    name: K,
    request: DeviceQueries[K]['request'],
    call: CallOptions<DeviceQueries[K]['progress']> = {},
  ): Promise<DeviceQueries[K]['result']> {
    const { signal = NEVER_ABORTED, onProgress = () => undefined } = call;
    const { HANDLERS } = await this.#preparedQuery(async () => {
      const handlers = await loadHandlers();
      // Handlers ask for the totals of no search too.
      await loadSearchMatching();
      await prepare(request);
      return handlers;
    });
    const handler: QueryHandlers<DeviceQueries>[K] | undefined = HANDLERS[name];
    if (handler === undefined) throw new Error(`No query ${name}`);
    return handler(this.#device(request.deviceIndex), request, { signal, onProgress });
  }

  async recycle({ deviceIndex, pixels }: RecycleRequest): Promise<undefined> {
    this.#current?.devices[deviceIndex]?.recycle(pixels);
    return undefined;
  }

  async attachAnalysis({ port }: { port: MessagePort }): Promise<undefined> {
    const { serveDeviceCopies } = await loadDeviceCopies();
    serveDeviceCopies(port, (deviceIndex) => this.#device(deviceIndex).context, this.#host.clock);
    return undefined;
  }

  #device(deviceIndex: number): OpenDevice {
    if (this.#current === undefined) {
      throw new LoadError({ code: 'nothing-open', message: 'No snapshot is open.' });
    }
    const found = this.#current.devices[deviceIndex];
    if (found !== undefined) return found;
    throw new LoadError({
      code: 'no-such-device',
      message: `This snapshot has no device at position ${deviceIndex}; it has ${this.#current.devices.length}.`,
    });
  }
}

/** Answers the calls of one page to a session. */
export function serveSession(port: MessagePort, session: SessionApi): void {
  const own: Pick<Handlers<SessionMethods>, 'open'> = {
    open: ({ source, options }, call) => session.open(source, options, call),
  };
  // Every other method has the signature of a handler already.
  const methodOf = (name: string): unknown => Reflect.get(session, name);
  serve(port, createRpcProxy<Handlers<SessionMethods>>(own, methodOf));
}
