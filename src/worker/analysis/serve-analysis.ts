/** The analysis worker without the worker: serves a page on one port with copies of devices from another. */
import { CancelledError } from '../../base/errors.ts';
import type { Clock } from '../../base/task.ts';
import { connect, type Remote } from '../connect.ts';
import { type HandlerCall, type Handlers, serve } from '../rpc.ts';
import { type AnalysisCall, AnalysisDevice, type AnalysisHandlers } from './analysis-device.ts';
import type { CopyMethods } from './clone-device.ts';
import { findingsHandlers } from './findings-handler.ts';
import { InteractionThrottle } from './interaction-throttle.ts';
import type { AnalysisMethods, AnalysisQueries } from './protocol.ts';
import { whatIfHandlers } from './what-if-handler.ts';

const HANDLERS: AnalysisHandlers<AnalysisQueries> = { ...findingsHandlers, ...whatIfHandlers };

/** @param session answers {@link CopyMethods} */
export function serveAnalysis(page: MessagePort, session: MessagePort, clock: Clock): void {
  const throttle = new InteractionThrottle(clock);
  const devices = new Devices(connect<CopyMethods>(session));
  const names = Object.keys(HANDLERS) as (keyof AnalysisQueries)[];
  const handler =
    <K extends keyof AnalysisQueries>(name: K) =>
    async (
      request: AnalysisQueries[K]['request'],
      call: HandlerCall<AnalysisQueries[K]['progress']>,
    ) => {
      const handle: AnalysisHandlers<AnalysisQueries>[K] = HANDLERS[name];
      const device = await devices.get(request.deviceIndex);
      return handle(device, request, withPause(call, throttle.createPause()));
    };
  // Names and functions come from one table of that very type; Object.fromEntries forgets it.
  const handlers = Object.fromEntries(names.map((name) => [name, handler(name)]));
  serve<AnalysisMethods>(page, {
    ...(handlers as unknown as Handlers<AnalysisQueries>),
    yieldToInteraction: () => {
      throttle.noteInteraction();
      return undefined;
    },
  });
}

function withPause<P>(call: HandlerCall<P>, wait: () => Promise<void>): AnalysisCall<P> {
  const { signal, onProgress } = call;
  async function pause(): Promise<void> {
    await wait();
    if (signal.aborted) throw new CancelledError();
  }
  return { signal, onProgress, pause };
}

/** The copy of one device at a time: another one's takes its place. */
class Devices {
  readonly #session: Remote<CopyMethods>;
  #latest: { readonly deviceIndex: number; readonly device: Promise<AnalysisDevice> } | undefined;

  constructor(session: Remote<CopyMethods>) {
    this.#session = session;
  }

  get(deviceIndex: number): Promise<AnalysisDevice> {
    if (this.#latest?.deviceIndex === deviceIndex) return this.#latest.device;
    const copy = this.#session.call('copy', { deviceIndex });
    const device = copy.then((copied) => new AnalysisDevice(copied));
    this.#latest = { deviceIndex, device };
    // A copy that failed is requested again next time.
    device.catch(() => {
      if (this.#latest?.device === device) this.#latest = undefined;
    });
    return device;
  }
}
