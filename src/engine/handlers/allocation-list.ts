/** Rows of the allocations table, and of its grouping by site. */

import type {
  AllocationKey,
  AllocationRow,
  SiteKey,
  SiteRow,
} from '../../core/lists/allocation-list-types.ts';
import { allocationRows } from '../../core/lists/allocation-rows.ts';
import { allocationsTsv, sitesTsv } from '../../core/lists/rows-tsv.ts';
import { siteRow } from '../../core/lists/site-table.ts';
import type { AllocationIndex } from '../../core/replay/types.ts';
import { AllocationLists, type ListRequest } from '../allocation-lists.ts';
import type { OpenDevice } from '../open-device.ts';
import type { Query, QueryHandlers } from '../queries.ts';

/** Rows from `from` to before `to`. */
interface Page {
  readonly from: number;
  readonly to: number;
}

interface Wanted {
  readonly allocation: AllocationIndex;
}

/** Rows are counted from 0. A place is the row of an allocation, or of its site; -1: not in the list. */
export interface AllocationListQueries {
  readonly allocationCount: Query<ListRequest<AllocationKey>, number>;
  readonly allocationPlace: Query<ListRequest<AllocationKey> & Wanted, number>;
  readonly allocationRows: Query<ListRequest<AllocationKey> & Page, readonly AllocationRow[]>;
  readonly allocationsTsv: Query<ListRequest<AllocationKey> & Page, string>;
  readonly siteCount: Query<ListRequest<SiteKey>, number>;
  readonly sitePlace: Query<ListRequest<SiteKey> & Wanted, number>;
  readonly siteRows: Query<ListRequest<SiteKey> & Page, readonly SiteRow[]>;
  readonly sitesTsv: Query<ListRequest<SiteKey> & Page, string>;
}

export const allocationListHandlers: QueryHandlers<AllocationListQueries> = {
  allocationCount: (device, request) => device.once(listsOf).allocations(request).length,
  allocationPlace: (device, request) => device.once(listsOf).placeOf(request, request.allocation),
  allocationRows: rowsOf,
  allocationsTsv: (device, request) => allocationsTsv(rowsOf(device, request)),
  siteCount: (device, request) => device.once(listsOf).sites(request).order.length,
  sitePlace: (device, request) => device.once(listsOf).placeOfSite(request, request.allocation),
  siteRows: siteRowsOf,
  sitesTsv: (device, request) => sitesTsv(siteRowsOf(device, request)),
};

const listsOf = (device: OpenDevice): AllocationLists => new AllocationLists(device);

function rowsOf(device: OpenDevice, request: ListRequest<AllocationKey> & Page): AllocationRow[] {
  const lists = device.once(listsOf);
  const ids = lists.allocations(request).subarray(request.from, request.to);
  return allocationRows(device.context, lists.earlier, ids, request.at);
}

function siteRowsOf(device: OpenDevice, request: ListRequest<SiteKey> & Page): SiteRow[] {
  const lists = device.once(listsOf);
  const { table, order } = lists.sites(request);
  return Array.from(order.subarray(request.from, request.to), (row) =>
    siteRow(device.context, lists.earlier, table, row),
  );
}
