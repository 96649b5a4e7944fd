/** What allocation sizes tell when stacks and lifetimes leave a doubt. */
import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/collections.ts';
import { inPieces, type Task } from '../../base/task.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { PIECE } from './passes.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';

/**
 * Allocation → start of its successor, the next allocation with its stack and size of a later step; NEVER without one.
 * Covers only allocations that live for more than `leastEvents`.
 */
export function successorStarts(
  table: AllocationTable,
  stepEnds: Int32Array,
  leastEvents: number,
): Int32Array {
  const { length, stack, start, freeRequested, requestedBytes } = table;
  const starts = new Int32Array(length).fill(NEVER);
  const latest = new Map<number, { step: number; ids: AllocationIndex[] }>();
  for (let id = 0; id < length; id++) {
    if (freeRequested[id] - start[id] <= leastEvents) continue;
    // Collisions between two stacks are far too rare to matter.
    const key = requestedBytes[id] * 8192 + (stack[id] % 8192);
    const step = lowerBound(stepEnds, start[id]);
    const before = latest.get(key);
    if (before?.step === step) {
      before.ids.push(id);
      continue;
    }
    for (const other of before?.ids ?? []) starts[other] = start[id];
    latest.set(key, { step, ids: [id] });
  }
  return starts;
}

/**
 * Allocation → when its stack allocates in the third (or other) forward pass after its own; NEVER if it does not. What
 * outlives this is being gathered, not merely in use.
 * @param runOf allocation → how many forward passes ended before it
 * @param stacks rows by stack + 1
 */
export function repeatStarts(
  { length, stack, start }: AllocationTable,
  runOf: Int32Array,
  stacks: number,
  repeats = 3,
): Int32Array {
  const starts = new Int32Array(length).fill(NEVER);
  // By stack, its next passes, the nearest first: in which pass, and when it first allocates there.
  const width = repeats + 1;
  const laterRun = new Int32Array(stacks * width).fill(-1);
  const laterStart = new Int32Array(stacks * width).fill(NEVER);
  for (let id = length - 1; id >= 0; id--) {
    const row = (stack[id] - NO_STACK) * width;
    if (laterRun[row] !== runOf[id]) {
      laterRun.copyWithin(row + 1, row, row + repeats);
      laterStart.copyWithin(row + 1, row, row + repeats);
      laterRun[row] = runOf[id];
    }
    laterStart[row] = start[id];
    starts[id] = laterStart[row + repeats];
  }
  return starts;
}

/**
 * Call stacks whose tensors are repeatedly replaced by larger ones: a concatenated cache, the results an evaluation
 * gathers.
 *
 *     line 87 | 1 GiB ├──────────┤
 *     line 87 |            2 GiB ├─────────────┤        made while the last one is live, which is freed soon after
 *     line 87 |                          3 GiB ├────…
 *
 * A forward pass begins between two of them: growth within one pass is not state. Sizes that merely vary, such as the
 * logits of two alternating models, shrink as often as they grow.
 */

/** A growing stack needs this many replacements in a row, each by a larger tensor. */
const LEAST_RISES = 4;
/** Minimum rises per fall: a cache starts over with each sequence. */
const RISES_A_FALL = 4;
/** Share of stacks that counts as nearly all. */
const ALL_SHARE = 0.6;
/** The replaced tensor is freed within this many events after its replacement is made. */
const HANDOVER_EVENTS = 64;

/**
 * @param allocationOfEvent see `Replay`
 * @param runOf allocation → number of forward passes that ended before it
 * @returns stacks of the program's own lines and of forward passes alone
 */
export function* growingStacks(
  table: AllocationTable,
  allocationOfEvent: Int32Array,
  runOf: Int32Array,
  { role }: StackRoles,
): Task<ReadonlySet<StackIndex>> {
  const { length, preexisting, start, freeRequested, stack, requestedBytes } = table;
  const { rises: varies, isAll } = yield* risesByStack(table, role.length);
  if (isAll) return new Set();
  yield;
  const rowOf = new Map<AllocationIndex, number>();
  const figures = new Map<StackIndex, { rises: number; falls: number; longest: number }>();
  /** By stack, since it last became smaller: the layers of each pass differ in size, but none of them grows. */
  const most = new Float64Array(role.length);
  const isJudged = role.map((of) => Number(of === StackRole.Host || of === StackRole.Forward));
  yield* inPieces([preexisting, length], PIECE, (from, to) => {
    for (let id = from; id < to; id++) {
      const own = stack[id];
      if (own <= EMPTY_STACK || varies[own] < LEAST_RISES || !isJudged[own - NO_STACK]) continue;
      const until = Math.min(start[id] + HANDOVER_EVENTS, allocationOfEvent.length - 1);
      let inRow = 0;
      let change = Number.NaN;
      const isLargest = requestedBytes[id] >= most[own];
      for (let t = start[id] + 1; t <= until; t++) {
        const before = allocationOfEvent[t];
        if (before < 0 || before >= id || stack[before] !== own || freeRequested[before] !== t)
          continue;
        if (runOf[before] === runOf[id]) continue;
        const more = requestedBytes[id] - requestedBytes[before];
        if (more > 0 && isLargest) inRow = Math.max(inRow, (rowOf.get(before) ?? 0) + 1);
        if (!(change > 0)) change = more;
      }
      most[own] = change < 0 ? requestedBytes[id] : Math.max(most[own], requestedBytes[id]);
      if (Number.isNaN(change)) continue;
      rowOf.set(id, inRow);
      const known = figures.get(own) ?? { rises: 0, falls: 0, longest: 0 };
      figures.set(own, known);
      if (inRow > 0) known.rises++;
      else if (change < 0) known.falls++;
      known.longest = Math.max(known.longest, inRow);
    }
  });
  const grows = [...figures].filter(
    ([, { rises, falls, longest }]) => longest >= LEAST_RISES && rises >= falls * RISES_A_FALL,
  );
  return new Set(grows.map(([row]) => row));
}

