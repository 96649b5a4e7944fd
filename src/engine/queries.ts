/**
 * Questions about one device of the open snapshot. A feature declares what it asks and what it is
 * answered in one file of answers/, answers.ts puts them together; the wire needs no more.
 *
 *   export interface AllocatorStateQueries { state: Query<{ deviceIndex: number; event: EventIndex }, State> }
 *   export const allocatorStateHandlers: QueryHandlers<AllocatorStateQueries> = { state: (device, request) => … }
 *
 * Then `session.state({ deviceIndex, event }, { signal })` works on the page.
 */
import type { OpenDevice } from './open-device.ts';

/** Every question names its device: the position in SessionInfo.devices. */
export interface DeviceRequest {
  readonly deviceIndex: number;
}

export interface Query<Request extends DeviceRequest, Result, Progress = never> {
  readonly request: Request;
  readonly progress: Progress;
  readonly result: Result;
}

/** Any set of questions. */
export type Queries<Q> = { readonly [K in keyof Q]: Query<DeviceRequest, unknown, unknown> };

/** What an answer gets beside its request. */
export interface QueryCall<Progress> {
  /** Aborted when the page does not want the answer any more. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** One function a question; runs in the session worker. */
export type QueryHandlers<Q extends Queries<Q>> = {
  readonly [K in keyof Q]: (
    device: OpenDevice,
    request: Q[K]['request'],
    call: QueryCall<Q[K]['progress']>,
  ) => Q[K]['result'] | Promise<Q[K]['result']>;
};

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
}

/** What the page calls: a method a question. Rejects with LoadError or an AbortError. */
export type QueryClient<Q extends Queries<Q>> = {
  readonly [K in keyof Q]: (
    request: Q[K]['request'],
    options?: CallOptions<Q[K]['progress']>,
  ) => Promise<Q[K]['result']>;
};
