/**
 * Queries about one device of an open snapshot. Each feature declares its requests and results in one file of
 * handlers/, beside the functions that answer them. answers.ts combines the features.
 *
 *   export interface AllocatorStateQueries { state: Query<{ event: EventIndex }, State> }
 *   export const allocatorStateHandlers: QueryHandlers<AllocatorStateQueries> = { state: (device, request) => … }
 *
 * Then call `session.query('state', { deviceIndex, event }, { signal })` on the page, or
 * `useQuery('state', { event })` in a component.
 */
import type { OpenDevice } from './open-device.ts';
import type { HandlerCall, Method } from './rpc.ts';

/** Every request names its device by position in SessionInfo.devices. */
export interface DeviceRequest {
  readonly deviceIndex: number;
}

/** A query on a device. `Request` excludes the device; use `object` if nothing else is needed. */
export type Query<Request extends object, Result, Progress = never> = Method<
  DeviceRequest & Request,
  Result,
  Progress
>;

export type Queries<Q> = { readonly [K in keyof Q]: Query<object, unknown, unknown> };

/**
 * One function per query. Those of the session worker get an OpenDevice. Those of the analysis worker get its own
 * kind of device, and `More` in their call (analysis/serve-analysis.ts).
 */
export type QueryHandlers<Q extends Queries<Q>, Device = OpenDevice, More = unknown> = {
  readonly [K in keyof Q]: (
    device: Device,
    request: Q[K]['request'],
    call: HandlerCall<Q[K]['progress']> & More,
  ) => Q[K]['result'] | Promise<Q[K]['result']>;
};

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
}

/** Sends a query. Rejects with LoadError or an AbortError. */
export type AskQuery<Q extends Queries<Q>> = <K extends keyof Q>(
  name: K,
  request: Q[K]['request'],
  options?: CallOptions<Q[K]['progress']>,
) => Promise<Q[K]['result']>;
