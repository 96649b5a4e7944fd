/** How the allocations are listed, and how the URL encodes it: `view.sort`. */

import { useCallback, useMemo } from 'react';
import type { AllocationKey, AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { CallSiteKey, CallSiteRow } from '../../../device/lists/call-site-table.ts';
import type { Sort } from '../../../state/view-store.ts';
import type { ListRequest } from '../../../worker/protocol.ts';
import {
  type AskDevice,
  useAsk,
  useComposedQuery,
  useQuery,
  type WithoutDevice,
} from '../../shared/use-query.ts';
import type { RowSource } from '../../table/row-pages.ts';

export type ListOrder =
  | { readonly of: 'allocations'; readonly key: AllocationKey; readonly isDescending: boolean }
  | { readonly of: 'sites'; readonly key: CallSiteKey; readonly isDescending: boolean };

/** Columns, and the direction of the first click: largest first, but earliest and alphabetical first. */
const ALLOCATION_KEYS: Readonly<Record<AllocationKey, 'up' | 'down'>> = {
  address: 'up',
  size: 'down',
  requested: 'down',
  waste: 'down',
  lifetime: 'down',
  cost: 'down',
  start: 'up',
  end: 'up',
  state: 'up',
  stream: 'up',
  pool: 'up',
  class: 'up',
  holder: 'up',
  site: 'up',
};

/** The names of a site's columns in `view.sort`. */
const SITE_KEYS: Readonly<
  Record<string, { readonly key: CallSiteKey; readonly first: 'up' | 'down' }>
> = {
  siteLine: { key: 'site', first: 'up' },
  siteCount: { key: 'count', first: 'down' },
  sitePeak: { key: 'peak', first: 'down' },
  siteLive: { key: 'live', first: 'down' },
  siteTotal: { key: 'total', first: 'down' },
  siteLargest: { key: 'largest', first: 'down' },
  siteFirst: { key: 'first', first: 'up' },
  siteLast: { key: 'last', first: 'up' },
};

/** The default, also for an unknown order in a link. */
export const LARGEST_FIRST: Sort = { key: 'size', descending: true };
export const SITES_AT_PEAK: Sort = { key: 'sitePeak', descending: true };

export function orderOf(sort: Sort | undefined): ListOrder {
  const { key, descending: isDescending } = sort ?? LARGEST_FIRST;
  const site = Object.hasOwn(SITE_KEYS, key) ? SITE_KEYS[key] : undefined;
  if (site !== undefined) return { of: 'sites', key: site.key, isDescending };
  if (isAllocationKey(key)) return { of: 'allocations', key, isDescending };
  return { of: 'allocations', key: 'size', isDescending: true };
}

/** Clicking a column header gives its default direction, then the opposite. */
export function sortedBy(column: string, now: Sort): Sort {
  if (now.key === column) return { key: column, descending: !now.descending };
  const first = isAllocationKey(column) ? ALLOCATION_KEYS[column] : SITE_KEYS[column]?.first;
  return { key: column, descending: first === 'down' };
}

function isAllocationKey(key: string): key is AllocationKey {
  return Object.hasOwn(ALLOCATION_KEYS, key);
}

export type ListKey = AllocationKey | CallSiteKey;

type ShownList<Key> = WithoutDevice<ListRequest<Key>>;
type Page<Key> = ShownList<Key> & { readonly from: number; readonly to: number };

/** The session's queries for one kind of list. */
export interface ListQueries<Key extends ListKey, R> {
  readonly label: string;
  readonly count: 'allocationCount' | 'callSiteCount';
  readonly place: 'allocationRowIndex' | 'callSiteRowIndex';
  readonly rows: (ask: AskDevice, page: Page<Key>, signal: AbortSignal) => Promise<readonly R[]>;
  readonly tsv: (ask: AskDevice, page: Page<Key>) => Promise<string>;
}

export type Listed<R> = R & { readonly place: number };

export interface Listing<R> {
  readonly source: RowSource<Listed<R>>;
  /** Rows from `from` to before `to` as text. */
  readonly copy: (from: number, to: number) => Promise<string>;
}

export type ListState = ReturnType<typeof useList>;

/** The rows of a list. The previous list stays until the next one is sorted. */
export function useList<Key extends ListKey, R>(
  queries: ListQueries<Key, R>,
  shown: ShownList<Key>,
  selected: number,
) {
  const ask = useAsk();
  const { value: counted, isCurrent, failure } = useCount(queries, shown);
  const wanted =
    counted !== undefined && selected >= 0 ? { ...counted.shown, allocation: selected } : undefined;
  const found = useQuery(queries.place, wanted);
  const listing = useMemo<Listing<R> | undefined>(() => {
    if (counted === undefined) return undefined;
    const load = async (from: number, to: number, signal: AbortSignal) => {
      const rows = await queries.rows(ask, { ...counted.shown, from, to }, signal);
      return rows.map((row, i) => ({ ...row, place: from + i }));
    };
    const copy = (from: number, to: number) => queries.tsv(ask, { ...counted.shown, from, to });
    return { source: { count: counted.count, load }, copy };
  }, [ask, queries, counted]);
  /** Row of the selected allocation, or of its site; -1 if it is not in the list. */
  const place = found.isCurrent && wanted !== undefined ? (found.value ?? -1) : -1;
  return { listing, isCurrent, failure, place };
}

function useCount<Key extends ListKey>(
  { count }: Pick<ListQueries<Key, unknown>, 'count'>,
  shown: ShownList<Key>,
) {
  const ask = useAsk();
  const fetch = useCallback(
    async (asked: ShownList<Key>, signal: AbortSignal) => ({
      shown: asked,
      count: await ask(count, asked, { signal }),
    }),
    [ask, count],
  );
  return useComposedQuery(fetch, shown);
}

export const ALLOCATION_LIST: ListQueries<AllocationKey, AllocationRow> = {
  label: 'Allocations',
  count: 'allocationCount',
  place: 'allocationRowIndex',
  rows: (ask, request, signal) => ask('allocationRows', request, { signal }),
  tsv: (ask, request) => ask('allocationsTsv', request),
};

export const SITE_LIST: ListQueries<CallSiteKey, CallSiteRow> = {
  label: 'Call sites',
  count: 'callSiteCount',
  place: 'callSiteRowIndex',
  rows: (ask, request, signal) => ask('callSiteRows', request, { signal }),
  tsv: (ask, request) => ask('callSitesTsv', request),
};
