/**
 * States of optimizers that were built anew while the old one was still held: more states of one size and line that
 * are live at once than there are parameters of that size.
 *
 *     adam.py:178 | 148 states ├───────────────────────────…  still there
 *     adam.py:178 |                   148 states ├──────────…  set 1
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { getOrMake } from '../../base/memoized.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';

interface OptimizerStates {
  /** In order of start. */
  readonly ids: readonly AllocationIndex[];
  readonly siteOf: (stack: StackIndex) => StackIndex;
  /** First events of the backward passes: what is live in the next one was not merely replaced. */
  readonly backwards: ArrayLike<EventIndex>;
  /** How many parameters there are of a size. */
  readonly parametersOf: (bytes: number) => number;
}

/** By allocation: the number of its set, from 1 on; the first optimizer's states are in none. */
export function laterOptimizers(
  { start, stack, requestedBytes, freeRequested }: AllocationTable,
  { ids, siteOf, backwards, parametersOf }: OptimizerStates,
): Map<AllocationIndex, number> {
  const sets = new Map<AllocationIndex, number>();
  const lines = new Map<string, { live: AllocationIndex[]; pass: number; first: number }>();
  for (const id of ids) {
    const bytes = requestedBytes[id];
    const pass = upperBound(backwards, start[id]);
    const line = getOrMake(lines, `${siteOf(stack[id])} ${bytes}`, () => ({
      live: [],
      pass,
      first: 0,
    }));
    if (pass === line.pass) {
      line.first++;
    } else {
      const next = backwards[pass] ?? NEVER - 1;
      line.live = line.live.filter((other) => freeRequested[other] > next);
      const set = Math.floor(line.live.length / Math.max(line.first, parametersOf(bytes)));
      if (set > 0) sets.set(id, set);
    }
    line.live.push(id);
  }
  return sets;
}
