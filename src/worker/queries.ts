/**
 * Queries about one device of an open snapshot. Each feature has one file of handlers/ with a function per query; its
 * request is the function's second parameter, its result what the function returns. answers.ts combines the features.
 *
 *   export const allocatorStateHandlers = queryHandlers({
 *     stateAt: (device, { event }: { event: EventIndex }) => …
 *   });
 *
 * Then call `session.query('stateAt', { deviceIndex, event }, { signal })` on the page, or
 * `useQuery('stateAt', { event })` in a component.
 */
import type { EventIndex } from '../format/snapshot/tables.ts';
import type { OpenDevice } from './open-device.ts';
import type { HandlerCall, Method, Remote } from './rpc.ts';

/** Every request names its device by position in SessionInfo.devices. */
export interface DeviceRequest {
  readonly deviceIndex: number;
}

export interface AtEvent {
  readonly event: EventIndex;
}

/** How a handler is written: it may leave out what it doesn't need. */
type Written = (device: OpenDevice, request: never, call: HandlerCall<unknown>) => unknown;

type RequestOf<W> = W extends (device: never, request: infer R, call: never) => unknown
  ? DeviceRequest & R
  : never;

type ProgressOf<W> = W extends (device: never, request: never, call: infer Call) => unknown
  ? Call extends HandlerCall<infer P>
    ? [unknown] extends [P]
      ? never
      : P
    : never
  : never;

/** The functions of a table of handlers, as they are called. */
export type QueryHandlers<Table> = {
  readonly [K in keyof Table]: (
    device: OpenDevice,
    request: RequestOf<Table[K]>,
    call: HandlerCall<ProgressOf<Table[K]>>,
  ) => Table[K] extends (...args: never) => infer Result ? Result : never;
};

export function queryHandlers<Table extends Readonly<Record<string, Written>>>(
  table: Table,
): QueryHandlers<Table> {
  return table as never;
}

/** The requests, results and progress of a table of handlers. */
export type QueriesOf<Table> = {
  readonly [K in keyof Table]: Table[K] extends (...args: never) => infer Result
    ? Method<RequestOf<Table[K]>, Awaited<Result>, ProgressOf<Table[K]>>
    : never;
};

/** The message of all queries: its types are those of the query that it names. */
export type QueryMethod = Method<
  { readonly name: string; readonly request: DeviceRequest },
  unknown,
  unknown
>;

export interface CallOptions<P = never> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: P) => void) | undefined;
}

/** Sends a query. Rejects with LoadError or an AbortError. */
export type AskQuery<
  Q extends { readonly [K in keyof Q]: Method<DeviceRequest, unknown, unknown> },
> = <K extends keyof Q>(
  name: K,
  request: Q[K]['request'],
  options?: CallOptions<Q[K]['progress']>,
) => Promise<Q[K]['result']>;

/** The other side of a handler of {@link QueryMethod}. */
export function askOver<
  Q extends { readonly [K in keyof Q]: Method<DeviceRequest, unknown, unknown> },
>(call: Remote<{ readonly query: QueryMethod }>['call']): AskQuery<Q> {
  return (name, request, options) =>
    call('query', { name: String(name), request }, options as CallOptions<unknown>) as Promise<
      Q[typeof name]['result']
    >;
}
