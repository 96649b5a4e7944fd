/**
 * The session: reads one file, holds it and answers queries about it. Independent of workers and the DOM: the worker
 * serves it, and tests call it in Node.
 */
import { abortError } from '../base/errors.ts';
import { InteractionThrottle } from '../base/interaction-throttle.ts';
import { LoadError } from '../base/load-error.ts';
import type { Clock } from '../base/task.ts';
import type { ByteSource } from '../format/input/types.ts';
import type { CopyMethods } from './analysis/device-copy.ts';
import { loadAnswers } from './load-answers.ts';
import type { OpenDevice } from './open-device.ts';
import { type OpenSnapshot, openSnapshot } from './open-snapshot.ts';
import { LongFile } from './partial/long-file.ts';
import type { ReplayWorker } from './partial/partial-file.ts';
import type { FrameRequest, SessionApi, SessionQueries, WireSource } from './protocol.ts';
import { type DeviceRequest, queryHandlers } from './queries.ts';
import { type CallOptions, serve, transferring } from './rpc.ts';

export interface SessionHost {
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

export function createSession(host: SessionHost): SessionApi {
  const { clock, startReplayWorker = () => undefined } = host;
  let current: OpenSnapshot | undefined;
  let long: LongFile | undefined;

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
    const { signal = new AbortController().signal, onProgress = () => undefined } = options;
    const table = name === 'frame' ? FRAMES : (await loadAnswers()).HANDLERS;
    return Reflect.get(table, name)(deviceOf(request), request, { signal, onProgress });
  }

  return {
    async open({ source: wire, ...options }, { onProgress = () => undefined } = {}) {
      const source = await host.sourceOf(wire);
      long = new LongFile(source.size, clock, startReplayWorker);
      current = await openSnapshot({ source, clock, options, onProgress, long });
      // If this fails, the first query fails with the same error.
      loadAnswers().catch(() => undefined);
      return current.info;
    },
    query,
    async partialFrame(request) {
      if (long?.partial === undefined) throw abortError('No file is read');
      return transferring(await long.partial.frame(request));
    },
    async recycle({ pixels }) {
      current?.devices[0]?.frames.recycle(pixels);
      return undefined;
    },
    async attachAnalysis({ port }) {
      const { cloneDevice } = await loadAnswers();
      const throttle = new InteractionThrottle(clock);
      const copy = async (request: DeviceRequest) => {
        const device = deviceOf(request);
        const { context } = device;
        // The page has settled when it asks for findings.
        await device.rehearseZoom();
        const yieldTask = throttle.createPause(context.trace.events.length);
        return cloneDevice(context, { ...clock, yieldTask });
      };
      serve<CopyMethods>(port, { copy, yieldToInteraction: () => throttle.noteInteraction() });
      return new Promise(() => undefined);
    },
  };
}
