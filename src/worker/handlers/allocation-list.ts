/** Rows of the allocations table, and of its grouping by site. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { LruCache } from '../../base/lru-cache.ts';
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
  type CallSiteTable,
  callSiteRow,
  callSiteTable,
  orderCallSites,
} from '../../device/lists/call-site-table.ts';
import { allocationsTsv, callSitesTsv } from '../../device/lists/rows-text.ts';
import { earlierUses } from '../../device/model/allocation-labels.ts';
import { dependsOnCursor } from '../../device/search/parse-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import type { DeviceRequest, Query, QueryHandlers } from '../queries.ts';

/** Rows `from` <= i < `to`. */
interface Page {
  readonly from: number;
  readonly to: number;
}

interface Wanted {
  readonly allocation: AllocationIndex;
}

/** Rows are counted from 0. A row index is -1 if the allocation, or its call site, is not in the list. */
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
  allocationCount: async (device, request) =>
    (await device.once(listsOf).allocations(request)).length,
  allocationRowIndex: async (device, request) =>
    (await device.once(listsOf).allocations(request)).indexOf(request.allocation),
  allocationRows: rowsOf,
  allocationsTsv: async (device, request) => allocationsTsv(await rowsOf(device, request)),
  callSiteCount: async (device, request) =>
    (await device.once(listsOf).sites(request)).order.length,
  callSiteRowIndex: (device, request) =>
    device.once(listsOf).callSiteRowIndex(request, request.allocation),
  callSiteRows: siteRowsOf,
  callSitesTsv: async (device, request) => callSitesTsv(await siteRowsOf(device, request)),
};

const listsOf = (device: OpenDevice): AllocationLists => new AllocationLists(device);

async function rowsOf(
  device: OpenDevice,
  request: ListRequest<AllocationKey> & Page,
): Promise<AllocationRow[]> {
  const lists = device.once(listsOf);
  const ids = (await lists.allocations(request)).subarray(request.from, request.to);
  return allocationRows(device.context, lists.earlier, ids, request.at);
}

async function siteRowsOf(
  device: OpenDevice,
  request: ListRequest<CallSiteKey> & Page,
): Promise<CallSiteRow[]> {
  const lists = device.once(listsOf);
  const { table, order } = await lists.sites(request);
  return Array.from(order.subarray(request.from, request.to), (row) =>
    callSiteRow(device.context, lists.earlier, table, row),
  );
}

/** Which rows, in which order; the same for all pages of a table. */
export interface ListRequest<Key> extends DeviceRequest {
  readonly search: string;
  /** The cursor; undefined means states at the end. */
  readonly at: EventIndex | undefined;
  readonly key: Key;
  readonly isDescending: boolean;
  /** The unit of lifetimes. */
  readonly clock: Clock;
}

interface Sites {
  readonly table: CallSiteTable;
  readonly order: Uint32Array;
}

/** Enough to sort one way, back, and by one more column. */
const CACHED_LISTS = 3;

/** A device's latest sorted lists, 4 bytes a row each. */
class AllocationLists {
  readonly #device: OpenDevice;
  readonly #orders = new LruCache<Uint32Array>(CACHED_LISTS);
  readonly #sites = new LruCache<Sites>(CACHED_LISTS);

  constructor(device: OpenDevice) {
    this.#device = device;
  }

  /** See `earlierUses`. */
  get earlier(): Int32Array {
    return this.#device.once(allocationUses);
  }

  async allocations(request: ListRequest<AllocationKey>): Promise<Uint32Array> {
    const { search, at, key, isDescending, clock } = request;
    const { mask } = await this.#device.matches(search, at);
    const state = dependsOnCursor(search) || key === 'state' ? at : undefined;
    const name = JSON.stringify([search, state, key, isDescending, clock]);
    const options = { key, isDescending, clock, at };
    return this.#orders.getOrMake(name, () =>
      orderAllocations(this.#device.context, mask, options),
    );
  }

  async sites(request: ListRequest<CallSiteKey>): Promise<Sites> {
    const { search, at, key, isDescending } = request;
    const { mask } = await this.#device.matches(search, at);
    const state = dependsOnCursor(search) ? at : undefined;
    const { context } = this.#device;
    return this.#sites.getOrMake(JSON.stringify([search, state, key, isDescending]), () => {
      const table = callSiteTable(context, mask);
      return { table, order: orderCallSites(context, table, key, isDescending) };
    });
  }

  /** The row of the allocation's site; -1 if the list has none with its stack. */
  async callSiteRowIndex(
    request: ListRequest<CallSiteKey>,
    allocation: AllocationIndex,
  ): Promise<number> {
    const { table, order } = await this.sites(request);
    const stack = this.#device.context.replay.allocations.stack[allocation];
    return stack === undefined ? -1 : order.indexOf(table.stack.indexOf(stack));
  }
}

/** The number in each allocation's label. Use with `OpenDevice.once`, so that all tables share it. */
export function allocationUses({ context }: OpenDevice): Int32Array {
  return earlierUses(context.replay.allocations);
}
