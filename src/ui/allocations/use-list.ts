import { useMemo } from 'react';
import type { SessionInfo } from '../../core/device/types.ts';
import type { ListRequest } from '../../engine/handlers/allocation-list.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useServices } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import type { RowSource } from '../table/row-pages.ts';

/** How the worker is asked for one kind of list. Functions of a module. */
export interface ListQuestions<Key, R> {
  /** What the rows are: 'Allocations'. */
  readonly label: string;
  readonly count: (session: SessionApi, request: ListRequest<Key>) => Promise<number>;
  readonly place: (
    session: SessionApi,
    request: ListRequest<Key> & { readonly allocation: number },
  ) => Promise<number>;
  readonly rows: (
    session: SessionApi,
    request: ListRequest<Key> & { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ) => Promise<readonly R[]>;
  /** The same rows as text, with tabs between. */
  readonly tsv: (
    session: SessionApi,
    request: ListRequest<Key> & { readonly from: number; readonly to: number },
  ) => Promise<string>;
}

/** A row and where it stands. */
export type Listed<R> = R & { readonly place: number };

/** A list that is ready to be read. */
export interface Listing<R> {
  readonly source: RowSource<Listed<R>>;
  /** Rows from `from` to before `to` as text. */
  readonly copy: (from: number, to: number) => Promise<string>;
}

export interface ListState<R> {
  /** The newest that is ready; undefined before the first. */
  readonly listing: Listing<R> | undefined;
  /** False while another is sorted. */
  readonly isCurrent: boolean;
  readonly failure: string | undefined;
  /** Row of the selected allocation, or of its site; -1 when it is not in the list. */
  readonly place: number;
}

/** The rows of a request; the list before stays until the next one is sorted. */
export function useList<Key, R>(
  info: SessionInfo,
  questions: ListQuestions<Key, R>,
  request: ListRequest<Key>,
  selected: number,
): ListState<R> {
  const { session } = useServices();
  const ask = useMemo(
    () => async (asked: SessionApi, question: ListRequest<Key>) => ({
      request: question,
      count: await questions.count(asked, question),
    }),
    [questions],
  );
  const { value, isCurrent, failure } = useQuery(ask, request, info);
  const wanted = value && selected >= 0 ? { ...value.request, allocation: selected } : undefined;
  const found = useQuery(questions.place, wanted, info);
  const listing = useMemo<Listing<R> | undefined>(() => {
    if (value === undefined) return undefined;
    const load = async (from: number, to: number, signal: AbortSignal) => {
      const rows = await questions.rows(session, { ...value.request, from, to }, signal);
      return rows.map((row, i) => ({ ...row, place: from + i }));
    };
    const copy = (from: number, to: number) =>
      questions.tsv(session, { ...value.request, from, to });
    return { source: { count: value.count, load }, copy };
  }, [session, questions, value]);
  const place = found.isCurrent && wanted !== undefined ? (found.value ?? -1) : -1;
  return { listing, isCurrent, failure, place };
}
