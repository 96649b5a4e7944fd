/**
 * What only shows after every allocation was seen: weights outside of modules, copies of the model, older optimizers,
 * and tensors too young to count as kept whose line keeps everything it makes.
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addTo, countOne, getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { lowest } from '../../base/extremes.ts';
import { stepwise, type Task } from '../../base/task.ts';
import { NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import { modelCopies } from './copies.ts';
import { lazyBufferSites } from './lazy-buffers.ts';
import { type ForwardRuns, GRAPH_SHARE, isApart, OUTPUTS, type Passes } from './passes.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';
import { CLASS_OF_EVIDENCE, type ClassSource, Evidence, MemoryClass } from './types.ts';

/** A line must have kept this many tensors before its younger ones count as kept too. */
const LEAST_KEPT = 2;
/** A line that keeps everything it makes does not make these. */
const IN_USE: ReadonlySet<MemoryClass> = new Set([MemoryClass.Activations, MemoryClass.Inputs]);

/** Fewer tensors show nothing. */
const LEAST_OF_GRAPH = 8;

/** Share of the states from before the recording that must agree on how many optimizers made them. */
const AGREEING = 0.9;
/** Passes counted between two checks of the clock. */
const PASSES_A_PIECE = 16;

/** In order of start. */
type Ids = AllocationIndex[];

export class Hindsight {
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #roles: StackRoles;
  readonly #runs: ForwardRuns;
  readonly #parameters: Ids = [];
  /** Made before the first step, outside of any module, and still live in it. */
  readonly #early: Ids = [];
  readonly #states: Ids = [];
  readonly #young: Ids = [];
  readonly #kept = new Map<StackIndex, Ids>();
  /** Lines that made memory which a step used and freed. */
  readonly #usedUp = new Set<StackIndex>();
  /** Number of parameters by requested bytes, deep copies excluded. */
  readonly #parametersOf = new Map<number, number>();
  readonly #keptByPass = new Map<number, Ids>();
  /** Of each forward pass: how many tensors it made, and those that outlived it and went without a backward pass. */
  readonly #made: Int32Array;
  readonly #dropped = new Map<number, Ids>();
  /** By call site, what lived from a forward pass to beyond the backward pass that followed. */
  readonly #lasting = new Map<StackIndex, Ids>();
  /** By requested bytes, the most gradients that a backward pass made. */
  #gradients: ReadonlyMap<number, number> = new Map();

