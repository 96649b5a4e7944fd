/** Rows of the allocations table, and of its grouping by site. Rows are counted from 0. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { LruCache } from '../../base/collections.ts';
import {
  type AllocationKey,
  type AllocationRow,
  allocationRows,
  type Clock,
  orderAllocations,
} from '../../device/lists/allocation-rows.ts';
import {
  type CallSiteKey,
  type CallSiteRow,
  callSiteRow,
  orderCallSites,
} from '../../device/lists/call-site-table.ts';
import { allocationsTsv, callSitesTsv } from '../../device/lists/rows-text.ts';
import { sourceLines } from '../../device/lists/source-lines.ts';
import { earlierUses } from '../../device/model/allocation-labels.ts';
import { type CallSiteTable, callSiteTable } from '../../device/model/call-sites.ts';
import { dependsOnCursor } from '../../device/search/parse-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { queryHandlers } from '../queries.ts';

/** Which rows, in which order; the same for all pages of a table. */
export interface ListRequest<Key> {
  readonly search: string;
  /** The cursor; undefined means states at the end. */
  readonly at: EventIndex | undefined;
  readonly key: Key;
  readonly isDescending: boolean;
  /** The unit of lifetimes. */
  readonly clock: Clock;
}

/** Rows `from` <= i < `to`. */
export interface PageRequest<Key> extends ListRequest<Key> {
  readonly from: number;
  readonly to: number;
}

export interface RowRequest<Key> extends ListRequest<Key> {
  readonly allocation: AllocationIndex;
}

export const allocationListHandlers = queryHandlers({
  allocationCount: async (device, request: ListRequest<AllocationKey>) =>
    (await orderOf(device, request)).length,
  /** -1 if the list does not have the allocation. */
  allocationRowIndex: async (device, request: RowRequest<AllocationKey>) =>
    (await orderOf(device, request)).indexOf(request.allocation),
  allocationRows: rowsOf,
  sourceLines: ({ context }, { filename }: { readonly filename: string }) =>
    sourceLines(context, filename),
  allocationsTsv: async (device, request: PageRequest<AllocationKey>) =>
    allocationsTsv(await rowsOf(device, request)),
  callSiteCount: async (device, request: ListRequest<CallSiteKey>) =>
    (await sitesOf(device, request)).order.length,
  /** The row of the allocation's site; -1 if the list has none with its stack. */
  async callSiteRowIndex(device, request: RowRequest<CallSiteKey>) {
    const { table, order } = await sitesOf(device, request);
    const stack = device.context.replay.allocations.stack[request.allocation];
    return stack === undefined ? -1 : order.indexOf(table.stack.indexOf(stack));
  },
  callSiteRows: siteRowsOf,
  callSitesTsv: async (device, request: PageRequest<CallSiteKey>) =>
    callSitesTsv(await siteRowsOf(device, request)),
});

async function rowsOf(
  device: OpenDevice,
  request: PageRequest<AllocationKey>,
): Promise<AllocationRow[]> {
  const ids = (await orderOf(device, request)).subarray(request.from, request.to);
  return allocationRows(device.context, device.once(allocationUses), ids, request.at);
}

async function siteRowsOf(
  device: OpenDevice,
  request: PageRequest<CallSiteKey>,
): Promise<CallSiteRow[]> {
  const { table, order } = await sitesOf(device, request);
  const earlier = device.once(allocationUses);
  return Array.from(order.subarray(request.from, request.to), (row) =>
    callSiteRow(device.context, earlier, table, row),
  );
}

interface Sites {
  readonly table: CallSiteTable;
  readonly order: Uint32Array;
}

/** Enough to sort one way, back, and by one more column. */
const CACHED_LISTS = 3;

/** A device's latest sorted lists, 4 bytes a row each. */
const listsOf = () => ({
  orders: new LruCache<Uint32Array>(CACHED_LISTS),
  sites: new LruCache<Sites>(CACHED_LISTS),
});

async function orderOf(
  device: OpenDevice,
  request: ListRequest<AllocationKey>,
): Promise<Uint32Array> {
  const { search, at, key, isDescending, clock } = request;
  const { mask } = await device.matches(search, at);
  const state = dependsOnCursor(search) || key === 'state' ? at : undefined;
  const name = JSON.stringify([search, state, key, isDescending, clock]);
  const options = { key, isDescending, clock, at };
  const { orders } = device.once(listsOf);
  return orders.getOrMake(name, () => orderAllocations(device.context, mask, options));
}

async function sitesOf(device: OpenDevice, request: ListRequest<CallSiteKey>): Promise<Sites> {
  const { search, at, key, isDescending } = request;
  const { mask } = await device.matches(search, at);
  const state = dependsOnCursor(search) ? at : undefined;
  const name = JSON.stringify([search, state, key, isDescending]);
  return device.once(listsOf).sites.getOrMake(name, () => {
    const table = callSiteTable(device.context, mask);
    return { table, order: orderCallSites(device.context, table, key, isDescending) };
  });
}

/** The number in each allocation's label. Use with `OpenDevice.once`, so that all tables share it. */
export function allocationUses({ context }: OpenDevice): Int32Array {
  return earlierUses(context.replay.allocations);
}
