/**
 * Queries about one device of an open snapshot. Each feature declares its requests and results in one file of
 * handlers/, beside the functions that answer them; answers.ts combines the features. The wire needs nothing else.
 *
 *   export interface AllocatorStateQueries { state: Query<{ event: EventIndex }, State> }
 *   export const allocatorStateHandlers: QueryHandlers<AllocatorStateQueries> = { state: (device, request) => … }
 *
 * Then `session.query('state', { deviceIndex, event }, { signal })` works on the page, and
 * `useQuery('state', { event })` in a component.
 */
import type { OpenDevice } from './open-device.ts';
import type { HandlerCall, Method } from './rpc.ts';

/** Every request names its device by its position in SessionInfo.devices. */
export interface DeviceRequest {
  readonly deviceIndex: number;
}

/** What is asked of a device: `Request` is what the request holds beside it, `object` where that is nothing. */
export type Query<Request extends object, Result, Progress = never> = Method<
  DeviceRequest & Request,
  Result,
  Progress
>;

/** Any set of queries. */
export type Queries<Q> = { readonly [K in keyof Q]: Query<object, unknown, unknown> };

/**
 * One function for each query. Those of the session worker get an OpenDevice; the analysis worker's get a device of its
 * own, and `More` in their call (analysis/serve-analysis.ts).
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

/** How queries are asked. Rejects with LoadError or an AbortError. */
export type AskQuery<Q extends Queries<Q>> = <K extends keyof Q>(
  name: K,
  request: Q[K]['request'],
  options?: CallOptions<Q[K]['progress']>,
) => Promise<Q[K]['result']>;
