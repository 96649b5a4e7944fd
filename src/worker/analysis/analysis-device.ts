/** One device in the analysis worker, as detectors and simulator want it. */

import type { DeviceTables } from '../../analysis/findings/types.ts';
import { StackReader } from '../../device/model/stacks.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import type { Queries, QueryHandlers } from '../queries.ts';
import type { HandlerCall } from '../rpc.ts';
import { type DeviceCopy, spreadEvents } from './clone-device.ts';

export class AnalysisDevice {
  /** Of alloc and free events `trace` has action and time alone, see clone-device.ts. */
  readonly input: DeviceTables;
  /** The allocator's, as recorded. */
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

  /** What `make` makes of this device, made once: give a function of a module, not a new closure. */
  once<T>(make: (device: AnalysisDevice) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }
}

interface Pausing {
  /** Lets messages in and interaction go first. Rejects with CancelledError once the page does not want the result any more. */
  readonly pause: () => Promise<void>;
}

/** What a handler gets beside its request. */
export type AnalysisCall<Progress> = HandlerCall<Progress> & Pausing;

/** One function a query; runs in the analysis worker. */
export type AnalysisHandlers<Q extends Queries<Q>> = QueryHandlers<Q, AnalysisDevice, Pausing>;
