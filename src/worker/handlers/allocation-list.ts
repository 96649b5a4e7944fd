/** The allocations table, and its grouping by call site. Rows are counted from 0. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { LruCache } from '../../base/collections.ts';
import {
  type AllocationKey,
  type AllocationRow,
  allocationList,
  type Clock,
} from '../../device/lists/allocation-rows.ts';
import {
  type CallSiteKey,
  type CallSiteRow,
  callSiteList,
} from '../../device/lists/call-site-table.ts';
import { allocationsTsv, callSitesTsv } from '../../device/lists/rows-text.ts';
import { sourceLines } from '../../device/lists/source-lines.ts';
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
  listCount: async (device, request: ListRequest) => (await listOf(device, request)).length,
  /** The row of an allocation, or of its site; -1 if the list has none. */
  listPlace: async (
    device,
    { allocation, ...request }: ListRequest & { readonly allocation: AllocationIndex },
  ) => (await listOf(device, request)).lineOf(allocation),
  async listRows(device, { from, to, ...request }: PageRequest) {
    return (await listOf(device, request)).rows(from, to, request.at);
  },
  async listTsv(device, { from, to, ...request }: PageRequest) {
    const rows = (await listOf(device, request)).rows(from, to, request.at);
    return request.of === 'sites'
      ? callSitesTsv(rows as CallSiteRow[])
      : allocationsTsv(rows as AllocationRow[]);
  },
  sourceLines: ({ context }, { filename }: { readonly filename: string }) =>
    sourceLines(context, filename),
  /** The recorded text of a file, or why there is none. */
  sourceText({ context: { snapshot } }, { filename }: { readonly filename: string }) {
    const { files, missing } = snapshot.source ?? { files: [], missing: {} };
    return {
      text: files.find((file) => file.filename === filename),
      missing: Object.hasOwn(missing, filename) ? missing[filename] : undefined,
    };
  },
});

/** Enough to sort one way, back, and by one more column: 4 bytes a row each. */
const CACHED_LISTS = 3;
const cachedLists = () =>
  new LruCache<ReturnType<typeof allocationList | typeof callSiteList>>(CACHED_LISTS);

async function listOf(device: OpenDevice, request: ListRequest) {
  const { search, at, key, isDescending, clock } = request;
  const { mask } = await device.matches(search, at);
  const state = dependsOnCursor(search) || key === 'state' ? at : undefined;
  const name = JSON.stringify([state, { ...request, at: undefined }]);
  return device.once(cachedLists).getOrMake(name, () =>
    request.of === 'sites'
      ? callSiteList(device.context, mask, key as CallSiteKey, isDescending)
      : allocationList(device.context, mask, {
          key: key as AllocationKey,
          isDescending,
          clock,
          at,
        }),
  );
}
