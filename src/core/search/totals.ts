import type { DeviceContext } from '../device/device-context.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { SearchMatches } from './types.ts';
import { lastState } from './value-masks.ts';

export type MatchTotals = Pick<
  SearchMatches,
  'count' | 'blockBytes' | 'requestedBytes' | 'requestedUnknown' | 'peakBytes' | 'endBytes'
>;

/** What the allocations of a mask (all without one) add up to. */
export function totalsOf(context: DeviceContext, mask: Uint8Array | undefined): MatchTotals {
  const { allocations, peaks } = context.replay;
  const { length, sizeBytes, requestedBytes: requested } = allocations;
  const totals = { count: 0, blockBytes: 0, requestedBytes: 0, requestedUnknown: 0 };
  for (let id = 0; id < length; id++) {
    if (mask !== undefined && mask[id] === 0) continue;
    totals.count++;
    totals.blockBytes += sizeBytes[id];
    if (Number.isNaN(requested[id])) totals.requestedUnknown++;
    else totals.requestedBytes += requested[id];
  }
  return {
    ...totals,
    peakBytes: liveBytesAt(context, mask, peaks.activeBytes.event),
    endBytes: liveBytesAt(context, mask, lastState(context)),
  };
}

/** Block bytes of those in the mask (all without one) that are there after an event, pending ones too. */
export function liveBytesAt(
  { replay }: DeviceContext,
  mask: Uint8Array | undefined,
  event: EventIndex,
): number {
  const { length, sizeBytes, start, end } = replay.allocations;
  let bytes = 0;
  // Allocations come by start: none behind the first that is yet to come is live.
  for (let id = 0; id < length && start[id] <= event; id++) {
    if (event < end[id] && (mask === undefined || mask[id] === 1)) bytes += sizeBytes[id];
  }
  return bytes;
}
