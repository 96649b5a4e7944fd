/** The allocations table, and its grouping by call site. Rows are counted from 0. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { LruCache } from '../../base/collections.ts';
import {
  type AllocationKey,
  type AllocationRow,
  allocationRow,
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
import { callSiteTable } from '../../device/model/call-sites.ts';
import { dependsOnCursor } from '../../device/search/parse-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { queryHandlers } from '../queries.ts';

/** Which rows, in which order; the same for all pages of a table. */
export interface ListRequest {
  readonly of: 'allocations' | 'sites';
  readonly search: string;
  /** The cursor; undefined means states at the end. */
  readonly at: EventIndex | undefined;
  /** One of the list's own. */
  readonly key: AllocationKey | CallSiteKey;
  readonly isDescending: boolean;
  /** The unit of lifetimes. */
  readonly clock: Clock;
}

/** Rows `from` <= i < `to`. */
export interface PageRequest extends ListRequest {
  readonly from: number;
  readonly to: number;
}

export const allocationListHandlers = queryHandlers({
  listCount: async (device, request: ListRequest) => (await listOf(device, request)).order.length,
  /** The row of an allocation, or of its site; -1 if the list has none. */
  listPlace: async (
    device,
    { allocation, ...request }: ListRequest & { readonly allocation: AllocationIndex },
  ) => (await listOf(device, request)).place(allocation),
  async listRows(device, { from, to, ...request }: PageRequest) {
    const { order, rows } = await listOf(device, request);
    return rows(order.subarray(from, to), request.at);
  },
  async listTsv(device, { from, to, ...request }: PageRequest) {
    const { order, tsv } = await listOf(device, request);
    return tsv(order.subarray(from, to), request.at);
  },
  sourceLines: ({ context }, { filename }: { readonly filename: string }) =>
    sourceLines(context, filename),
});

type Ids = Uint32Array;

interface List {
  readonly order: Ids;
  readonly place: (allocation: AllocationIndex) => number;
  readonly rows: (ids: Ids, at: ListRequest['at']) => AllocationRow[] | CallSiteRow[];
  readonly tsv: (ids: Ids, at: ListRequest['at']) => string;
}

/** Enough to sort one way, back, and by one more column: 4 bytes a row each. */
const CACHED_LISTS = 3;
const cachedLists = () => new LruCache<List>(CACHED_LISTS);

async function listOf(device: OpenDevice, request: ListRequest): Promise<List> {
  const { search, at, key } = request;
  const { mask } = await device.matches(search, at);
  const state = dependsOnCursor(search) || key === 'state' ? at : undefined;
  const name = JSON.stringify([state, { ...request, at: undefined }]);
  const create = request.of === 'sites' ? siteList : allocationList;
  return device.once(cachedLists).getOrMake(name, () => create(device, mask, request));
}

function allocationList(
  device: OpenDevice,
  mask: Uint8Array | undefined,
  { key, ...options }: ListRequest,
): List {
  const { context } = device;
  const order = orderAllocations(context, mask, { ...options, key: key as AllocationKey });
  const rows = (ids: Ids, at: ListRequest['at']) => {
    const earlier = device.once(allocationUses);
    return Array.from(ids, (id) => allocationRow(context, earlier, id, at));
  };
  return {
    order,
    place: (allocation) => order.indexOf(allocation),
    rows,
    tsv: (ids, at) => allocationsTsv(rows(ids, at)),
  };
}

function siteList(
  device: OpenDevice,
  mask: Uint8Array | undefined,
  { key, isDescending }: ListRequest,
): List {
  const { context } = device;
  const table = callSiteTable(context, mask);
  const order = orderCallSites(context, table, key as CallSiteKey, isDescending);
  const rows = (ids: Ids) =>
    Array.from(ids, (row) => callSiteRow(context, device.once(allocationUses), table, row));
  return {
    order,
    place(allocation) {
      const stack = context.replay.allocations.stack[allocation];
      return stack === undefined ? -1 : order.indexOf(table.stack.indexOf(stack));
    },
    rows,
    tsv: (ids) => callSitesTsv(rows(ids)),
  };
}

/** The number in each allocation's label. Use with `OpenDevice.once`, so that all tables share it. */
export function allocationUses({ context }: OpenDevice): Int32Array {
  return earlierUses(context.replay.allocations);
}
