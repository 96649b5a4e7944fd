/**
 * Finds copies of a model that nothing trains: a reference policy, averaged weights, a snapshot of the best epoch. A
 * copy is a set of tensors with the same sizes as another set, made by other lines:
 *
 *     train.py:10  to()        4 GiB in 148 tensors ─┐ same sizes, and each backward pass makes one set of
 *     train.py:12  deepcopy()  4 GiB in 148 tensors ─┘ gradients: the second one is a copy
 */
import type { AllocationIndex, AllocationTable } from '../../allocator/replay/types.ts';
import { addTo, countOne, groupBy, sumBy } from '../../base/collections.ts';
import {
  EMPTY_STACK,
  type FrameTable,
  type StackIndex,
  type StackTable,
} from '../../format/snapshot/tables.ts';

/**
 * Tensors below this share of the trained bytes (of all bytes if none are trained) are ignored: averaged weights may
 * omit buffers.
 */
const LEAST_TENSOR = 0.001;
/** A set needs at least this share; a smaller one is a layer. It must also be more than a few scalars. */
const LEAST_SET = 0.1;
const LEAST_SET_BYTES = 4096;
/** Where nothing is trained, sets with fewer tensors or fewer bytes may be layers of one model. */
const LEAST_UNTRAINED = 8;
const UNTRAINED_SHARE = 0.8;

export interface WeightSets {
  readonly parameters: readonly AllocationIndex[];
  /** Possible copies, judged by lifetime: made by the program's own lines and kept throughout. */
  readonly candidates: readonly AllocationIndex[];
  /** Requested bytes → the most gradients of that size that a backward pass made. */
  readonly gradients: ReadonlyMap<number, number>;
  /** Made by copy.deepcopy. */
  readonly isDeepCopy: (id: AllocationIndex) => boolean;
  readonly frames: Pick<FrameTable, 'name' | 'filename' | 'line'>;
}

/** The search for the trained set goes in this order. */
const Origin = { Built: 0, DeepCopy: 1, Candidate: 2 } as const;

/** The tensors made below one row of the stack tree. */
interface TensorSet {
  readonly ids: readonly AllocationIndex[];
  /** Requested bytes → number of tensors. */
  readonly counts: ReadonlyMap<number, number>;
  readonly tensors: number;
  readonly bytes: number;
  readonly origin: number;
}

type Table = Pick<AllocationTable, 'stack' | 'requestedBytes' | 'start' | 'freeRequested'>;

/** Allocation → number of its copy, from 1 on in order of creation. */
export function modelCopies(
  table: Table,
  stacks: StackTable,
  weights: WeightSets,
): Map<AllocationIndex, number> {
  const copies = new Map<AllocationIndex, number>();
  const total = weights.parameters.reduce((bytes, id) => bytes + table.requestedBytes[id], 0);
  let trained = 0;
  for (const [bytes, count] of weights.gradients) trained += bytes * count;
  const sets = tensorSets(table, stacks, weights, trained || total);
  const families = [...groupBy(sets, signature).values()].sort((a, b) => b[0].bytes - a[0].bytes);
  for (const family of families) {
    const again = sets.flatMap((set) => timesOf(set, family[0], table));
    const apart = disjoint([...family, ...again]).filter(({ ids }) => !copies.has(ids[0]));
    const members = successorsJoined(apart, table);
    if (members.length < 2) continue;
    const builtFirst = ([a]: readonly AllocationIndex[], [b]: readonly AllocationIndex[]) =>
      orderByLine(a, b, table, stacks, weights.frames) || a - b;
    members.sort((a, b) => a.origin - b.origin || builtFirst(a.ids, b.ids));
    const isMost = sumBy(apart, ({ bytes }) => bytes) >= total * UNTRAINED_SHARE;
    const originals = trainedAmong(members, weights.gradients, isMost);
    members.slice(originals).forEach(({ ids }, at) => {
      for (const id of ids) copies.set(id, at + 1);
    });
  }
  return copies;
}

/** All sets that are large enough, each once: a row that makes everything its caller makes is the same set. */
function tensorSets(
  { stack, requestedBytes }: Table,
  { parent }: StackTable,
  { parameters, candidates, isDeepCopy }: WeightSets,
  modelBytes: number,
): readonly TensorSet[] {
  const below = new Map<StackIndex, AllocationIndex[]>();
  for (const id of [...parameters, ...candidates]) {
    for (let row = stack[id]; row > EMPTY_STACK; row = parent[row]) addTo(below, row, id);
  }
  const isCandidate = new Set(candidates);
  const originOf = (id: AllocationIndex) => {
    if (isCandidate.has(id)) return Origin.Candidate;
    return isDeepCopy(id) ? Origin.DeepCopy : Origin.Built;
  };
  const least = Math.max(LEAST_SET_BYTES, modelBytes * LEAST_SET);
  const sets: TensorSet[] = [];
  for (const [row, ids] of below) {
    if (below.get(parent[row])?.length === ids.length) continue;
    const counted = ids.filter((id) => requestedBytes[id] >= modelBytes * LEAST_TENSOR);
    const bytes = counted.reduce((sum, id) => sum + requestedBytes[id], 0);
    const origins = new Set(ids.map(originOf));
    const isMixed = origins.size > 1 && origins.has(Origin.Candidate);
    if (counted.length < 2 || bytes < least || isMixed) continue;
    const counts = new Map<number, number>();
    for (const id of counted) countOne(counts, requestedBytes[id]);
    sets.push({ ids, counts, tensors: counted.length, bytes, origin: Math.min(...origins) });
  }
  return sets;
}

