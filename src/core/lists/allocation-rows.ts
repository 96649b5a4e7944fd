import { privatePoolText, streamText } from '../device/allocation-details.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { timeOfEventUs } from '../device/event-times.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AllocationRow } from './allocation-list-types.ts';
import { Lifetimes } from './lifetimes.ts';
import { callSiteLine } from './site-line.ts';

/**
 * What a table says of some allocations. `earlier`: how often each address was used before
 * (`earlierUses`), for their labels. `cursor`: where states are taken, undefined the end.
 */
export function allocationRows(
  context: DeviceContext,
  earlier: Int32Array,
  ids: Iterable<AllocationIndex>,
  cursor: EventIndex | undefined,
): AllocationRow[] {
  const lifetimes = new Lifetimes(context);
  return Array.from(ids, (id) => rowOf(context, lifetimes, earlier, id, cursor));
}

function rowOf(
  { snapshot, trace, replay, stacks }: DeviceContext,
  lifetimes: Lifetimes,
  earlier: Int32Array,
  id: AllocationIndex,
  cursor: EventIndex | undefined,
): AllocationRow {
  const table = replay.allocations;
  const isPreexisting = id < table.preexisting;
  const pool = table.isSmall[id] === 1 ? 'small' : 'large';
  const privatePool = privatePoolText(trace.pools[table.pool[id]]);
  return {
    allocation: id,
    label: `b${snapshot.addresses.toHex(table.address[id])}_${earlier[id]}`,
    blockBytes: table.sizeBytes[id],
    requestedBytes: table.requestedBytes[id],
    wasteBytes: table.sizeBytes[id] - table.requestedBytes[id],
    startEvent: table.start[id],
    endEvent: table.end[id],
    startUs: timeOfEventUs(trace.events, table.start[id]),
    endUs: timeOfEventUs(trace.events, table.end[id]),
    lifeEvents: lifetimes.lifetime(id, 'events'),
    lifeUs: lifetimes.lifetime(id, 'us'),
    isLifeLonger: isPreexisting || table.end[id] >= trace.events.length,
    state: lifetimes.stateAt(id, cursor),
    stream: streamText(trace.streams[table.stream[id]]),
    pool: privatePool === undefined ? pool : `${pool} ${privatePool}`,
    line: callSiteLine(stacks, table.stack[id], isPreexisting),
  };
}
