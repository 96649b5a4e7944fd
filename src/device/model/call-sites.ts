/** Allocations by call site: which source line holds the memory. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { createTable, type TableOf, type TableSchema } from '../../base/table.ts';
import { EMPTY_STACK, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
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

/** The site of all blocks from before the trace that have no stack, which differ from those of a thread without Python. */
const FROM_BEFORE = NO_STACK - 1;

type Source = Pick<DeviceModel, 'snapshot' | 'replay' | 'stacks'>;

/** An allocation's site: see `StackReader.siteOf`, or {@link FROM_BEFORE}. */
export function siteOfAllocation({ replay, stacks }: Source, id: AllocationIndex): number {
  const { stack, preexisting } = replay.allocations;
  const site = stacks.siteOf(stack[id]);
  return id < preexisting && site <= EMPTY_STACK ? FROM_BEFORE : site;
}

/** One row per call site with a matching allocation; allocations without a stack for the same reason share one site. */
export interface CallSiteTable extends TableOf<typeof CALL_SITE_COLUMNS> {
  /** The row of a site; -1 if the table has none. */
  readonly rowOf: (site: number) => number;
}

/** One pass over a mask's allocations (all without one). */
export function callSiteTable(source: Source, mask?: Uint8Array): CallSiteTable {
  const { allocations, peaks } = source.replay;
  const { length, sizeBytes, start, end, freeRequested, preexisting } = allocations;
  const site = allocations.stack.map((_, id) => siteOfAllocation(source, id));
  const peak = peaks.activeBytes.event;
  const rows = new Int32Array(source.snapshot.stacks.length - FROM_BEFORE).fill(-1);
  const rowOf = (own: number): number => rows[own - FROM_BEFORE];
  const sites: StackIndex[] = [];
  for (let id = 0; id < length; id++) {
    if (mask?.[id] !== 0 && rowOf(site[id]) < 0)
      rows[site[id] - FROM_BEFORE] = sites.push(Math.max(NO_STACK, site[id])) - 1;
  }
  const table = createTable(CALL_SITE_COLUMNS, sites.length);
  table.stack.set(sites);
  for (let id = 0; id < length; id++) {
    if (mask?.[id] === 0) continue;
    const row = rowOf(site[id]);
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
    // What waits for a stream has been freed.
    if (freeRequested[id] !== NEVER) continue;
    table.endBytes[row] += bytes;
    table.endCount[row]++;
  }
  return { ...table, rowOf };
}

/** All allocations of that call site. */
export function callSiteInfo(table: CallSiteTable, site: number) {
  const row = table.rowOf(site);
  const total = (column: Float64Array) => (row < 0 ? 0 : column[row]);
  return {
    allocations: total(table.allocations),
    totalBytes: total(table.totalBytes),
    liveAtEnd: total(table.endCount),
    liveAtEndBytes: total(table.endBytes),
  };
}
