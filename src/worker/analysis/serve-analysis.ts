/**
 * The logic of the analysis worker: runs detectors and simulator on a copy of a device (clone-device.ts), so that
 * frames and hovers never wait for them. Serves a page on one port and queries the session worker on another.
 */
import { accountAt } from '../../analysis/account/account.ts';
import type { Account } from '../../analysis/account/types.ts';
import { type Analysis, analyse } from '../../analysis/findings/analyse.ts';
import { AnalysisInput } from '../../analysis/findings/analysis-input.ts';
import type { Check, Finding } from '../../analysis/findings/detectors.ts';
import type { DeviceTables } from '../../analysis/findings/types.ts';
import type { Clock } from '../../base/task.ts';
import { StackReader } from '../../device/model/stacks.ts';
import type { EventIndex, Snapshot } from '../../format/snapshot/tables.ts';
import type { Queries, Query, QueryHandlers } from '../queries.ts';
import { connect, type HandlerCall, type Method, type Remote, serve } from '../rpc.ts';
import { type CopyMethods, type DeviceCopy, spreadEvents } from './clone-device.ts';
import { InteractionThrottle } from './interaction-throttle.ts';
import { type WhatIfQueries, whatIfHandlers } from './what-if-handler.ts';

/** A detector's findings arrive before its check. The result repeats all of them, ranked. */
export type FindingsProgress =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'check'; readonly check: Check };

export interface AnalysisQueries extends WhatIfQueries {
  readonly findings: Query<object, Analysis, FindingsProgress>;
  /** The account of the state after `event`. What it needs from the whole run is cached for the next query. */
  readonly account: Query<{ readonly event: EventIndex }, Account>;
}

export interface AnalysisMethods extends AnalysisQueries {
  /** The user zooms or pans: see interaction-throttle.ts. */
  readonly yieldToInteraction: Method<undefined, undefined>;
}

interface Pausing {
  /** Lets messages in and interaction go first. Rejects once the page no longer wants the result. */
  readonly pause: () => Promise<void>;
}

export type AnalysisCall<Progress> = HandlerCall<Progress> & Pausing;

export type AnalysisHandlers<Q extends Queries<Q>> = QueryHandlers<Q, AnalysisDevice, Pausing>;

const inputOf = ({ input }: AnalysisDevice) => new AnalysisInput(input);

const HANDLERS: AnalysisHandlers<AnalysisQueries> = {
  ...whatIfHandlers,
  findings: ({ input }, _request, { onProgress, pause }) =>
    analyse(input, {
      onFinding: (finding) => onProgress({ kind: 'finding', finding }),
      onCheck: (check) => onProgress({ kind: 'check', check }),
      pause,
    }),
  account: (device, { event }) => accountAt(device.once(inputOf), event, 'cursor'),
};

/** @param session answers {@link CopyMethods} */
export function serveAnalysis(page: MessagePort, session: MessagePort, clock: Clock): void {
  const throttle = new InteractionThrottle(clock);
  const devices = new Devices(connect<CopyMethods>(session));
  const handler =
    <K extends keyof AnalysisQueries>(name: K) =>
    async (
      request: AnalysisQueries[K]['request'],
      call: HandlerCall<AnalysisQueries[K]['progress']>,
    ) => {
      const handle: AnalysisHandlers<AnalysisQueries>[K] = HANDLERS[name];
      const device = await devices.get(request.deviceIndex);
      const wait = throttle.createPause();
      const pause = async () => {
        await wait();
        call.signal.throwIfAborted();
      };
      return handle(device, request, { ...call, pause });
    };
  serve<AnalysisMethods>(page, {
    findings: handler('findings'),
    whatIf: handler('whatIf'),
    account: handler('account'),
    yieldToInteraction: () => {
      throttle.noteInteraction();
      return undefined;
    },
  });
}

/** One device in the form that detectors and simulator need. */
export class AnalysisDevice {
  /** For alloc and free events, `trace` has only action and time: see clone-device.ts. */
  readonly input: DeviceTables;
  /** The allocator's settings, as recorded. */
  readonly settings: Snapshot['settings'];
  readonly #made = new Map<unknown, unknown>();

  constructor({ snapshot, trace, events, replay, classification, owners }: DeviceCopy) {
    const { strings, settings, ...tables } = snapshot;
    const source = {
      ...tables,
      strings: { length: strings.size, get: (index: number) => strings.get(index) ?? '' },
    };
    this.settings = settings;
    this.input = {
      snapshot: source,
      trace: { ...trace, events: spreadEvents(events) },
      stacks: new StackReader(source),
      replay,
      classification,
      owners,
    };
  }

  /** See OpenDevice.once. */
  once<T>(make: (device: AnalysisDevice) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }
}

/** Holds one device's copy at a time; the next device replaces it. */
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
    // Retry a failed copy the next time.
    device.catch(() => {
      if (this.#latest?.device === device) this.#latest = undefined;
    });
    return device;
  }
}
