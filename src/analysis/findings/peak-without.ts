/** The highest allocated bytes, had some blocks never been there: counted again over all events. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { TraceAction } from '../../format/snapshot/tables.ts';
import type { DeviceTables } from './types.ts';

export function peakWithout(
  { replay, trace }: DeviceTables,
  left: Iterable<AllocationIndex>,
): number {
  const { allocations: table, allocationOfEvent, start } = replay;
  const { action } = trace.events;
  const isLeftOut = new Uint8Array(table.length);
  let bytes = start.allocatedBytes;
  for (const id of left) {
    isLeftOut[id] = 1;
    if (table.start[id] < 0) bytes -= table.sizeBytes[id];
  }
  let highest = bytes;
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (id < 0 || isLeftOut[id] === 1) continue;
    if (action[t] === TraceAction.Alloc) bytes += table.sizeBytes[id];
    else if (action[t] === TraceAction.FreeRequested) bytes -= table.sizeBytes[id];
    if (bytes > highest) highest = bytes;
  }
  return highest;
}
