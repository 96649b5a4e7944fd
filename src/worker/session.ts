/**
 * The session: reads one file, holds it and answers queries about it. Independent of workers and the DOM: the worker
 * serves it over a port, and tests call it in Node.
 */
import { abortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import type { Clock } from '../base/task.ts';
import type { ByteSource, Platform } from '../format/input/types.ts';
import { loadAnswers } from './load-answers.ts';
import type { OpenDevice } from './open-device.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';
import type { PartialFile, ReplayWorker } from './partial/partial-file.ts';
import type {
  FrameRequest,
  SessionApi,
  SessionMethods,
  SessionQueries,
  WireSource,
} from './protocol.ts';
import { type DeviceRequest, queryHandlers } from './queries.ts';
import { type CallOptions, type Handlers, serve, transferring } from './rpc.ts';

export interface SessionHost {
  readonly platform: Platform;
  readonly clock: Clock;
  /** Rejects with LoadError. */
  readonly sourceOf: (source: WireSource) => Promise<ByteSource>;
  /** Starts the worker that replays a file while it is read; undefined where that is not possible. */
  readonly startReplayWorker?: () => ReplayWorker | undefined;
}

/** Handlers that need no further loading, so that the first picture comes soon. */
const FRAMES = queryHandlers({
  frame: async (device, request: FrameRequest, { signal }) =>
    transferring(await device.frame(request, signal)),
});

const NEVER_ABORTED = new AbortController().signal;

export function createSession(host: SessionHost): SessionApi {
  const { platform, clock, startReplayWorker = () => undefined } = host;
  let current: OpenSnapshot | undefined;
  let partial: PartialFile | undefined;

  function deviceOf({ deviceIndex }: DeviceRequest): OpenDevice {
    const found = current?.devices[deviceIndex];
    if (found !== undefined) return found;
    const message = `No device is open at position ${deviceIndex}.`;
    throw new LoadError({ code: 'no-such-device', message });
  }

  async function query<K extends keyof SessionQueries>(
    name: K,
    request: SessionQueries[K]['request'],
    options: CallOptions<SessionQueries[K]['progress']> = {},
  ): Promise<SessionQueries[K]['result']> {
    const { signal = NEVER_ABORTED, onProgress = () => undefined } = options;
    const table = name === 'frame' ? FRAMES : (await loadAnswers()).HANDLERS;
    return Reflect.get(table, name)(deviceOf(request), request, { signal, onProgress });
  }

  return {
    async open(source, options, { onProgress = () => undefined } = {}) {
      partial?.close();
      partial = undefined;
      const job = { source: await host.sourceOf(source), platform, clock, options };
      const onPartial = (file: PartialFile | undefined) => {
        partial = file;
      };
      current = await openSnapshot({ ...job, onProgress, startReplayWorker, onPartial });
      // If this fails, the first query fails with the same error.
      loadAnswers().catch(() => undefined);
      return current.info;
    },
    query,
    async partialFrame(request) {
      if (partial === undefined) throw abortError('No file is read');
      return transferring(await partial.frame(request));
    },
    async recycle({ pixels }) {
      current?.frames.recycle(pixels);
      return undefined;
    },
    async attachAnalysis({ port }) {
      const { serveDeviceCopies } = await loadAnswers();
      serveDeviceCopies(port, (deviceIndex) => deviceOf({ deviceIndex }).context, clock);
      return new Promise(() => undefined);
    },
  };
}

export function serveSession(port: MessagePort, session: SessionApi): void {
  const { open, query, ...others } = session;
  const handlers: Handlers<Omit<SessionMethods, keyof SessionQueries>> = {
    ...others,
    open: ({ source, options }, call) => open(source, options, call),
  };
  serve(port, handlers, (name, request, call) =>
    query(name as keyof SessionQueries, request as never, call),
  );
}
