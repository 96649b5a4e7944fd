/** Call sites as table rows: contents and sort orders. */

import { type AllocationIndex, BEFORE_TRACE } from '../../allocator/replay/types.ts';
import { addTo } from '../../base/collections.ts';
import { type FrameIndex, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import { earlierUses, labelText } from '../model/allocation-labels.ts';
import { type CallSiteTable, callSiteTable, siteOfAllocation } from '../model/call-sites.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { holderOf } from '../model/holders.ts';
import { type NearFrame, siteNames } from '../model/site-names.ts';
import { callSiteLine } from '../model/stacks.ts';
import { compareText, orderByKeys, upTo } from './order-by-keys.ts';

export type CallSiteKey = keyof typeof SORTED_BY;

/** Sorted rows of the table; ties in order of first use. Sites without a line last. */
export function orderCallSites(
  context: DeviceModel,
  table: CallSiteTable,
  key: CallSiteKey,
  isDescending: boolean,
): Uint32Array {
  const sortedBy = SORTED_BY[key](table, context);
  return orderByKeys(Float64Array.from(upTo(table.length), sortedBy), isDescending);
}

/** The call sites of a mask's allocations (all without one) as the lines of a table, like `allocationList`. */
export function callSiteList(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  key: CallSiteKey,
  isDescending: boolean,
) {
  const table = callSiteTable(context, mask);
  const order = orderCallSites(context, table, key, isDescending);
  return {
    length: order.length,
    lineOf(allocation: AllocationIndex) {
      const isKnown = allocation >= 0 && allocation < context.replay.allocations.length;
      return isKnown ? order.indexOf(table.rowOf(siteOfAllocation(context, allocation))) : -1;
    },
    rows: (from: number, to: number) =>
      Array.from(order.subarray(from, to), (row) => ({
        ...callSiteRow(context, table, row),
        near: placesOf(context, table.stack[row]),
      })),
  };
}

type SortedBy = (table: CallSiteTable, context: DeviceModel) => (row: number) => number;

const SORTED_BY = {
  site: (table, context) => {
    const places = callSiteOrder(context, table.stack);
    return (row) => places[table.stack[row] - NO_STACK];
  },
  count: (table) => (row) => table.allocations[row],
  peak: (table) => (row) => table.peakBytes[row],
  live: (table) => (row) => table.endBytes[row],
  total: (table) => (row) => table.totalBytes[row],
  largest:
    (table, { replay }) =>
    (row) =>
      replay.allocations.sizeBytes[table.largest[row]],
  first:
    (table, { replay }) =>
    (row) =>
      replay.allocations.start[table.first[row]],
  last:
    (table, { replay }) =>
    (row) =>
      replay.allocations.start[table.last[row]],
} as const satisfies Readonly<Record<string, SortedBy>>;

/** The places that tell a site from others of its line, as in legends; or else its nearest caller. */
function placesOf(context: DeviceModel, site: StackIndex): readonly NearFrame[] {
  const { stacks } = context;
  const telling = siteNames(context)[context.callSites().rowOf(site)]?.places ?? [];
  if (telling.length > 0) return telling.map(({ frame, isInner }) => ({ frame, isInner }));
  const nearest = stacks.callersOf(site).slice(0, 1);
  return nearest.map((frame) => ({ frame: stacks.frame(frame), isInner: false }));
}

/** As a list has it: with what is near it in its stack. */
export interface CallSiteRow extends ReturnType<typeof callSiteRow> {
  readonly near?: readonly NearFrame[];
}

export function callSiteRow(context: DeviceModel, table: CallSiteTable, row: number) {
  const { snapshot, trace, replay, stacks } = context;
  const { address, sizeBytes, start } = replay.allocations;
  const largest: AllocationIndex = table.largest[row];
  const firstEvent = start[table.first[row]];
  const lastEvent = start[table.last[row]];
  return {
    /** The site's name for `siteTerm`: the label of its largest allocation. */
    label: labelText(
      snapshot.addresses,
      address[largest],
      earlierUses(replay.allocations)[largest],
    ),
    largest,
    allocations: table.allocations[row],
    /** How many are from before the trace. */
    preexisting: table.preexisting[row],
    /** Sum over all lifetimes. */
    totalBytes: table.totalBytes[row],
    peakBytes: table.peakBytes[row],
    endBytes: table.endBytes[row],
    endCount: table.endCount[row],
    largestBytes: sizeBytes[largest],
    /** Start of the first and of the last; -1: before the trace. */
    firstEvent,
    lastEvent,
    firstUs: timeOfEventUs(trace.events, firstEvent),
    lastUs: timeOfEventUs(trace.events, lastEvent),
    line: callSiteLine(stacks, table.stack[row], lastEvent === BEFORE_TRACE),
    /** What holds its largest allocation at the end, or else its last one; undefined if unknown. */
    holder: (holderOf(context, largest) ?? holderOf(context, table.last[row]))?.owner.name,
  };
}

/**
 * At stack + 1: the rank of the stack's line (its innermost user frame) among the given stacks' lines, by file, line
 * and function; NaN without a line.
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
