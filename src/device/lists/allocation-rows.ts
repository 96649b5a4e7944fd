import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import { classAt } from '../classes/types.ts';
import { privatePoolText, streamText } from '../model/allocation-details.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { holderOf } from '../model/holders.ts';
import type { AllocationRow, Clock, StateAt } from './allocation-list-types.ts';
import { callSiteLine } from './call-site-table.ts';

/**
 * What a table says of some allocations. `earlier`: how often each address was used before
 * (`earlierUses`), for their labels. `cursor`: where states are taken, undefined the end.
 */
export function allocationRows(
  context: DeviceModel,
  earlier: Int32Array,
  ids: Iterable<AllocationIndex>,
  cursor: EventIndex | undefined,
): AllocationRow[] {
  return Array.from(ids, (id) => rowOf(context, earlier, id, cursor));
}

function rowOf(
  context: DeviceModel,
  earlier: Int32Array,
  id: AllocationIndex,
  cursor: EventIndex | undefined,
): AllocationRow {
  const { snapshot, trace, replay, stacks } = context;
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
    lifeEvents: lifetimeOf(context, id, 'events'),
    lifeUs: lifetimeOf(context, id, 'us'),
    isLifeLonger: isPreexisting || table.end[id] >= trace.events.length,
    state: stateOf(context, id, cursor),
    stream: streamText(trace.streams[table.stream[id]]),
    pool: privatePool === undefined ? pool : `${pool} ${privatePool}`,
    line: callSiteLine(stacks, table.stack[id], isPreexisting),
    class: classAt(classify(context), id).id,
    holder: holderOf(context, id)?.name,
  };
}

/**
 * How long the trace shows an allocation: "state t" spans t to t + 1, so what is not freed reaches to the
 * number of events, and what was there before begins at 0. In time: from the first to the last event.
 * NaN without events, and in time without times: nothing was seen to live.
 */
export function lifetimeOf(
  { replay, trace }: DeviceModel,
  id: AllocationIndex,
  clock: Clock,
): number {
  const { start, end } = replay.allocations;
  const from = Math.max(0, start[id]);
  const { length, timeUs } = trace.events;
  if (length === 0) return Number.NaN;
  if (clock === 'events') return Math.min(end[id], length) - from;
  if (timeUs === undefined) return Number.NaN;
  return timeUs[Math.min(end[id], length - 1)] - timeUs[from];
}

/** `cursor`: the event after which the state is taken; undefined: the end. */
export function stateOf(
  { replay, trace }: DeviceModel,
  id: AllocationIndex,
  cursor: EventIndex | undefined,
): StateAt {
  const { start, freeRequested, end } = replay.allocations;
  const last = trace.events.length - 1;
  const at = Math.min(cursor ?? last, last);
  if (start[id] > at) return 'later';
  if (end[id] <= at) return 'freed';
  return freeRequested[id] <= at ? 'pending' : 'live';
}
