/** Allocations, and sites, as rows of a table. Plain data, sent to the page. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import {
  classAt,
  MEMORY_CLASS_ORDER,
  MEMORY_CLASSES,
  type MemoryClassId,
} from '../classes/types.ts';
import { privatePoolText, streamText } from '../model/allocation-details.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { holderOf, holderRows } from '../model/holders.ts';
import type { FrameView, StackKind } from '../model/types.ts';
import { callSiteLine, callSiteOrder } from './call-site-table.ts';
import { orderByKeys, upTo } from './order-by-keys.ts';

/** What times are counted in. */
export type Clock = 'events' | 'us';

/** 'later': it is allocated after the cursor. */
export type StateAt = 'live' | 'pending' | 'freed' | 'later';

export interface AllocationRow {
  readonly allocation: AllocationIndex;
  /** b7f064c000000_0, as PyTorch's viewer writes it. */
  readonly label: string;
  readonly blockBytes: number;
  /** NaN where it cannot be known, and so is what follows from it. */
  readonly requestedBytes: number;
  /** Block bytes beyond those requested. */
  readonly wasteBytes: number;
  /** -1: before the trace. */
  readonly startEvent: EventIndex;
  /** Completion of the free; NEVER where it is still there at the end. */
  readonly endEvent: EventIndex;
  /** Microseconds since the first event; NaN where not known. */
  readonly startUs: number;
  readonly endUs: number;
  /** As far as the trace shows it: up to its last event for what is not freed. NaN without events. */
  readonly lifeEvents: number;
  /** NaN without times. */
  readonly lifeUs: number;
  /** It began before the trace or did not end in it: it lived longer than the two above say. */
  readonly isLifeLonger: boolean;
  /** At the cursor, else at the end. */
  readonly state: StateAt;
  readonly stream: string;
  /** 'small', 'large', and the id of a private pool: 'small (1, 0)'. */
  readonly pool: string;
  readonly line: CallSiteLine;
  readonly class: MemoryClassId;
  /** The variable that held it when the snapshot was taken: 'losses[3]'; undefined where nobody knows. */
  readonly holder: string | undefined;
}

/** Which code allocated, in one line: enough to distinguish one stack from another. */
export interface CallSiteLine {
  readonly stackKind: StackKind;
  /** The user's own line; undefined without one. */
  readonly topFrame: FrameView | undefined;
  /** The innermost function that it led to; undefined where that is the same. */
  readonly leafFrame: FrameView | undefined;
}

export type AllocationKey =
  | 'address'
  | 'size'
  | 'requested'
  | 'waste'
  | 'lifetime'
  | 'cost'
  | 'start'
  | 'end'
  | 'state'
  | 'stream'
  | 'pool'
  | 'class'
  | 'holder'
  | 'site';

/** All matching allocations with one stack. */
export interface CallSiteRow {
  /** Names the site: the label of its largest allocation, for `siteTerm`. */
  readonly label: string;
  readonly largest: AllocationIndex;
  readonly allocations: number;
  /** So many of them are from before the trace. */
  readonly preexisting: number;
  /** Over all lifetimes. */
  readonly totalBytes: number;
  readonly peakBytes: number;
  readonly endBytes: number;
  readonly endCount: number;
  readonly largestBytes: number;
  /** Start of the first and of the last; -1: before the trace. */
  readonly firstEvent: EventIndex;
  readonly lastEvent: EventIndex;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly line: CallSiteLine;
  /** What holds its largest allocation at the end, or else its last; undefined where nobody knows. */
  readonly holder: string | undefined;
}

export type CallSiteKey =
  | 'site'
  | 'count'
  | 'peak'
  | 'live'
  | 'total'
  | 'largest'
  | 'first'
  | 'last';

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
function lifetimeOf({ replay, trace }: DeviceModel, id: AllocationIndex, clock: Clock): number {
  const { start, end } = replay.allocations;
  const from = Math.max(0, start[id]);
  const { length, timeUs } = trace.events;
  if (length === 0) return Number.NaN;
  if (clock === 'events') return Math.min(end[id], length) - from;
  if (timeUs === undefined) return Number.NaN;
  return timeUs[Math.min(end[id], length - 1)] - timeUs[from];
}

/** `cursor`: the event after which the state is taken; undefined: the end. */
function stateOf(
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
