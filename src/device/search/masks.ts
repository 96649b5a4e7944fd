/** Masks over allocations, frames and stacks, the building blocks of search answers. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { StringIndex } from '../../format/snapshot/tables.ts';
import { findAllocation } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';

/** One byte per row (an allocation, a frame), 1 for a hit. */
export function maskOf(length: number, isHit: (row: number) => boolean): Uint8Array {
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) if (isHit(id)) mask[id] = 1;
  return mask;
}

/** The stacks with one of these frames (index: stack + 1). A caller's row comes before its callees'. */
export function stacksOfFrames({ snapshot: { stacks } }: DeviceModel, frames: Uint8Array) {
  const mask = new Uint8Array(stacks.length + 1);
  for (let row = 1; row < stacks.length; row++) {
    mask[row + 1] = mask[stacks.parent[row] + 1] | frames[stacks.frame[row]];
  }
  const note = frames.length === 0 ? 'This snapshot has no recorded stacks.' : undefined;
  return { mask, frames, note };
}

/** Allocations whose stack is in the mask (index: stack + 1). */
export function allocationsOfStacks({ replay }: DeviceModel, stacks: Uint8Array): Uint8Array {
  const { length, stack } = replay.allocations;
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) mask[id] = stacks[stack[id] + 1];
  return mask;
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

/** Why a search that needs times is empty, if no event of the device has one. */
export function noteOfTimes({ trace }: DeviceModel): string | undefined {
  const hasTimes = !Number.isNaN(timeOfEventUs(trace.events, 0));
  return hasTimes ? undefined : 'The events of this trace have no times.';
}
