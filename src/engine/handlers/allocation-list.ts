/** Rows of the allocations table, and of its grouping by site. */

import type {
  AllocationKey,
  AllocationRow,
  CallSiteKey,
  CallSiteRow,
} from '../../core/lists/allocation-list-types.ts';
import { allocationRows } from '../../core/lists/allocation-rows.ts';
import { allocationsTsv, callSitesTsv } from '../../core/lists/rows-tsv.ts';
import { callSiteRow } from '../../core/lists/site-table.ts';
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

/** Rows are counted from 0. A row index is -1 where the allocation, or its call site, is not in the list. */
export interface AllocationListQueries {
  readonly allocationCount: Query<ListRequest<AllocationKey>, number>;
  readonly allocationRowIndex: Query<ListRequest<AllocationKey> & Wanted, number>;
  readonly allocationRows: Query<ListRequest<AllocationKey> & Page, readonly AllocationRow[]>;
  readonly allocationsTsv: Query<ListRequest<AllocationKey> & Page, string>;
  readonly callSiteCount: Query<ListRequest<CallSiteKey>, number>;
  readonly callSiteRowIndex: Query<ListRequest<CallSiteKey> & Wanted, number>;
  readonly callSiteRows: Query<ListRequest<CallSiteKey> & Page, readonly CallSiteRow[]>;
  readonly callSitesTsv: Query<ListRequest<CallSiteKey> & Page, string>;
}

export const allocationListHandlers: QueryHandlers<AllocationListQueries> = {
  allocationCount: (device, request) => device.once(listsOf).allocations(request).length,
  allocationRowIndex: (device, request) =>
    device.once(listsOf).rowIndex(request, request.allocation),
  allocationRows: rowsOf,
  allocationsTsv: (device, request) => allocationsTsv(rowsOf(device, request)),
  callSiteCount: (device, request) => device.once(listsOf).sites(request).order.length,
  callSiteRowIndex: (device, request) =>
    device.once(listsOf).callSiteRowIndex(request, request.allocation),
  callSiteRows: siteRowsOf,
  callSitesTsv: (device, request) => callSitesTsv(siteRowsOf(device, request)),
};

const listsOf = (device: OpenDevice): AllocationLists => new AllocationLists(device);

function rowsOf(device: OpenDevice, request: ListRequest<AllocationKey> & Page): AllocationRow[] {
  const lists = device.once(listsOf);
  const ids = lists.allocations(request).subarray(request.from, request.to);
  return allocationRows(device.context, lists.earlier, ids, request.at);
}

function siteRowsOf(device: OpenDevice, request: ListRequest<CallSiteKey> & Page): CallSiteRow[] {
  const lists = device.once(listsOf);
  const { table, order } = lists.sites(request);
  return Array.from(order.subarray(request.from, request.to), (row) =>
    callSiteRow(device.context, lists.earlier, table, row),
  );
}
