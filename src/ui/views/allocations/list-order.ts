/** How the allocations are listed, and how the URL says it: `view.sort`. */
import type { AllocationKey, CallSiteKey } from '../../../device/lists/allocation-list-types.ts';
import type { Sort } from '../../../state/view-store.ts';

/** Each allocation a row, or each site. */
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

/** What a site's columns are called in `view.sort`. */
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

/** The default, also for an order in a link that does not exist: largest allocations first. */
export const LARGEST_FIRST: Sort = { key: 'size', descending: true };
export const SITES_AT_PEAK: Sort = { key: 'sitePeak', descending: true };

export function orderOf(sort: Sort | undefined): ListOrder {
  const { key, descending: isDescending } = sort ?? LARGEST_FIRST;
  const site = Object.hasOwn(SITE_KEYS, key) ? SITE_KEYS[key] : undefined;
  if (site !== undefined) return { of: 'sites', key: site.key, isDescending };
  if (isAllocationKey(key)) return { of: 'allocations', key, isDescending };
  return { of: 'allocations', key: 'size', isDescending: true };
}

/** A click on a column header: its default direction, then the opposite. */
export function sortedBy(column: string, now: Sort): Sort {
  if (now.key === column) return { key: column, descending: !now.descending };
  const first = isAllocationKey(column) ? ALLOCATION_KEYS[column] : SITE_KEYS[column]?.first;
  return { key: column, descending: first === 'down' };
}

function isAllocationKey(key: string): key is AllocationKey {
  return Object.hasOwn(ALLOCATION_KEYS, key);
}
