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
import type { HandlerCall, Method } from './rpc.ts';

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
