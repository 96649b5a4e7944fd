/**
 * Call stacks whose tensors are replaced by larger ones again and again: a cache that is concatenated, what an
 * evaluation gathers.
 *
 *     line 87 | 1 GiB ├──────────┤
 *     line 87 |            2 GiB ├─────────────┤        made while the last one is live, which is freed soon after
 *     line 87 |                          3 GiB ├────…
 *
 * A forward pass begins between two of them: what grows within one pass is no state. What merely varies, such as the
 * logits of two models in turns, is replaced by smaller ones as often.
 */
import type { AllocationIndex, AllocationTable } from '../../allocator/replay/types.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';

/** Replacements in a row, each by a larger tensor, that make a growing one. */
const LEAST_RISES = 4;
/** Rises for each fall, at least: a cache begins anew with each sequence. */
const RISES_A_FALL = 4;
/** Share of the stacks that are nearly all. */
const ALL_SHARE = 0.6;
/** Events after a tensor is made within which the one that it replaces is freed. */
const HANDOVER_EVENTS = 64;

/**
 * @param allocationOfEvent see `Replay`
 * @param runOf by allocation: the number of forward passes that ended before it
 * @param stacks number of rows of the stack tree
 */
export function growingStacks(
  table: AllocationTable,
  allocationOfEvent: Int32Array,
  runOf: Int32Array,
  stacks: number,
): ReadonlySet<StackIndex> {
  const { length, preexisting, start, freeRequested, stack, requestedBytes } = table;
  const { rises: varies, isAll } = risesByStack(table, stacks);
  if (isAll) return new Set();
  const rowOf = new Map<AllocationIndex, number>();
  const figures = new Map<StackIndex, { rises: number; falls: number; longest: number }>();
  for (let id = preexisting; id < length; id++) {
    const own = stack[id];
    if (own <= EMPTY_STACK || varies[own] < LEAST_RISES) continue;
    const until = Math.min(start[id] + HANDOVER_EVENTS, allocationOfEvent.length - 1);
    let inRow = 0;
    let change = Number.NaN;
    for (let t = start[id] + 1; t <= until; t++) {
      const before = allocationOfEvent[t];
      if (before < 0 || before >= id || stack[before] !== own || freeRequested[before] !== t)
        continue;
      if (runOf[before] === runOf[id]) continue;
      const more = requestedBytes[id] - requestedBytes[before];
      if (more > 0) inRow = Math.max(inRow, (rowOf.get(before) ?? 0) + 1);
      if (!(change > 0)) change = more;
    }
    if (Number.isNaN(change)) continue;
    rowOf.set(id, inRow);
    const known = figures.get(own) ?? { rises: 0, falls: 0, longest: 0 };
    figures.set(own, known);
    if (inRow > 0) known.rises++;
    else if (change < 0) known.falls++;
    known.longest = Math.max(known.longest, inRow);
  }
  const grows = [...figures].filter(
    ([, { rises, falls, longest }]) => longest >= LEAST_RISES && rises >= falls * RISES_A_FALL,
  );
  return new Set(grows.map(([row]) => row));
}

/**
 * How often a tensor of a stack is larger than the one before: where that is rare, nothing needs to be looked at. Where
 * nearly all stacks make larger and larger ones it is the batches that grow, such as sentences that are sorted by length.
 */
function risesByStack({ length, stack, requestedBytes }: AllocationTable, stacks: number) {
  const rises = new Int32Array(stacks);
  const falls = new Int32Array(stacks);
  const counts = new Int32Array(stacks);
  const last = new Float64Array(stacks);
  for (let id = 0; id < length; id++) {
    const own = stack[id];
    if (own <= EMPTY_STACK) continue;
    counts[own]++;
    if (requestedBytes[id] > last[own]) rises[own]++;
    else if (requestedBytes[id] < last[own]) falls[own]++;
    last[own] = requestedBytes[id];
  }
  let [busy, rising] = [0, 0];
  for (let own = 0; own < stacks; own++) {
    if (counts[own] <= LEAST_RISES) continue;
    busy++;
    if (rises[own] >= LEAST_RISES && rises[own] >= falls[own] * RISES_A_FALL) rising++;
  }
  return { rises, isAll: rising > busy * ALL_SHARE };
}
