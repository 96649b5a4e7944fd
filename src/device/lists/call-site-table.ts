/** Allocations by their stack: which line of the program holds the memory. */

import { type AllocationIndex, BEFORE_TRACE, NEVER } from '../../allocator/replay/types.ts';
import { addTo } from '../../base/grouping.ts';
import { type FrameIndex, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { holderOf } from '../model/holders.ts';
import { type StackReader, stackKind } from '../model/stacks.ts';
import type { CallSiteKey, CallSiteLine, CallSiteRow } from './allocation-rows.ts';
import { orderByKeys } from './order-by-keys.ts';

/** A row a call site that some matching allocation has; those without any stack are one site. */
export interface CallSiteTable {
  readonly length: number;
  /** The site, see `StackReader.siteOf`. */
  readonly stack: Int32Array;
  readonly allocations: Float64Array;
  readonly preexisting: Float64Array;
  readonly totalBytes: Float64Array;
  /** Live at the peak of active bytes, and at the end. */
  readonly peakBytes: Float64Array;
  readonly endBytes: Float64Array;
  readonly endCount: Float64Array;
  /** Its largest allocation, the first of several. */
  readonly largest: Int32Array;
  /** Its first and last allocation, by start. */
  readonly first: Int32Array;
  readonly last: Int32Array;
}

/** One pass over the allocations of a mask (all without one). */
export function callSiteTable(
  { snapshot, replay, stacks }: DeviceModel,
  mask: Uint8Array | undefined,
): CallSiteTable {
  const { allocations, peaks } = replay;
  const { length, sizeBytes, start, end, preexisting } = allocations;
  const stack = allocations.stack.map((own) => stacks.siteOf(own));
  const peak = peaks.activeBytes.event;
  const rowOfStack = new Int32Array(snapshot.stacks.length - NO_STACK).fill(-1);
  const table = emptyTable(stacksIn(stack, mask, rowOfStack));
  for (let id = 0; id < length; id++) {
    if (mask !== undefined && mask[id] === 0) continue;
    const row = rowOfStack[stack[id] - NO_STACK];
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
  return table;
}

/** The sites of matching allocations in order of first use; fills in the row of each. */
function stacksIn(
  stack: Int32Array,
  mask: Uint8Array | undefined,
  rowOfStack: Int32Array,
): Int32Array {
  const found: StackIndex[] = [];
  for (let id = 0; id < stack.length; id++) {
    if (mask !== undefined && mask[id] === 0) continue;
    const at = stack[id] - NO_STACK;
    if (rowOfStack[at] < 0) rowOfStack[at] = found.push(stack[id]) - 1;
  }
  return Int32Array.from(found);
}

function emptyTable(stack: Int32Array): CallSiteTable {
  const { length } = stack;
  const figures = () => new Float64Array(length);
  const ids = () => new Int32Array(length);
  return {
    length,
    stack,
    allocations: figures(),
    preexisting: figures(),
    totalBytes: figures(),
    peakBytes: figures(),
    endBytes: figures(),
    endCount: figures(),
    largest: ids(),
    first: ids(),
    last: ids(),
  };
}

/** Rows of the table, sorted; equal ones in order of first use. Sites without a line last. */
export function orderCallSites(
  context: DeviceModel,
  table: CallSiteTable,
  key: CallSiteKey,
  isDescending: boolean,
): Uint32Array {
  const sortedBy = sortValue(context, table, key);
  return orderByKeys(
    Float64Array.from({ length: table.length }, (_, row) => sortedBy(row)),
    isDescending,
  );
}

function sortValue(
  context: DeviceModel,
  table: CallSiteTable,
  key: CallSiteKey,
): (row: number) => number {
  const { sizeBytes, start } = context.replay.allocations;
  switch (key) {
    case 'site': {
      const places = callSiteOrder(context, table.stack);
      return (row) => places[table.stack[row] - NO_STACK];
    }
    case 'count':
      return (row) => table.allocations[row];
    case 'peak':
      return (row) => table.peakBytes[row];
    case 'live':
      return (row) => table.endBytes[row];
    case 'total':
      return (row) => table.totalBytes[row];
    case 'largest':
      return (row) => sizeBytes[table.largest[row]];
    case 'first':
      return (row) => start[table.first[row]];
    case 'last':
      return (row) => start[table.last[row]];
  }
}

/** What a table says of a site. `earlier`: `earlierUses`, for the label. */
export function callSiteRow(
  context: DeviceModel,
  earlier: Int32Array,
  table: CallSiteTable,
  row: number,
): CallSiteRow {
  const { snapshot, trace, replay, stacks } = context;
  const { address, sizeBytes, start } = replay.allocations;
  const largest: AllocationIndex = table.largest[row];
  const firstEvent = start[table.first[row]];
  const lastEvent = start[table.last[row]];
  return {
    label: `b${snapshot.addresses.toHex(address[largest])}_${earlier[largest]}`,
    largest,
    allocations: table.allocations[row],
    preexisting: table.preexisting[row],
    totalBytes: table.totalBytes[row],
    peakBytes: table.peakBytes[row],
    endBytes: table.endBytes[row],
    endCount: table.endCount[row],
    largestBytes: sizeBytes[largest],
    firstEvent,
    lastEvent,
    firstUs: timeOfEventUs(trace.events, firstEvent),
    lastUs: timeOfEventUs(trace.events, lastEvent),
    line: callSiteLine(stacks, table.stack[row], lastEvent === BEFORE_TRACE),
    holder: (holderOf(context, largest) ?? holderOf(context, table.last[row]))?.owner.name,
  };
}

/**
 * The line of a stack's call site: the same for all ways through C++ that its line took.
 * `isFromBefore`: of allocations from before the trace, see `stackKind`.
 */
export function callSiteLine(
  stacks: StackReader,
  stack: StackIndex,
  isFromBefore: boolean,
): CallSiteLine {
  const site = stacks.siteOf(stack);
  return {
    stackKind: stackKind(site, isFromBefore),
    topFrame: stacks.topUserFrameView(site),
    leafFrame: stacks.leafFrameView(site),
  };
}

/**
 * By stack + 1: the place of the stack's line (its innermost user frame) among those of all given
 * stacks, by file, line and function; NaN for stacks without a line.
 */
export function callSiteOrder(
  { snapshot, stacks }: DeviceModel,
  column: ArrayLike<StackIndex>,
): Float64Array {
  const order = new Float64Array(snapshot.stacks.length + 1).fill(Number.NaN);
  const isSeen = new Uint8Array(order.length);
  const byFrame = new Map<FrameIndex, StackIndex[]>();
  for (let i = 0; i < column.length; i++) {
    const stack = column[i];
    if (isSeen[stack + 1] === 1) continue;
    isSeen[stack + 1] = 1;
    const frame = stacks.topUserFrame(stack);
    if (frame !== undefined) addTo(byFrame, frame, stack);
  }
  const lines = [...byFrame].map(([frame, same]) => ({ ...stacks.frame(frame), same }));
  lines.sort(
    (a, b) => compareText(a.filename, b.filename) || a.line - b.line || compareText(a.name, b.name),
  );
  lines.forEach(({ same }, place) => {
    for (const stack of same) order[stack + 1] = place;
  });
  return order;
}

/** The same in every locale. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
