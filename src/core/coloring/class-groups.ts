/**
 * Colour classes of groups that can be named (streams, pools, phases, sites): the heaviest have a
 * class each, so that no two of those that matter share a colour; the rest shares one.
 */
import type { AllocationTable } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';

/** Class of what is in no group. */
export const CLASS_NONE = 0;
/** Class of groups that are too light for one of their own. */
export const CLASS_REST = 1;
/** The heaviest group has this class, the next the next. */
export const FIRST_GROUP_CLASS = 2;

export interface GroupClasses {
  /** Class of each allocation. */
  readonly of: Uint8Array;
  /** Groups that have a class of their own, by class from FIRST_GROUP_CLASS on. */
  readonly named: readonly number[];
  /** How many groups share CLASS_REST. */
  readonly others: number;
}

/**
 * Weight is the bytes that stand at `peakEvent`, then those of all lifetimes, then the group's number.
 * @param groupOf group of each allocation, 0 to groupCount - 1; -1 for none
 */
export function classesByGroup(
  allocations: AllocationTable,
  groupOf: Int32Array,
  groupCount: number,
  peakEvent: EventIndex,
  classCount: number,
): GroupClasses {
  const { length, start, end, sizeBytes } = allocations;
  const peakBytes = new Float64Array(groupCount);
  const totalBytes = new Float64Array(groupCount);
  for (let id = 0; id < length; id++) {
    const group = groupOf[id];
    if (group < 0) continue;
    totalBytes[group] += sizeBytes[id];
    if (start[id] <= peakEvent && end[id] > peakEvent) peakBytes[group] += sizeBytes[id];
  }
  const used = [...totalBytes.keys()].filter((group) => totalBytes[group] > 0);
  used.sort((a, b) => peakBytes[b] - peakBytes[a] || totalBytes[b] - totalBytes[a] || a - b);
  const named = used.slice(0, classCount - FIRST_GROUP_CLASS);
  const classOfGroup = new Uint8Array(groupCount).fill(CLASS_REST);
  named.forEach((group, i) => {
    classOfGroup[group] = FIRST_GROUP_CLASS + i;
  });
  const of = new Uint8Array(length);
  for (let id = 0; id < length; id++)
    of[id] = groupOf[id] < 0 ? CLASS_NONE : classOfGroup[groupOf[id]];
  return { of, named, others: used.length - named.length };
}
