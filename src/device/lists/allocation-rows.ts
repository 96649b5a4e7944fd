/** Allocations as table rows: contents and sort orders. Plain data, sent to the page. */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import { classAt, MEMORY_CLASS_ORDER, MEMORY_CLASSES, type MemoryClass } from '../classes/types.ts';
import { earlierUses, labelText, privatePoolText, streamText } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { holderOf, holderRows } from '../model/holders.ts';
import { callSiteLine } from '../model/stacks.ts';
import { callSiteOrder } from './call-site-table.ts';
import { compareText, orderByKeys, upTo } from './order-by-keys.ts';

/** The unit of times. */
export type Clock = 'events' | 'us';

/** 'later': allocated after the cursor. */
export type StateAt = keyof typeof STATE_ORDER;

export type AllocationRow = ReturnType<typeof allocationRow>;

/**
 * An allocation's table row. `cursor`: the event after which the state is taken; undefined for the end.
 */
export function allocationRow(
  context: DeviceModel,
  id: AllocationIndex,
  cursor: EventIndex | undefined,
) {
  const { snapshot, trace, replay, stacks } = context;
  const table = replay.allocations;
  const isPreexisting = id < table.preexisting;
  const pool = table.isSmall[id] === 1 ? 'small' : 'large';
  const privatePool = privatePoolText(trace.pools[table.pool[id]]);
  return {
    allocation: id,
    label: labelText(snapshot.addresses, table.address[id], earlierUses(table)[id]),
    blockBytes: table.sizeBytes[id],
    /** NaN if unknown; values derived from it are then NaN too. */
    requestedBytes: table.requestedBytes[id],
    /** Block bytes beyond the requested bytes. */
    wasteBytes: table.sizeBytes[id] - table.requestedBytes[id],
    /** -1: before the trace. */
    startEvent: table.start[id],
    /** Completion of the free; NEVER if still live at the end. */
    endEvent: table.end[id],
    /** Microseconds since the first event; NaN if unknown. */
    startUs: timeOfEventUs(trace.events, table.start[id]),
    endUs: timeOfEventUs(trace.events, table.end[id]),
    /** The part in the trace, see {@link lifetimeOf}. */
    lifeEvents: lifetimeOf(context, id, 'events'),
    lifeUs: lifetimeOf(context, id, 'us'),
    /** It began before the trace or did not end in it, so it lived longer than the two values above. */
    isLifeLonger: isPreexisting || table.end[id] >= trace.events.length,
    /** At the cursor, or at the end without one. */
    state: stateOf(context, id, cursor),
    stream: streamText(trace.streams[table.stream[id]]),
    /** 'small' or 'large', with a private pool's id: 'small (1, 0)'. */
    pool: privatePool === undefined ? pool : `${pool} ${privatePool}`,
    line: callSiteLine(stacks, table.stack[id], isPreexisting),
    class: classAt(classify(context), id).id,
    /** The variable that held it at snapshot time: 'losses[3]'; undefined if unknown. */
    holder: holderOf(context, id)?.name,
  };
}

/**
 * The part of an allocation's life in the trace: "state t" spans t to t + 1, so it ends at the number of events if
 * never freed, and begins at 0 if it is older than the trace. By time: from the first to the last event. NaN without
 * events, and for 'us' without times.
 */
function lifetimeOf({ replay, trace }: DeviceModel, id: AllocationIndex, clock: Clock): number {
  const { start, end } = replay.allocations;
  const from = Math.max(0, start[id]);
  const { length, timeUs } = trace.events;
  if (length === 0) return Number.NaN;
  if (clock === 'events') return Math.min(end[id], length) - from;
  if (timeUs === undefined) return Number.NaN;
  return timeUs[Math.min(end[id], length - 1)] - timeUs[from];
}

/** `cursor`: the event after which the state is taken; undefined for the end. */
function stateOf(
  { replay, trace }: DeviceModel,
  id: AllocationIndex,
  cursor: EventIndex | undefined,
): StateAt {
  const { start, freeRequested, end } = replay.allocations;
  const at = Math.min(cursor ?? NEVER, trace.events.length - 1);
  if (start[id] > at) return 'later';
  if (end[id] <= at) return 'freed';
  return freeRequested[id] <= at ? 'pending' : 'live';
}

export type AllocationKey = keyof typeof SORTED_BY;

