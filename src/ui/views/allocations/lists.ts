/** The two lists, of allocations and of call sites, and how the URL encodes its order (`view.sort`). */
import type { AllocationKey, AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { CallSiteKey, CallSiteRow } from '../../../device/lists/call-site-table.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import type { KnownValues } from '../../../device/search/qualifiers.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import type { Sort, ViewStore } from '../../../state/view-store.ts';
import type { ListRequest } from '../../../worker/protocol.ts';
import { windowShowing } from '../../panels/search/use-search.ts';
import { type Column, nextSort } from '../../table/table-row.tsx';
import { ALLOCATION_WORDS, allocationColumns, siteColumns } from './columns.tsx';

export interface List<R> {
  readonly label: string;
  readonly hint: string;
  columns(device: DeviceInfo, axis: TimeAxis, known: KnownValues | undefined): readonly Column<R>[];
  /** For Enter, or a double click. */
  open(row: R, view: ViewStore, device: DeviceInfo): void;
}

export const ALLOCATIONS: List<AllocationRow> = {
  label: 'Allocations',
  hint: 'Space selects, Enter or a double click shows it in the timeline, F searches for its call site, C copies',
  columns: allocationColumns,
  open(row, view, device) {
    const now = view.getState().view;
    const x = windowShowing(now.x, now.axis, row, device);
    view.commit({ view: 'timeline', selection: row.label, x });
  },
};

export const SITES: List<CallSiteRow> = {
  label: 'Call sites',
  hint: 'Space selects the largest, Enter or a double click lists all of a call site, F searches for it, C copies',
  columns: siteColumns,
  open({ label }, view) {
    const { search } = view.getState().view;
    view.commit({ search: addTerm(search, searchTerm('site', label)), sort: LARGEST_FIRST });
  },
};

/** The names of a site's columns in `view.sort`. */
const SITE_KEYS: Readonly<Record<string, CallSiteKey>> = {
  siteLine: 'site',
  siteCount: 'count',
  sitePeak: 'peak',
  siteLive: 'live',
  siteTotal: 'total',
  siteLargest: 'largest',
  siteFirst: 'first',
  siteLast: 'last',
};

/** The default, also for an unknown order in a link. */
export const LARGEST_FIRST: Sort = { key: 'size', descending: true };
export const SITES_AT_PEAK: Sort = { key: 'sitePeak', descending: true };

export function orderOf(sort: Sort | undefined): Pick<ListRequest, 'of' | 'key' | 'isDescending'> {
  const { key, descending: isDescending } = sort ?? LARGEST_FIRST;
  const site = Object.hasOwn(SITE_KEYS, key) ? SITE_KEYS[key] : undefined;
  if (site !== undefined) return { of: 'sites', key: site, isDescending };
  if (isAllocationKey(key)) return { of: 'allocations', key, isDescending };
  return { of: 'allocations', key: 'size', isDescending: true };
}

const isAllocationKey = (key: string): key is AllocationKey => Object.hasOwn(ALLOCATION_WORDS, key);

/** A click on a heading sorts in the column's first direction, then in the opposite one. */
export function sortedBy(columns: readonly Column<never>[], key: string, now: Sort): Sort {
  const isDescendingFirst = columns.find(({ id }) => id === key)?.first === 'down';
  return nextSort(now, key, isDescendingFirst) ?? { key, descending: isDescendingFirst };
}