/**
 * How often each stack's tensor is larger than the previous one; where that is rare, we can skip the rest. When nearly
 * all stacks grow, the batches grow, such as sentences sorted by length.
 */
function* risesByStack(
  { length, stack, requestedBytes }: AllocationTable,
  stacks: number,
): Task<{ readonly rises: Int32Array; readonly isAll: boolean }> {
  const rises = new Int32Array(stacks);
  const falls = new Int32Array(stacks);
  const counts = new Int32Array(stacks);
  const last = new Float64Array(stacks);
  yield* inPieces([0, length], PIECE, (from, to) => {
    for (let id = from; id < to; id++) {
      const own = stack[id];
      if (own <= EMPTY_STACK) continue;
      counts[own]++;
      if (requestedBytes[id] > last[own]) rises[own]++;
      else if (requestedBytes[id] < last[own]) falls[own]++;
      last[own] = requestedBytes[id];
    }
  });
  let [busy, rising] = [0, 0];
  for (let own = 0; own < stacks; own++) {
    if (counts[own] <= LEAST_RISES) continue;
    busy++;
    if (rises[own] >= LEAST_RISES && rises[own] >= falls[own] * RISES_A_FALL) rising++;
  }
  return { rises, isAll: rising > busy * ALL_SHARE };
}

/**
 * Finds cuBLAS workspaces when no C++ frame names them. A thread that multiplies matrices on a stream gets one and
 * keeps it, so of the many tensors of that size only one is the workspace at any time.
 *
 *     forward, 32 MiB: linear's workspace (never freed) | activations of 32 MiB that an OOM finds live | …
 *     backward, 32 MiB: the workspace of autograd's thread
 */

/** Workspace bytes of Hopper and later GPUs, and of older ones (:4096:2:16:8). */
const CUBLAS_BYTES: ReadonlySet<number> = new Set([32 * 2 ** 20, 8_519_680]);
/** The cuBLASLt workspace. Older PyTorch versions allocate it just before or after the cuBLAS one, newer ones apart. */
const CUBLASLT_BYTES = 2 ** 20;

/**
 * Workspaces found by size and lifetime: the first of its thread, stream and pool that is freed after the last step or
 * never. Trainers clear workspaces when they finish. Outside of modules a product is as likely as data: there its line must
 * run again without another one.
 */
export function* workspacesBySize(
  table: AllocationTable,
  roles: StackRoles,
  lastStep: EventIndex,
): Task<ReadonlySet<AllocationIndex>> {
  const found = new Set<AllocationIndex>();
  if (roles.hints.some((hints) => (hints & FrameRole.Workspace) !== 0)) return found;
  const { length, requestedBytes, stack, stream, pool, start, freeRequested } = table;
  const roleOf = (id: AllocationIndex) => roles.role[stack[id] - NO_STACK];
  // A convolution has a workspace of cuDNN's, and `model.to()` multiplies nothing.
  const isOther = (id: AllocationIndex) =>
    (roles.hints[stack[id] - NO_STACK] & (FrameRole.Convolution | FrameRole.Moved)) !== 0;
  const isKept = (id: AllocationIndex) => id >= 0 && id < length && freeRequested[id] > lastStep;
  const freeOf = new Map<number, EventIndex>();
  /** By thread: cuBLASLt's candidates. */
  const besides = new Map<number, AllocationIndex[]>();
  yield* inPieces([0, length], PIECE, (from, to) => {
    for (let id = from; id < to; id++) {
      const isLt = requestedBytes[id] === CUBLASLT_BYTES;
      if ((!isLt && !CUBLAS_BYTES.has(requestedBytes[id])) || !isKept(id)) continue;
      const role = roleOf(id);
      const isOfHost =
        role === StackRole.Host && freeRequested[id] === NEVER && isMadeOnce(table, id);
      const isOfPass = role === StackRole.Forward || role === StackRole.Backward;
      if (isOther(id) || (!isOfHost && !isOfPass)) continue;
      const thread = role === StackRole.Backward ? 1 : 0;
      const handle = (pool[id] * 65536 + stream[id]) * 2 + thread;
      if (isLt) addTo(besides, handle, id);
      if (isLt || start[id] < (freeOf.get(handle) ?? -1)) continue;
      freeOf.set(handle, freeRequested[id]);
      found.add(id);
      for (const beside of [id - 1, id + 1]) {
        if (requestedBytes[beside] === CUBLASLT_BYTES && isKept(beside)) found.add(beside);
      }
    }
  });
  const stacks = new Set([...found].map((id) => stack[id]));
  for (const [handle, ids] of besides) {
    yield;
    // One product may have made both, or it is the only tensor of that size which is kept.
    const id = ids.find((one) => stacks.has(stack[one])) ?? (ids.length === 1 ? ids[0] : undefined);
    if (id !== undefined && freeOf.has(handle) && isMadeOnce(table, id)) found.add(id);
  }
  return found;
}

/** Its line runs again and allocates, but this size only once: a workspace is there by then, a tensor would be made anew. */
function isMadeOnce({ stack, requestedBytes, length }: AllocationTable, id: AllocationIndex) {
  let runsAgain = false;
  for (let other = 0; other < length; other++) {
    if (other === id || stack[other] !== stack[id]) continue;
    if (requestedBytes[other] === requestedBytes[id]) return false;
    runsAgain ||= other > id;
  }
  return runsAgain;
}