export interface AllocationOrder {
  readonly key: AllocationKey;
  readonly isDescending: boolean;
  /** The unit of lifetimes and costs. */
  readonly clock: Clock;
  /** The cursor, for states; undefined for the end. */
  readonly at: EventIndex | undefined;
}

/** A mask's allocations (all without one) as the lines of a table. Lines are counted from 0. */
export function allocationList(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  order: AllocationOrder,
) {
  const ids = orderAllocations(context, mask, order);
  return {
    length: ids.length,
    /** -1 if it is not in the list. */
    lineOf: (allocation: AllocationIndex) => ids.indexOf(allocation),
    /** Lines from <= i < to. `at`: see {@link allocationRow}. */
    rows: (from: number, to: number, at: EventIndex | undefined) =>
      Array.from(ids.subarray(from, to), (id) => allocationRow(context, id, at)),
  };
}

/** A mask's allocations (all without one), sorted; ties in order of alloc event. Unknown values last. */
export function orderAllocations(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  order: AllocationOrder,
): Uint32Array {
  const ids = upTo(context.replay.allocations.length);
  let count = 0;
  for (let id = 0; id < ids.length; id++) if (mask?.[id] !== 0) ids[count++] = id;
  const sortedBy = SORTED_BY[order.key](context, order);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) keys[i] = sortedBy(ids[i]);
  const places = orderByKeys(keys, order.isDescending);
  for (let i = 0; i < count; i++) places[i] = ids[places[i]];
  return places;
}

const STATE_ORDER = { live: 0, pending: 1, freed: 2, later: 3 };

type SortedBy = (context: DeviceModel, order: AllocationOrder) => (id: AllocationIndex) => number;

const byColumn =
  (name: 'address' | 'sizeBytes' | 'requestedBytes' | 'start' | 'end'): SortedBy =>
  ({ replay }) => {
    const column = replay.allocations[name];
    return (id) => column[id];
  };

const SORTED_BY = {
  address: byColumn('address'),
  size: byColumn('sizeBytes'),
  requested: byColumn('requestedBytes'),
  start: byColumn('start'),
  end: byColumn('end'),
  waste: ({ replay: { allocations } }) => {
    return (id) => allocations.sizeBytes[id] - allocations.requestedBytes[id];
  },
  lifetime: (context, { clock }) => {
    return (id) => lifetimeOf(context, id, clock);
  },
  cost: (context, { clock }) => {
    const { sizeBytes } = context.replay.allocations;
    return (id) => lifetimeOf(context, id, clock) * sizeBytes[id];
  },
  state: (context, { at }) => {
    return (id) => STATE_ORDER[stateOf(context, id, at)];
  },
  stream: ({ trace, replay: { allocations } }) => {
    const places = ranks(trace.streams.map(streamText));
    return (id) => places[allocations.stream[id]];
  },
  pool: ({ trace, replay: { allocations } }) => {
    const places = ranks(trace.pools.map((pool) => privatePoolText(pool) ?? ''));
    return (id) => places[allocations.pool[id]] * 2 + allocations.isSmall[id];
  },
  class: (context) => {
    const { classOf } = classify(context);
    const places = MEMORY_CLASSES.map((_, of) => MEMORY_CLASS_ORDER.indexOf(of as MemoryClass));
    return (id) => places[classOf[id]];
  },
  holder: (context) => {
    const { holders, strings } = context.snapshot;
    const rows = holderRows(context);
    if (holders === undefined || rows === undefined) return () => Number.NaN;
    const places = ranks(Array.from(holders.name, (row) => strings.get(row)));
    return (id) => (rows[id] < 0 ? Number.NaN : places[rows[id]]);
  },
  site: (context) => {
    const { stack } = context.replay.allocations;
    const places = callSiteOrder(context, stack);
    return (id) => places[stack[id] + 1];
  },
} as const satisfies Readonly<Record<string, SortedBy>>;

/** The rank of each text; equal texts share one. */
function ranks(texts: readonly string[]): Float64Array {
  const places = new Float64Array(texts.length);
  const sorted = upTo(texts.length).sort((a, b) => compareText(texts[a], texts[b]));
  let place = 0;
  for (const [i, row] of sorted.entries()) {
    if (i > 0 && texts[row] !== texts[sorted[i - 1]]) place++;
    places[row] = place;
  }
  return places;
}
