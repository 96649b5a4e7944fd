import { useCallback, useEffect, useRef, useState } from 'react';
import { errorText, isAbortError } from '../../base/errors.ts';
import { LatestOnly } from '../../base/latest-only.ts';
import type { SessionInfo } from '../../device/model/device-info.ts';
import type { CallOptions, DeviceQueries, DeviceRequest } from '../../worker/protocol.ts';
import { useDevice, useServices } from './services.ts';

type QueryName = keyof DeviceQueries;

/** A request without the device's position, which the hooks below add. */
export type WithoutDevice<Request> = Omit<Request, keyof DeviceRequest>;

type QueryRequest<K extends QueryName> = WithoutDevice<DeviceQueries[K]['request']>;
type QueryResult<K extends QueryName> = DeviceQueries[K]['result'];

/** Queries the device in view. Rejects as the session does. */
export type AskDevice = <K extends QueryName>(
  name: K,
  request: QueryRequest<K>,
  options?: CallOptions<DeviceQueries[K]['progress']>,
) => Promise<QueryResult<K>>;

/** For event handlers; use {@link useQuery} for what a component shows. */
export function useAsk(): AskDevice {
  const { session } = useServices();
  const { index } = useDevice().device;
  return useCallback(
    (name, request, options) => {
      type Request = DeviceQueries[typeof name]['request'];
      return session.query(name, { ...request, deviceIndex: index } as Request, options);
    },
    [session, index],
  );
}

export interface QueryState<Request, Result> {
  /** The newest answer; it belongs to an earlier request while the current one is pending. */
  readonly value: Result | undefined;
  readonly request: Request | undefined;
  /** True if `value` answers the current request. */
  readonly isCurrent: boolean;
  readonly failure: string | undefined;
}

export interface QueryOptions {
  /**
   * Cancels a running request when a newer one comes. Otherwise running requests finish, so holding a key down shows
   * every state that the worker can keep up with.
   */
  readonly cancelsStale?: boolean;
}

/**
 * The session's answer to a query about the device in view. Asks again if the request changes or another snapshot
 * opens; the newest request wins, and unmounting cancels it.
 * Example: `useQuery('crosshair', event === undefined ? undefined : { event })`.
 * @param request plain data, without the device; undefined asks nothing
 */
export function useQuery<K extends QueryName>(
  name: K,
  request: QueryRequest<K> | undefined,
  options: QueryOptions = {},
): QueryState<QueryRequest<K>, QueryResult<K>> {
  const ask = useAsk();
  const fetch = useCallback(
    (asked: QueryRequest<K>, signal: AbortSignal) => ask(name, asked, { signal }),
    [ask, name],
  );
  return useComposedQuery(fetch, request, options);
}

/**
 * {@link useQuery} for answers made from several queries.
 * @param fetch keep it the same function: another one asks again
 */
export function useComposedQuery<Request, Result>(
  fetch: (request: Request, signal: AbortSignal) => Promise<Result>,
  request: Request | undefined,
  { cancelsStale = false }: QueryOptions = {},
): QueryState<Request, Result> {
  const { info } = useDevice();
  const latest = useRef<LatestOnly>(undefined);
  const [answered, setAnswered] = useState<{ request: Request; value: Result }>();
  /** How the newest request ended; `key` and `info` identify the request. */
  const [outcome, setOutcome] = useState<{ info: SessionInfo; key: string; failure?: string }>();
  const key = request === undefined ? undefined : JSON.stringify(request);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function or snapshot ends what is under way
  useEffect(() => {
    const made = new LatestOnly({ isOutrun: () => cancelsStale });
    latest.current = made;
    return () => made.cancel();
  }, [fetch, info, cancelsStale]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the request; the others make a new LatestOnly, which has to be asked
  useEffect(() => {
    if (key === undefined || request === undefined) return;
    latest.current
      ?.run((signal) => fetch(request, signal))
      .then(
        (value) => {
          setAnswered({ request, value });
          setOutcome({ info, key });
        },
        (error: unknown) => {
          if (!isAbortError(error)) setOutcome({ info, key, failure: errorText(error) });
        },
      );
  }, [key, fetch, info, cancelsStale]);
  const own = outcome?.info === info && outcome.key === key ? outcome : undefined;
  const failure = own?.failure;
  const { value, request: asked } = answered ?? {};
  return { value, request: asked, isCurrent: own !== undefined && failure === undefined, failure };
}
