/**
 * Weight of each call stack: one pass over the chosen allocations, none over the stacks.
 *
 * Row s is stack s; row 0 is for allocations without a Python stack. Two rows follow the stack table: `length` for
 * those without context, `length + 1` for those from before recording (see `stackKind`). By class, all rows repeat per
 * class. By holder, row h is holder h, and two rows follow for what has no name: live at the end, or freed before.
 */
import { type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type EventTable,
  NO_STACK,
} from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { FlameSet, FlameWeight } from './types.ts';

/** Rows after those of the stack table. */
export const NO_CONTEXT_ROW = 0;
export const BEFORE_RECORDING_ROW = 1;
export const EXTRA_ROWS = 2;

export interface StackWeights {
  /** In a difference: allocated minus freed. */
  readonly value: Float64Array;
  readonly count: Float64Array;
  /** The part of `value` that matches the search; `value` itself without a search. */
  readonly matched: Float64Array;
}

export interface WeighOptions {
  readonly set: FlameSet;
  readonly weight: FlameWeight;
  /** 1 for each allocation that matches the search; undefined without a search. */
  readonly matches?: Uint8Array | undefined;
  /** Ignores allocations that do not match. */
  readonly onlyMatches?: boolean;
  /** Class of each allocation, if each class has its own rows. */
  readonly classOf?: Uint8Array | undefined;
  /** Row of each allocation's holder, if rows are holders; -1 without a name. */
  readonly holderOf?: Int32Array | undefined;
}

export function weighStacks(context: DeviceModel, options: WeighOptions): StackWeights {
  const { replay, snapshot, trace } = context;
  const { allocations } = replay;
  const stackCount = snapshot.stacks.length;
  const { matches, onlyMatches = false, weight, classOf, holderOf } = options;
  const holderCount = snapshot.holders?.length ?? 0;
  const rows = (holderOf === undefined ? stackCount : holderCount) + EXTRA_ROWS;
  const length = classOf === undefined ? rows : rows * MEMORY_CLASSES.length;
  const value = new Float64Array(length);
  const count = new Float64Array(length);
  const matched = matches === undefined ? value : new Float64Array(length);
  const { from, to, sign } = membership(allocations, options);
  const weigh = weigher(allocations, trace.events, weight);
  const { stack, preexisting, end } = allocations;
  for (let id = from; id < to; id++) {
    const times = sign(id);
    if (times === 0) continue;
    const isMatch = matches === undefined || matches[id] === 1;
    if (onlyMatches && !isMatch) continue;
    const own = classOf === undefined ? 0 : classOf[id] * rows;
    const row =
      holderOf === undefined
        ? own + rowOf(stack[id], id < preexisting, stackCount)
        : holderOf[id] >= 0
          ? holderOf[id]
          : holderCount + Number(end[id] !== NEVER);
    const weighed = times * weigh(id);
    value[row] += weighed;
    count[row] += times;
    if (isMatch && matched !== value) matched[row] += weighed;
  }
  return { value, count, matched };
}

function rowOf(stack: number, isFromBefore: boolean, stackCount: number): number {
  if (stack > EMPTY_STACK) return stack;
  if (isFromBefore) return stackCount + BEFORE_RECORDING_ROW;
  return stack === NO_STACK ? stackCount + NO_CONTEXT_ROW : EMPTY_STACK;
}

/** Ids to check (from <= id < to), and whether one belongs: 1, 0, or -1 if it was freed (differences only). */
function membership(table: AllocationTable, { set, weight }: WeighOptions) {
  const { start, end, freeRequested } = table;
  const leaves = (id: number) =>
    weight === 'allocated' ? Math.min(freeRequested[id], end[id]) : end[id];
  switch (set.kind) {
    case 'live': {
      const { event } = set;
      const to = upperBound(start, event);
      return { from: 0, to, sign: (id: number) => Number(leaves(id) > event) };
    }
    case 'window': {
      const from = lowerBound(start, Math.max(0, set.from));
      return { from, to: Math.max(from, lowerBound(start, set.to)), sign: () => 1 };
    }
    case 'difference': {
      const { before, after } = set;
      const to = upperBound(start, Math.max(before, after));
      const isLive = (id: number, event: EventIndex) => start[id] <= event && leaves(id) > event;
      // Skips what is live at both ends instead of adding and subtracting it, so large sums stay exact.
      const sign = (id: number) => Number(isLive(id, after)) - Number(isLive(id, before));
      return { from: 0, to, sign };
    }
  }
}

function weigher(
  { sizeBytes, start, end }: AllocationTable,
  { length, timeUs }: EventTable,
  weight: FlameWeight,
): (id: number) => number {
  if (weight === 'count') return () => 1;
  if (weight !== 'lifetime') return (id) => sizeBytes[id];
  const last = length - 1;
  // Without a trace no time passes.
  if (last < 0) return () => 0;
  const timeOf = (event: EventIndex) => timeUs?.[event] ?? event;
  return (id) => sizeBytes[id] * (timeOf(Math.min(end[id], last)) - timeOf(Math.max(0, start[id])));
}

export type FlameDataset = 'cursor' | 'peak' | 'end' | 'window' | 'difference';

/** A range of a plot: events, or microseconds since the first event. */
export interface FlameWindow {
  readonly axis: 'event' | 'time';
  readonly from: number;
  readonly to: number;
}

export interface FlameChoice {
  readonly dataset: FlameDataset;
  readonly weight: FlameWeight;
  /** Undefined: use the end. */
  readonly cursor: EventIndex | undefined;
  readonly secondCursor: EventIndex | undefined;
  /** Undefined: all events. */
  readonly window: FlameWindow | undefined;
}

/** Undefined if a difference has nothing to compare: no second cursor, or both at one event. */
export function resolveDataset(
  { trace, replay }: DeviceModel,
  choice: FlameChoice,
): FlameSet | undefined {
  const end = trace.events.length - 1;
  const clamp = (event: EventIndex | undefined) => Math.min(event ?? end, end);
  switch (choice.dataset) {
    case 'cursor':
      return { kind: 'live', event: clamp(choice.cursor) };
    case 'end':
      return { kind: 'live', event: end };
    case 'peak': {
      const { activeBytes, allocatedBytes } = replay.peaks;
      const peak = choice.weight === 'allocated' ? allocatedBytes : activeBytes;
      return { kind: 'live', event: peak.event };
    }
    case 'window':
      return { kind: 'window', ...eventsInside(trace.events, choice.window) };
    case 'difference': {
      if (choice.secondCursor === undefined) return undefined;
      const [before, after] = [clamp(choice.secondCursor), clamp(choice.cursor)];
      // Either may come first in time; the cursor bar shows the difference with the same sign.
      return before === after ? undefined : { kind: 'difference', before, after };
    }
  }
}

/** The events at from <= x < to, as a plot's window shows them. */
function eventsInside(
  { length, timeUs }: EventTable,
  window: FlameWindow | undefined,
): { readonly from: EventIndex; readonly to: EventIndex } {
  if (window === undefined) return { from: 0, to: length };
  const inside = (event: number) => Math.min(length, Math.max(0, event));
  if (window.axis === 'event') {
    return { from: inside(Math.ceil(window.from)), to: inside(Math.ceil(window.to)) };
  }
  if (timeUs === undefined || length === 0) return { from: 0, to: 0 };
  const origin = timeUs[0];
  return {
    from: lowerBound(timeUs, window.from + origin),
    to: lowerBound(timeUs, window.to + origin),
  };
}
