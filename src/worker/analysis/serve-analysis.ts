/**
 * The logic of the analysis worker: runs detectors and simulator on a copy of a device (device-copy.ts), so that
 * frames and hovers never wait for them. Serves a page on one port and queries the session worker on another.
 */
import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { recordedRun } from '../../allocator/simulator/recorded-run.ts';
import { commonCard, whatIfInput } from '../../allocator/simulator/what-if.ts';
import {
  type Limit,
  limitBytesOf,
  type WhatIfProgress,
  whatIfRuns,
} from '../../allocator/simulator/what-if-runs.ts';
import { accountAt } from '../../analysis/account/account.ts';
import { analyse } from '../../analysis/findings/analyse.ts';
import { AnalysisInput } from '../../analysis/findings/analysis-input.ts';
import type { Check, Finding } from '../../analysis/findings/detectors.ts';
import { assert } from '../../base/errors.ts';
import { InteractionThrottle } from '../../base/interaction-throttle.ts';
import type { Clock } from '../../base/task.ts';
import type { AtEvent, DeviceRequest, QueriesOf } from '../queries.ts';
import {
  connect,
  type Endpoint,
  type HandlerCall,
  type Handlers,
  type Method,
  type Remote,
  serve,
} from '../rpc.ts';
import { AnalysisDevice, type CopyMethods } from './device-copy.ts';

/** A detector's findings arrive before its check. The result repeats all of them, ranked. */
export type FindingsProgress =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'check'; readonly check: Check };

export interface AnalysisCall<Progress> extends HandlerCall<Progress> {
  /** Lets messages in and interaction go first. Rejects once the page no longer wants the result. */
  readonly pause: () => Promise<void>;
}

interface WhatIfRequest extends DeviceRequest {
  /** In the format of PYTORCH_ALLOC_CONF; parseAllocConf() must accept each. */
  readonly settings: readonly string[];
  readonly limit: Limit;
  /** Settings for which the smallest common card is searched after all runs. */
  readonly cards: readonly string[];
}

const inputOf = ({ input }: AnalysisDevice) => new AnalysisInput(input);

/** Parts of the curves: about two per pixel of a plot, so that zooming in a little still shows more. */
const PARTS = 2048;
/** Progress is reported in steps of this share. */
const REPORTED_SHARE = 0.005;

function confOf(text: string) {
  const conf = parseAllocConf(text);
  assert(conf.ok, 'the page asks only for settings that can be read');
  return conf;
}

function whatIfOf({ input: { trace, replay, snapshot, stacks } }: AnalysisDevice) {
  const input = whatIfInput(trace, replay, snapshot.settings, stacks);
  return { input, recorded: recordedRun(input, PARTS) };
}

const HANDLERS = {
  findings: (
    { input }: AnalysisDevice,
    _request: DeviceRequest,
    { onProgress, pause }: AnalysisCall<FindingsProgress>,
  ) =>
    analyse(input, {
      onFinding: (finding) => onProgress({ kind: 'finding', finding }),
      onCheck: (check) => onProgress({ kind: 'check', check }),
      pause,
    }),
  /** The account of the state after `event`. What it needs from the whole run is cached for the next query. */
  account: (device: AnalysisDevice, { event }: DeviceRequest & AtEvent) =>
    accountAt(device.once(inputOf), event, 'cursor'),
  /** Each result is reported as it comes. */
  async whatIf(
    device: AnalysisDevice,
    { settings, limit, cards }: WhatIfRequest,
    { onProgress, pause }: AnalysisCall<WhatIfProgress>,
  ): Promise<void> {
    const { input, recorded } = device.once(whatIfOf);
    const limitBytes = limitBytesOf(limit, recorded, input);
    onProgress({ kind: 'recorded', recorded, limitBytes });
    const plan = { confs: settings.map(confOf), limitBytes, parts: PARTS };
    const searches = { cards: cards.map(confOf), findCard: commonCard };
    let nextShare = 0;
    for (const step of whatIfRuns(input, { ...plan, ...searches })) {
      if (step.kind !== 'running' || step.done >= nextShare) onProgress(step);
      if (step.kind === 'running') nextShare = Math.max(nextShare, step.done + REPORTED_SHARE);
      await pause();
    }
  },
};

export interface AnalysisQueries extends QueriesOf<typeof HANDLERS> {}

export interface AnalysisMethods extends AnalysisQueries {
  /** Passes the port on which the session worker answers {@link CopyMethods}. Must come first. */
  readonly attach: Method<{ readonly session: MessagePort }, undefined>;
  /** The user zooms or pans: see {@link InteractionThrottle}. */
  readonly yieldToInteraction: Method<undefined, undefined>;
}

export function serveAnalysis(page: Endpoint, clock: Clock): void {
  const throttle = new InteractionThrottle(clock);
  let copies: Remote<CopyMethods> | undefined;
  /** One device's copy at a time; the next device replaces it. */
  let latest: { readonly index: number; readonly device: Promise<AnalysisDevice> } | undefined;

  function deviceAt({ deviceIndex: index }: DeviceRequest): Promise<AnalysisDevice> {
    if (latest?.index === index) return latest.device;
    assert(copies !== undefined, 'the port to the session comes first');
    const copy = copies.call('copy', { deviceIndex: index });
    const device = copy.then((tables) => new AnalysisDevice(tables));
    latest = { index, device };
    // Retry a failed copy the next time.
    device.catch(() => {
      if (latest?.device === device) latest = undefined;
    });
    return device;
  }

  const handlers: Handlers<Omit<AnalysisMethods, keyof AnalysisQueries>> = {
    attach({ session }) {
      copies = connect(session);
      return undefined;
    },
    yieldToInteraction() {
      copies?.call('yieldToInteraction', undefined).catch(() => undefined);
      return throttle.noteInteraction();
    },
  };
  serve(page, handlers, async (name: keyof AnalysisQueries, request: DeviceRequest, call) => {
    const device = await deviceAt(request);
    const wait = throttle.createPause(device.input.trace.events.length);
    const pause = async () => {
      await wait();
      call.signal.throwIfAborted();
    };
    return HANDLERS[name](device, request as never, { ...call, pause });
  });
}
