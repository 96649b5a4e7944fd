/** Allocations by call site: which source line holds the memory. */

import { NEVER } from '../../allocator/replay/types.ts';
import { createTable, type TableOf, type TableSchema } from '../../base/table.ts';
import { NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from './device-model.ts';

const CALL_SITE_COLUMNS = {
  /** The site, see `StackReader.siteOf`. */
  stack: { type: 'i32' },
  allocations: { type: 'f64' },
  preexisting: { type: 'f64' },
  totalBytes: { type: 'f64' },
  /** Live at the peak of active bytes, and at the end. */
  peakBytes: { type: 'f64' },
  endBytes: { type: 'f64' },
  endCount: { type: 'f64' },
  /** Its largest allocation; the first if several tie. */
  largest: { type: 'i32' },
  /** Its first and last allocation, by start. */
  first: { type: 'i32' },
  last: { type: 'i32' },
} as const satisfies TableSchema;

/** One row per call site with a matching allocation; allocations without a stack share one site. */
export interface CallSiteTable extends TableOf<typeof CALL_SITE_COLUMNS> {
  /** Index: site + 1; -1 for a stack that is no such site. */
  readonly rowOf: Int32Array;
}

/** One pass over a mask's allocations (all without one). */
export function callSiteTable(
  { snapshot, replay, stacks }: Pick<DeviceModel, 'snapshot' | 'replay' | 'stacks'>,
  mask?: Uint8Array,
): CallSiteTable {
  const { allocations, peaks } = replay;
  const { length, sizeBytes, start, end, preexisting } = allocations;
  const stack = allocations.stack.map((own) => stacks.siteOf(own));
  const peak = peaks.activeBytes.event;
  const rowOf = new Int32Array(snapshot.stacks.length - NO_STACK).fill(-1);
  const sites: StackIndex[] = [];
  for (let id = 0; id < length; id++) {
    const at = stack[id] - NO_STACK;
    if (mask?.[id] !== 0 && rowOf[at] < 0) rowOf[at] = sites.push(stack[id]) - 1;
  }
  const table = createTable(CALL_SITE_COLUMNS, sites.length);
  table.stack.set(sites);
  for (let id = 0; id < length; id++) {
    if (mask?.[id] === 0) continue;
    const row = rowOf[stack[id] - NO_STACK];
    const bytes = sizeBytes[id];
    if (table.allocations[row]++ === 0) {
      table.first[row] = id;
      table.largest[row] = id;
    }
    table.last[row] = id;
    table.totalBytes[row] += bytes;
    if (id < preexisting) table.preexisting[row]++;
    if (bytes > sizeBytes[table.largest[row]]) table.largest[row] = id;
    if (start[id] <= peak && peak < end[id]) table.peakBytes[row] += bytes;
    if (end[id] !== NEVER) continue;
    table.endBytes[row] += bytes;
    table.endCount[row]++;
  }
  return { ...table, rowOf };
}

/** All allocations of that call site; those without a stack count as one site. */
export function callSiteInfo(table: CallSiteTable, site: StackIndex) {
  const row = table.rowOf[site - NO_STACK];
  const total = (column: Float64Array) => (row < 0 ? 0 : column[row]);
  return {
    allocations: total(table.allocations),
    totalBytes: total(table.totalBytes),
    liveAtEnd: total(table.endCount),
    liveAtEndBytes: total(table.endBytes),
  };
}
