import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import { MEMORY_CLASS_ORDER, MEMORY_CLASSES } from '../classes/types.ts';
import { privatePoolText, streamText } from '../model/allocation-details.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { holderRows } from '../model/holders.ts';
import type { AllocationKey, Clock, StateAt } from './allocation-list-types.ts';
import { lifetimeOf, stateOf } from './allocation-rows.ts';
import { callSiteOrder } from './call-site-table.ts';
import { orderByKeys, upTo } from './order-by-keys.ts';

export interface AllocationOrder {
  readonly key: AllocationKey;
  readonly isDescending: boolean;
  /** What lifetimes and costs are counted in. */
  readonly clock: Clock;
  /** The cursor, for states; undefined: the end. */
  readonly at: EventIndex | undefined;
}

/** The allocations of a mask (all without one), sorted; equal ones by their alloc event. Unknown values last. */
export function orderAllocations(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  order: AllocationOrder,
): Uint32Array {
  const ids = matching(context.replay.allocations.length, mask);
  const sortedBy = sortValue(context, order);
  const keys = new Float64Array(ids.length);
  for (let i = 0; i < keys.length; i++) keys[i] = sortedBy(ids[i]);
  const places = orderByKeys(keys, order.isDescending);
  for (let i = 0; i < places.length; i++) places[i] = ids[places[i]];
  return places;
}

function matching(length: number, mask: Uint8Array | undefined): Uint32Array {
  if (mask === undefined) return upTo(length);
  let count = 0;
  for (let id = 0; id < length; id++) count += mask[id];
  const ids = new Uint32Array(count);
  let next = 0;
  for (let id = 0; id < length; id++) if (mask[id] === 1) ids[next++] = id;
  return ids;
}

const CLASS_ORDER: readonly number[] = MEMORY_CLASS_ORDER;
const STATE_ORDER: Readonly<Record<StateAt, number>> = { live: 0, pending: 1, freed: 2, later: 3 };

/** What an allocation is sorted by. */
function sortValue(
  context: DeviceModel,
  { key, clock, at }: AllocationOrder,
): (id: AllocationIndex) => number {
  const { replay, trace } = context;
  const { allocations } = replay;
  switch (key) {
    case 'address':
      return (id) => allocations.address[id];
    case 'size':
      return (id) => allocations.sizeBytes[id];
    case 'requested':
      return (id) => allocations.requestedBytes[id];
    case 'waste':
      return (id) => allocations.sizeBytes[id] - allocations.requestedBytes[id];
    case 'lifetime':
      return (id) => lifetimeOf(context, id, clock);
    case 'cost':
      return (id) => lifetimeOf(context, id, clock) * allocations.sizeBytes[id];
    case 'start':
      return (id) => allocations.start[id];
    case 'end':
      return (id) => allocations.end[id];
    case 'state':
      return (id) => STATE_ORDER[stateOf(context, id, at)];
    case 'stream': {
      const places = textOrder(trace.streams.map(streamText));
      return (id) => places[allocations.stream[id]];
    }
    case 'pool': {
      const places = textOrder(trace.pools.map((pool) => privatePoolText(pool) ?? ''));
      return (id) => places[allocations.pool[id]] * 2 + allocations.isSmall[id];
    }
    case 'class': {
      const { classOf } = classify(context);
      const places = Uint8Array.from(MEMORY_CLASSES, (_, of) => CLASS_ORDER.indexOf(of));
      return (id) => places[classOf[id]];
    }
    case 'holder': {
      const { holders, strings } = context.snapshot;
      const rows = holderRows(context);
      if (holders === undefined || rows === undefined) return () => Number.NaN;
      const places = ranks(Array.from(holders.name, (row) => strings.get(row)));
      return (id) => (rows[id] < 0 ? Number.NaN : places[rows[id]]);
    }
    case 'site': {
      const places = callSiteOrder(context, allocations.stack);
      return (id) => places[allocations.stack[id] + 1];
    }
  }
}

/** The same for texts that are many. */
function ranks(texts: readonly string[]): Float64Array {
  const places = new Float64Array(texts.length);
  const sorted = upTo(texts.length).sort((a, b) => (texts[a] < texts[b] ? -1 : 1));
  for (const [place, row] of sorted.entries()) places[row] = place;
  return places;
}

/** The place of each text among them all, sorted. */
function textOrder(texts: readonly string[]): readonly number[] {
  const sorted = [...texts].sort();
  return texts.map((text) => sorted.indexOf(text));
}
