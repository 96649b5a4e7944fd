/** Masks over allocations, frames and stacks, the building blocks of search answers. */

import { type AllocationIndex, BEFORE_TRACE } from '../../allocator/replay/types.ts';
import type { EventIndex, Snapshot, StringIndex } from '../../format/snapshot/tables.ts';
import { findAllocation } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';

/** One byte per row (an allocation, a frame), 1 for a hit. */
export function maskOf(length: number, isHit: (row: number) => boolean): Uint8Array {
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) if (isHit(id)) mask[id] = 1;
  return mask;
}

/** Index: stack + 1. 1 = one of its frames is in the mask. A caller's row comes before its callees'. */
export function stacksOfFrames({ stacks }: Snapshot, frames: Uint8Array): Uint8Array {
  const mask = new Uint8Array(stacks.length + 1);
  for (let row = 1; row < stacks.length; row++) {
    mask[row + 1] = mask[stacks.parent[row] + 1] | frames[stacks.frame[row]];
  }
  return mask;
}

/** Allocations whose stack is in the mask (index: stack + 1). */
export function allocationsOfStacks({ replay }: DeviceModel, stacks: Uint8Array): Uint8Array {
  const { length, stack } = replay.allocations;
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) mask[id] = stacks[stack[id] + 1];
  return mask;
}

/** Allocations whose alloc event carries exactly that label; '' finds those without one. */
export function allocationsLabelled(
  context: DeviceModel,
  column: Int32Array | undefined,
  label: string,
): Uint8Array {
  const { strings } = context.snapshot;
  const { start, preexisting, length } = context.replay.allocations;
  const isHit = onceForEach(strings.length, (row) => strings.get(row) === label);
  return maskOf(length, (id) =>
    isHit(id < preexisting ? 0 : Math.max(0, column?.[start[id]] ?? 0)),
  );
}

/** The distinct labels in a column, in order of first appearance. */
export function labelsIn(
  { snapshot }: DeviceModel,
  column: Int32Array | undefined,
): readonly string[] {
  const rows = new Set<StringIndex>(column);
  return [...rows].filter((row) => row > 0).map((row) => snapshot.strings.get(row));
}

/** Caches a predicate over rows: a snapshot of millions of events refers to a few hundred strings. */
export function onceForEach(
  length: number,
  test: (row: StringIndex) => boolean,
): (row: StringIndex) => boolean {
  /** 0 = not computed, 1 = no, 2 = yes. */
  const known = new Uint8Array(length);
  return (row) => {
    if (known[row] === 0) known[row] = test(row) ? 2 : 1;
    return known[row] === 2;
  };
}

/** The allocation with that label; -1 if there is none, plus a note that explains the empty result. */
export function allocationLabelled(
  { snapshot, replay }: DeviceModel,
  label: string,
): { readonly allocation: AllocationIndex; readonly note: string | undefined } {
  const allocation = findAllocation(replay.allocations, snapshot.addresses, label);
  return allocation === undefined
    ? { allocation: -1, note: `This device has no allocation ${label}.` }
    : { allocation, note: undefined };
}

/** Why a search for frames is empty, if the file has none. */
export function noteOfFrames({ snapshot }: DeviceModel): string | undefined {
  return snapshot.frames.length === 0 ? 'This snapshot has no recorded stacks.' : undefined;
}

/** Why a search that needs times is empty, if no event of the device has one. */
export function noteOfTimes({ trace }: DeviceModel): string | undefined {
  const hasTimes = !Number.isNaN(timeOfEventUs(trace.events, 0));
  return hasTimes ? undefined : 'The events of this trace have no times.';
}

/** The last state; BEFORE_TRACE without events. */
export function lastState({ trace }: DeviceModel): EventIndex {
  return trace.events.length === 0 ? BEFORE_TRACE : trace.events.length - 1;
}
