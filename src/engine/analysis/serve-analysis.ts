/** The analysis worker without the worker: answers a page on one port with copies from another. */
import { CancelledError } from '../../core/base/cancelled.ts';
import type { CooperativeClock } from '../cooperative-reader.ts';
import { connect, type HandlerCall, type Handlers, type Remote, serve } from '../rpc.ts';
import { AnalysisDevice } from './analysis-device.ts';
import { findingsAnswers } from './findings-handler.ts';
import type { AnalysisAnswers, AnalysisCall } from './handlers.ts';
import { InteractionThrottle } from './interaction-throttle.ts';
import type { AnalysisMethods, AnalysisQueries, CopyMethods } from './protocol.ts';
import { whatIfAnswers } from './what-if-handler.ts';

const HANDLERS: AnalysisAnswers<AnalysisQueries> = { ...findingsAnswers, ...whatIfAnswers };

/** @param session answers {@link CopyMethods} */
export function serveAnalysis(
  page: MessagePort,
  session: MessagePort,
  clock: CooperativeClock,
): void {
  const courtesy = new InteractionThrottle(clock);
  const devices = new Devices(connect<CopyMethods>(session));
  const names = Object.keys(HANDLERS) as (keyof AnalysisQueries)[];
  const handler =
    <K extends keyof AnalysisQueries>(name: K) =>
    async (
      request: AnalysisQueries[K]['request'],
      call: HandlerCall<AnalysisQueries[K]['progress']>,
    ) => {
      const answer: AnalysisAnswers<AnalysisQueries>[K] = HANDLERS[name];
      const device = await devices.get(request.deviceIndex);
      return answer(device, request, withPause(call, courtesy.pauses()));
    };
  // Names and functions come from one table of that very type; Object.fromEntries forgets it.
  const answers = Object.fromEntries(names.map((name) => [name, handler(name)]));
  serve<AnalysisMethods>(page, {
    ...(answers as unknown as Handlers<AnalysisQueries>),
    yieldToInteraction: () => {
      courtesy.noteInteraction();
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
  #latest: { readonly position: number; readonly device: Promise<AnalysisDevice> } | undefined;

  constructor(session: Remote<CopyMethods>) {
    this.#session = session;
  }

  get(position: number): Promise<AnalysisDevice> {
    if (this.#latest?.position === position) return this.#latest.device;
    const copy = this.#session.call('copy', { deviceIndex: position });
    const device = copy.then((copied) => new AnalysisDevice(copied));
    this.#latest = { position, device };
    // What could not be had is asked for again next time.
    device.catch(() => {
      if (this.#latest?.device === device) this.#latest = undefined;
    });
    return device;
  }
}