/**
 * Below 0 if `a` was made by an earlier line of one function than `b`. Only from before the trace, where allocations are
 * in order of addresses; 0 for others.
 *
 *     agent.py:25 (__init__)  self.online_net = DQN(...).to(device)   the model
 *     agent.py:40 (__init__)  self.target_net = DQN(...).to(device)   its copy
 */
function orderByLine(
  a: AllocationIndex,
  b: AllocationIndex,
  { start, stack }: Table,
  stacks: StackTable,
  { name, filename, line }: WeightSets['frames'],
): number {
  if (start[a] >= 0 || start[b] >= 0) return 0;
  const [rowsOfA, rowsOfB] = [a, b].map((id) => outermostFirst(stack[id], stacks));
  const at = rowsOfA.findIndex((row, depth) => row !== rowsOfB[depth]);
  if (at < 0 || at >= rowsOfB.length) return 0;
  const [one, other] = [stacks.frame[rowsOfA[at]], stacks.frame[rowsOfB[at]]];
  const isOneFunction = name[one] === name[other] && filename[one] === filename[other];
  return isOneFunction ? line[one] - line[other] : 0;
}

function outermostFirst(stack: StackIndex, { parent }: StackTable): readonly StackIndex[] {
  const rows: StackIndex[] = [];
  for (let row = stack; row > EMPTY_STACK; row = parent[row]) rows.unshift(row);
  return rows;
}

/** Of sets that share tensors (a caller's and its callee's), keeps the largest. */
function disjoint(sets: readonly TensorSet[]): TensorSet[] {
  const taken = new Set<AllocationIndex>();
  const largestFirst = [...sets].sort((a, b) => b.ids.length - a.ids.length);
  return largestFirst.filter(({ ids }) => {
    if (ids.some((id) => taken.has(id))) return false;
    for (const id of ids) taken.add(id);
    return true;
  });
}

/**
 * A set that takes the place of another is no copy of it, but the same model again:
 *
 *     train.py:10  to()   |███████████|                      4 GiB, until cpu() frees it
 *     train.py:49  to()                 |████████████████    4 GiB, once it was saved
 */
function successorsJoined(
  sets: readonly TensorSet[],
  { start, freeRequested, requestedBytes }: Table,
): TensorSet[] {
  const models: TensorSet[] = [];
  for (const set of sets.toSorted((a, b) => a.ids[0] - b.ids[0])) {
    const made = start[set.ids[set.ids.length - 1]];
    const liveBytes = ({ ids }: TensorSet) =>
      sumBy(ids, (id) => (freeRequested[id] > made ? requestedBytes[id] : 0));
    const at = models.findIndex((model) => liveBytes(model) < set.bytes / 2);
    if (at < 0) models.push(set);
    else models[at] = { ...models[at], ids: [...models[at].ids, ...set.ids] };
  }
  return models;
}

const signature = ({ counts }: TensorSet): string =>
  [...counts].sort(([a], [b]) => a - b).join(' ');

/** The parts of a set that one line made `n` times, such as deep copies in a list; none for any other set. */
function timesOf(
  { ids, counts, bytes, tensors, origin }: TensorSet,
  one: TensorSet,
  { requestedBytes }: Table,
): readonly TensorSet[] {
  const times = bytes / one.bytes;
  const isMultiple =
    times >= 2 && [...one.counts].every(([size, n]) => counts.get(size) === n * times);
  if (!isMultiple || tensors !== one.tensors * times || origin === Origin.Candidate) return [];
  const seen = new Map<number, number>();
  let part = 0;
  const parts = groupBy(ids, (id) => {
    const count = one.counts.get(requestedBytes[id]);
    // A tensor too small to count goes with the one before.
    if (count !== undefined) part = Math.floor((countOne(seen, requestedBytes[id]) - 1) / count);
    return part;
  });
  return [...parts.values()].map((part) => ({ ...one, ids: part, origin }));
}

/**
 * How many sets of a family are not copies: as many as each backward pass makes gradients for.
 *
 * @param isMost they are most of what is known as parameters
 */
function trainedAmong(
  members: readonly TensorSet[],
  gradients: ReadonlyMap<number, number>,
  isMost: boolean,
): number {
  const [{ counts, bytes, tensors }] = members;
  const bytesTrained = (times: number) =>
    [...counts].reduce((sum, [size, n]) => {
      return (gradients.get(size) ?? 0) >= n * times ? sum + size * n : sum;
    }, 0);
  let trained = 0;
  while (trained < members.length && bytesTrained(trained + 1) >= bytes / 2) trained++;
  if (trained > 0) return trained;
  // Two splits of a data set may have equal sizes too: `TableDataset(train), TableDataset(test)`.
  if (members.every(({ origin }) => origin === Origin.Candidate)) return members.length;
  if (isMost && tensors >= LEAST_UNTRAINED) return 1;
  return Math.max(1, members.filter(({ origin }) => origin === Origin.Built).length);
}