  constructor(source: ClassSource, roles: StackRoles, runs: ForwardRuns) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#runs = runs;
    this.#made = new Int32Array(runs.end.length + 1);
  }

  /**
   * Call in order of start.
   * @param pass the backward pass that contains or follows it
   * @param isJudged the trace continues long enough to tell whether it was kept
   */
  see(id: AllocationIndex, evidence: Evidence, pass: number, isJudged: boolean): void {
    const of = CLASS_OF_EVIDENCE[evidence];
    const bytes = this.#table.requestedBytes[id];
    const run = this.#runs.before[id];
    const isForward = this.#roles.role[this.#table.stack[id] - NO_STACK] === StackRole.Forward;
    if (isForward) this.#made[run]++;
    if (evidence === Evidence.ForwardDropped) addTo(this.#dropped, run, id);
    if (evidence === Evidence.LiveUntilBackward) addTo(this.#lasting, this.#siteOf(id), id);
    if (evidence === Evidence.BuiltAndKept) {
      this.#parameters.push(id);
      if (!this.#isDeepCopy(id)) countOne(this.#parametersOf, bytes);
    } else if (evidence === Evidence.BackwardKept) {
      addTo(this.#keptByPass, pass, id);
    } else if (evidence === Evidence.BeforeFirstStep) this.#early.push(id);
    else if (evidence === Evidence.OptimizerKept) this.#states.push(id);
    else if (of === MemoryClass.Kept) addTo(this.#kept, this.#siteOf(id), id);
    else if (IN_USE.has(of)) {
      if (isJudged) this.#usedUp.add(this.#siteOf(id));
      else if (this.#table.freeRequested[id] === NEVER) this.#young.push(id);
    }
  }

  /** Without the output, which is the program's, and goes before what only the graph holds. */
  #inGraph(ids: readonly AllocationIndex[]): readonly AllocationIndex[] {
    const { freeRequested } = this.#table;
    const dropped = lowest(ids.slice(0, -OUTPUTS).map((id) => freeRequested[id]));
    const isOutput = (id: AllocationIndex) =>
      freeRequested[id] < dropped && isApart(this.#table, freeRequested[id], dropped);
    return ids.filter((id, i) => i < ids.length - OUTPUTS || !isOutput(id));
  }

  /** Calls `change` for each allocation whose first class was wrong. Comes first, once all were seen. */
  *correct(change: (id: AllocationIndex, evidence: Evidence) => void): Task<void> {
    this.#gradients = yield* this.#mostGradients();
    yield;
    const loose = this.#looseWeights();
    for (const id of loose) change(id, Evidence.SizeOfGradient);
    yield;
    for (const id of this.#beyondGradients(loose)) change(id, Evidence.BeyondGradients);
    yield;
    for (const [run, ids] of this.#dropped) {
      const least = Math.max(LEAST_OF_GRAPH, GRAPH_SHARE * this.#made[run]);
      if (ids.length < least) continue;
      for (const id of this.#inGraph(ids)) change(id, Evidence.GraphFreed);
    }
    yield;
    for (const id of this.#replacedWeights()) change(id, Evidence.Replaced);
    yield;
    for (const site of lazyBufferSites(this.#source, this.#roles, this.#runs, this.#kept)) {
      for (const id of this.#kept.get(site) ?? []) change(id, Evidence.MadeOnce);
      this.#kept.delete(site);
    }
    yield;
    for (const id of this.#young) {
      const site = this.#siteOf(id);
      const isKept = (this.#kept.get(site)?.length ?? 0) >= LEAST_KEPT && !this.#usedUp.has(site);
      if (isKept) change(id, Evidence.SameSite);
    }
  }

  /**
   * A pass has no more bytes of gradients than there are of parameters. If it keeps more in other sizes, these belong to a
   * graph that a later pass goes through: `torch.autograd.grad(loss, x, create_graph=True)`.
   */
  #beyondGradients(loose: Ids): Ids {
    const { requestedBytes } = this.#table;
    const weights = [...this.#parameters, ...loose];
    const sizes = new Set(weights.map((id) => requestedBytes[id]));
    const bytesOf = (ids: Ids) => sumBy(ids, (id) => requestedBytes[id]);
    const most = bytesOf(weights);
    if (most === 0) return [];
    return [...this.#keptByPass.values()].flatMap((ids) => {
      const others = ids.filter((id) => !sizes.has(requestedBytes[id]));
      return bytesOf(others) > most ? others : [];
    });
  }

  /**
   * Weights outside of modules: early allocations of a size with more gradients in a pass than parameters. All of a
   * size or none: 6 tensors of 4 MiB and 6 gradients of 4 MiB in each pass are 6 weights.
   */
  #looseWeights(): AllocationIndex[] {
    const { requestedBytes } = this.#table;
    const counts = new Map<number, number>();
    const gradients = this.#gradients;
    for (const id of this.#early) countOne(counts, requestedBytes[id]);
    return this.#early.filter((id) => {
      const bytes = requestedBytes[id];
      const weights = this.#parameterCount(bytes) + (counts.get(bytes) ?? 0);
      return weights === gradients.get(bytes);
    });
  }

  /**
   * Weights that an average moves in each forward pass: `key.data = key.data * m + query.data * (1 - m)`. Each pass makes
   * as many in the sizes of parameters, and each lives until the next pass makes it again. What a library makes so, such as
   * weight_norm(), is of the pass: its backward goes through it.
   */
  #replacedWeights(): AllocationIndex[] {
    const { freeRequested, stack } = this.#table;
    const { before, begin } = this.#runs;
    const { stacks } = this.#source;
    return [...this.#lasting.values()].flatMap((ids) => {
      if (stacks.innermostFrameView(stack[ids[0]])?.kind !== 'user') return [];
      const byRun = [...groupBy(ids, (id) => before[id])];
      const isLater = ([run, own]: (typeof byRun)[number]) =>
        own.every((id) => freeRequested[id] > (begin[run + 1] ?? 0));
      const isEach = byRun.every(([, own]) => own.length === byRun[0][1].length);
      const isMany = byRun.length >= LEAST_KEPT && byRun[0][1].length >= LEAST_OF_GRAPH;
      return isMany &&
        isEach &&
        byRun.every(isLater) &&
        byRun.every(([, own]) => this.#areOfModel(own))
        ? ids
        : [];
    });
  }

  modelCopies(): ReadonlyMap<AllocationIndex, number> {
    const keptOnce = [...this.#kept.values()].filter((ids) => this.#areOfModel(ids)).flat();
    return modelCopies(this.#table, this.#source.snapshot.stacks, {
      parameters: this.#parameters,
      candidates: [...this.#early, ...keptOnce],
      gradients: this.#gradients,
      isDeepCopy: (id) => this.#isDeepCopy(id),
      frames: this.#source.snapshot.frames,
    });
  }

  /**
   * Optimizer states rebuilt while the old ones were still held: more states of one size and line are live at once than
   * there are parameters of that size. Allocation → number of its set, from 1 on; the first optimizer's have none.
   *
   *     adam.py:178 | 148 states ├───────────────────────────…  still there
   *     adam.py:178 |                   148 states ├──────────…  set 1
   */
  laterOptimizers({ begin }: Passes): ReadonlyMap<AllocationIndex, number> {
    const { start, requestedBytes, freeRequested, preexisting } = this.#table;
    const sets = new Map<AllocationIndex, number>();
    const before = this.#statesBeforeRecording();
    const lines = new Map<string, { live: Ids; pass: number; first: number }>();
    for (const id of this.#states) {
      const bytes = requestedBytes[id];
      const pass = upperBound(begin, start[id]);
      const key = `${this.#siteOf(id)} ${bytes}`;
      const first = before.get(key) ?? 0;
      const line = getOrMake(lines, key, () => ({ live: [], pass, first }));
      if (id < preexisting && first > 0) {
        const set = Math.floor(line.live.length / first);
        if (set > 0) sets.set(id, set);
      } else if (pass === line.pass) {
        line.first++;
      } else {
        // A state that is not live in the next backward pass was merely replaced.
        const next = begin[pass] ?? NEVER - 1;
        line.live = line.live.filter((other) => freeRequested[other] > next);
        const set = Math.floor(
          line.live.length / Math.max(line.first, this.#parameterCount(bytes)),
        );
        if (set > 0) sets.set(id, set);
      }
      line.live.push(id);
    }
    return sets;
  }

  /**
   * Several optimizers' states may all be older than the recording. One optimizer makes one tensor of each kind (a stack)
   * for each parameter: 24 tensors of 3 MiB with two stacks, for one parameter of 3 MiB, are 12 optimizers. By line and
   * size, the states of one optimizer; only where the sizes agree on a number of optimizers.
   */
  #statesBeforeRecording(): ReadonlyMap<string, number> {
    const { requestedBytes, stack, preexisting } = this.#table;
    const found = new Map<string, number>();
    const old = this.#states.filter((id) => id < preexisting);
    for (const [site, ids] of groupBy(old, (id) => this.#siteOf(id))) {
      const sizes = [...groupBy(ids, (id) => requestedBytes[id])].map(([bytes, same]) => {
        const kinds = new Set(same.map((id) => stack[id])).size;
        const each = kinds * this.#parameterCount(bytes);
        return { bytes, sum: bytes * same.length, each, times: same.length / each };
      });
      const { times } = sizes.reduce((a, b) => (b.sum > a.sum ? b : a));
      const agreeing = sumBy(sizes, (size) => (size.times === times ? size.sum : 0));
      if (times < 2 || !Number.isInteger(times)) continue;
      if (agreeing < AGREEING * sumBy(sizes, ({ sum }) => sum)) continue;
      for (const { bytes, each } of sizes) found.set(`${site} ${bytes}`, each);
    }
    return found;
  }

  *#mostGradients(): Task<Map<number, number>> {
    const most = new Map<number, number>();
    const passes = [...this.#keptByPass.values()];
    yield* stepwise(passes.length, PASSES_A_PIECE, (pass) => {
      const counts = new Map<number, number>();
      for (const id of passes[pass]) countOne(counts, this.#table.requestedBytes[id]);
      for (const [bytes, count] of counts) most.set(bytes, Math.max(count, most.get(bytes) ?? 0));
    });
    return most;
  }

  /** Number of parameters of a size, excluding deep copies. */
  #parameterCount(bytes: number): number {
    return this.#parametersOf.get(bytes) ?? 0;
  }

  /** No more of a size than there are parameters of it: what every step adds is not a copy. */
  #areOfModel(ids: readonly AllocationIndex[]): boolean {
    const counts = new Map<number, number>();
    const { requestedBytes } = this.#table;
    return ids.every((id) => {
      const bytes = requestedBytes[id];
      return countOne(counts, bytes) <= this.#parameterCount(bytes);
    });
  }

  #siteOf(id: AllocationIndex): StackIndex {
    return this.#source.stacks.siteOf(this.#table.stack[id]);
  }

  #isDeepCopy(id: AllocationIndex): boolean {
    return (this.#roles.hints[this.#table.stack[id] - NO_STACK] & FrameRole.Copied) !== 0;
  }
}
