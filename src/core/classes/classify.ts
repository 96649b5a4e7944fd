/**
 * What every allocation is. Evidence is asked in the order of its worth: what the program wrote, what the
 * stack says, how the lifetime lies against the passes of a step, and sizes where the trace ends too early.
 *
 * One walk over the trace finds the passes and one over the allocations, which are in order of time,
 * decides; stacks are looked up in tables. 5.7 M events with 1.9 M allocations take about 0.1 s.
 */
import { type AllocationIndex, type AllocationTable, NEVER } from '../replay/types.ts';
import { EMPTY_STACK, type EventIndex, NO_STACK, TraceAction } from '../snapshot/tables.ts';
import { findPasses, forwardRunEnds, type Passes, PIECE } from './passes.ts';
import { Growth, successorStarts, Weights } from './size-evidence.ts';
import { StackHint, StackRole, type StackRoles, stackRoles } from './stack-roles.ts';
import { type Classification, type ClassSource, classAt, Evidence, MemoryClass } from './types.ts';
import { writtenLabels } from './written.ts';

const known = new WeakMap<AllocationTable, Classification>();

/** The classes of a device's allocations, found when they are first asked for. */
export function classify(source: ClassSource): Classification {
  const found = known.get(source.replay.allocations);
  if (found !== undefined) return found;
  const work = classifyInPieces(source);
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** The same, yielding every millisecond or so: for a thread that has frames to draw. */
export function* classifyInPieces(source: ClassSource): Generator<void, Classification> {
  const { allocations, allocationOfEvent } = source.replay;
  const found = known.get(allocations);
  if (found !== undefined) return found;
  const roles = stackRoles(source.snapshot, source.stacks);
  const passes = yield* findPasses(source.trace.events, roles, allocationOfEvent, allocations);
  const classifier = new Classifier(source, roles, passes);
  yield* classifier.run();
  const { classOf, evidenceOf, names } = classifier;
  const result = { classOf, evidenceOf, names };
  known.set(allocations, result);
  return result;
}

/** Where they have been asked for before: for a hover, which must not wait. */
export const knownClasses = ({ replay }: Pick<ClassSource, 'replay'>): Classification | undefined =>
  known.get(replay.allocations);

/** 'gradients blocks.0.qkv.weight', or 'gradients' for what has no name. */
export function classText(found: Classification, id: AllocationIndex): string {
  const name = found.names.get(id);
  return `${classAt(found, id).label}${name === undefined ? '' : ` ${name}`}`;
}

/** Names that the program gave to tensors; without any, nothing is classified for it. */
export function tensorNames(source: ClassSource): ReadonlyMap<AllocationIndex, string> {
  const { action, userMetadata } = source.trace.events;
  const mayHaveAny =
    source.snapshot.labels !== undefined ||
    source.snapshot.holders !== undefined ||
    userMetadata !== undefined ||
    action.includes(TraceAction.Annotate);
  return mayHaveAny ? classify(source).names : new Map();
}

/** Events within which a tensor that backward does not need is gone, where no backward pass tells. */
const SHORT_EVENTS = 64;
/** Events within which an operator's own scratch memory, or an argument made for one call, is gone. */
const INSTANT_EVENTS = 8;
/** Steps that an allocation has to outlive to be kept. */
const KEPT_STEPS = 2;
/** Steps of optimizers in one turn of the program's loop, as far as that differs from a slower rhythm. */
const MOST_STEPS_OF_A_TURN = 4;
/**
 * Bytes of the workspace that cuBLAS keeps for each thread and stream: Hopper's and later ones, and that
 * of the others (:4096:2:16:8).
 */
const isCublasWorkspace = (bytes: number) => bytes === 32 * 2 ** 20 || bytes === 8_519_680;

/** A class and its evidence. */
type Verdict = number;
const verdict = (name: MemoryClass, evidence: Evidence): Verdict => (name << 8) | evidence;
const GATHERED = verdict(MemoryClass.Parameters, Evidence.Gathered);
const COLLECTIVE = verdict(MemoryClass.Communication, Evidence.Collective);
const REDUCED = verdict(MemoryClass.Gradients, Evidence.Reduced);
const GRADIENT = verdict(MemoryClass.Gradients, Evidence.BackwardKept);
const MADE_BEFORE = verdict(MemoryClass.Inputs, Evidence.BeforeFirstStep);
const PARAMETER = verdict(MemoryClass.Parameters, Evidence.BuiltAndKept);
const BEFORE_RECORDING = verdict(MemoryClass.Unknown, Evidence.BeforeRecording);
const WORKSPACE = verdict(MemoryClass.Workspaces, Evidence.WorkspaceStack);
const WORKSPACE_BY_SIZE = verdict(MemoryClass.Workspaces, Evidence.WorkspaceSize);
const FREED_IN_BACKWARD = verdict(MemoryClass.Temporaries, Evidence.BackwardFreed);
const ACTIVATION = verdict(MemoryClass.Activations, Evidence.FreedInBackward);
const FREED_IN_FORWARD = verdict(MemoryClass.Temporaries, Evidence.ForwardFreed);
const CACHE = verdict(MemoryClass.GrowingState, Evidence.CacheStack);
const GROWING = verdict(MemoryClass.GrowingState, Evidence.Grows);
/** Parameters and gradients have the same sizes. */
const MODEL: ReadonlySet<number> = new Set([MemoryClass.Parameters, MemoryClass.Gradients]);

const CUBLASLT_WORKSPACE = 2 ** 20;

class Classifier {
  readonly classOf: Uint8Array;
  readonly evidenceOf: Uint8Array;
  readonly names = new Map<AllocationIndex, string>();
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #roles: StackRoles;
  readonly #passes: Passes;
  readonly #last: EventIndex;
  /** Requested bytes of parameters and gradients. */
  readonly #modelSizes = new Set<number>();
  /** Whether the lines of a stack made larger and larger tensors; by row. */
  readonly #growth: Growth;
  readonly #weights: Weights;
  /** See {@link successorStarts}; made when it is first asked for. */
  #successors: Int32Array | undefined;
  #run = 0;
  #pass = 0;
  #step = 0;
  /** Last event of each run of forward allocations; read when no backward pass follows. */
  #runEnds: Int32Array = new Int32Array(0);

  constructor(source: ClassSource, roles: StackRoles, passes: Passes) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#passes = passes;
    this.#last = source.trace.events.length - 1;
    this.classOf = new Uint8Array(this.#table.length);
    this.evidenceOf = new Uint8Array(this.#table.length);
    this.#growth = new Growth(source.snapshot.stacks.length);
    this.#weights = new Weights(this.#table.requestedBytes);
  }

  *run(): Generator<void, void> {
    const { length, stack, requestedBytes, start, freeRequested } = this.#table;
    const { begin, stepEnds } = this.#passes;
    this.#runEnds = forwardRunEnds(this.#table, this.#roles);
    for (let id = 0; id < length; id++) {
      if (freeRequested[id] - start[id] > INSTANT_EVENTS) {
        this.#growth.see(stack[id], requestedBytes[id]);
      }
    }
    yield;
    for (let id = 0; id < length; id++) {
      if (id % PIECE === 0) yield;
      while (this.#pass < begin.length && this.#passes.end[this.#pass] < start[id]) this.#pass++;
      while (this.#step < stepEnds.length && stepEnds[this.#step] < start[id]) this.#step++;
      while (this.#run < this.#runEnds.length && this.#runEnds[this.#run] < start[id]) this.#run++;
      const found = this.#decide(id);
      this.classOf[id] = found >> 8;
      this.evidenceOf[id] = found & 255;
      if (MODEL.has(found >> 8)) this.#modelSizes.add(requestedBytes[id]);
      const isCopy = (this.#roles.hints[stack[id] - NO_STACK] & StackHint.Copied) !== 0;
      if (found === PARAMETER) this.#weights.addWeight(id, isCopy);
      else if (found === GRADIENT) this.#weights.addGradient(id, this.#pass);
      else if (found === MADE_BEFORE) this.#weights.addCandidate(id);
    }
    for (const id of this.#weights.looseWeights()) {
      this.classOf[id] = MemoryClass.Parameters;
      this.evidenceOf[id] = Evidence.SizeOfGradient;
    }
    for (const id of this.#weights.extraCopies()) {
      this.classOf[id] = MemoryClass.Kept;
      this.evidenceOf[id] = Evidence.CopiedWeights;
    }
    for (const { id, class: of, name, evidence } of writtenLabels(this.#source)) {
      if (name !== '') this.names.set(id, name);
      if (of === undefined) continue;
      this.classOf[id] = of;
      this.evidenceOf[id] = evidence;
    }
  }

  #decide(id: AllocationIndex): Verdict {
    const stack = this.#table.stack[id];
    if (id < this.#table.preexisting && stack <= EMPTY_STACK) return BEFORE_RECORDING;
    const role = this.#roles.role[stack - NO_STACK];
    const hints = this.#roles.hints[stack - NO_STACK];
    if ((hints & StackHint.Workspace) !== 0) return WORKSPACE;
    if ((hints & StackHint.Gathered) !== 0) return GATHERED;
    if (this.#isWorkspaceBySize(id, role)) return WORKSPACE_BY_SIZE;
    switch (role) {
      case StackRole.Backward:
        return this.#inBackward(id, hints);
      case StackRole.Optimizer:
        return this.#inOptimizer(id, hints);
      case StackRole.Forward:
        return this.#inForward(id, hints);
      case StackRole.Host:
        return this.#onHost(id, hints);
      default:
        return verdict(MemoryClass.Unknown, Evidence.NoStack);
    }
  }

  /**
   * The first matrix product of a thread makes workspaces that stay, mostly to the end: that of cuBLAS, and
   * beside it the smaller one of cuBLASLt.
   */
  #isWorkspaceBySize(id: AllocationIndex, role: number): boolean {
    const { requestedBytes } = this.#table;
    if (role !== StackRole.Forward && role !== StackRole.Backward) return false;
    const isLarge = (other: AllocationIndex) =>
      isCublasWorkspace(requestedBytes[other]) && this.#isFreedAtEnd(other);
    if (isLarge(id)) return true;
    if (requestedBytes[id] !== CUBLASLT_WORKSPACE || !this.#isFreedAtEnd(id)) return false;
    return isLarge(id - 1) || isLarge(id + 1);
  }

  /** Never, or after the last step: trainers clear the workspaces when they are done. */
  #isFreedAtEnd(id: AllocationIndex): boolean {
    const lastStep = this.#passes.stepEnds.at(-1) ?? this.#last;
    return this.#table.freeRequested[id] > lastStep;
  }

  #inBackward(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested, requestedBytes } = this.#table;
    const { end, endsIn } = this.#passes;
    const passEnd = end[this.#pass] ?? this.#last;
    const isLastPass = this.#pass >= end.length - 1 && endsIn === StackRole.Backward;
    if ((hints & StackHint.Recompute) !== 0) return this.#recomputed(id);
    if (freeRequested[id] <= passEnd) {
      if ((hints & StackHint.Collective) !== 0) return COLLECTIVE;
      if (this.#isFreedByCollective(id)) return REDUCED;
      return FREED_IN_BACKWARD;
    }
    if (isLastPass) {
      // Nobody knows what would have outlived this pass: a gradient has the size of a parameter.
      const isModelSize = this.#modelSizes.has(requestedBytes[id]);
      const name = isModelSize ? MemoryClass.Gradients : MemoryClass.Temporaries;
      return verdict(name, isModelSize ? Evidence.SizeOfParameter : Evidence.BackwardFreed);
    }
    return GRADIENT;
  }

  /** A forward that runs again: what it keeps is an activation until the backward pass has used it. */
  #recomputed(id: AllocationIndex): Verdict {
    const { freeRequested, start } = this.#table;
    const free = freeRequested[id];
    const isFreedThere = this.#passes.hasFreeStacks
      ? (this.#freeHints(free) & StackHint.Recompute) !== 0
      : free - start[id] <= SHORT_EVENTS / 4;
    if (isFreedThere) return FREED_IN_BACKWARD;
    return verdict(MemoryClass.Activations, Evidence.Recomputed);
  }

  #inOptimizer(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested } = this.#table;
    const { begin } = this.#passes;
    const nextBackward = begin[this.#nextPass(id)] ?? NEVER - 1;
    const isState = (hints & (StackHint.StateInit | StackHint.Building)) !== 0;
    const isLast = nextBackward === NEVER - 1 && this.#passes.endsIn === StackRole.Optimizer;
    if (freeRequested[id] > nextBackward && (isState || !isLast)) {
      return verdict(MemoryClass.OptimizerState, Evidence.OptimizerKept);
    }
    return verdict(MemoryClass.Temporaries, Evidence.OptimizerFreed);
  }

  /** Row of the first backward pass that begins after an allocation. */
  #nextPass(id: AllocationIndex): number {
    const isWithin = this.#passes.begin[this.#pass] <= this.#table.start[id];
    return isWithin ? this.#pass + 1 : this.#pass;
  }

  #inForward(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested } = this.#table;
    const free = freeRequested[id];
    if ((hints & StackHint.Building) !== 0 && this.#isKept(id)) return PARAMETER;
    const pass = this.#nextPass(id);
    const begin = this.#passes.begin[pass];
    if (begin === undefined) return this.#withoutBackward(id, hints);
    if (free < begin) {
      if ((hints & StackHint.Collective) !== 0) return COLLECTIVE;
      return this.#freedInForward(id, hints);
    }
    if (this.#isFreedInBackward(id)) return ACTIVATION;
    if ((hints & StackHint.Collective) !== 0) return COLLECTIVE;
    if (this.#isKept(id)) return this.#keptOver(hints);
    return verdict(MemoryClass.Activations, Evidence.LiveUntilBackward);
  }

  /** A convolution's output outlives its call; what is freed before the next allocation is cuDNN's workspace. */
  #freedInForward(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested, start } = this.#table;
    const isScratch = freeRequested[id] === start[id] + 1;
    if (isScratch && (hints & StackHint.Convolution) !== 0) {
      return verdict(MemoryClass.Workspaces, Evidence.ConvolutionFreed);
    }
    return FREED_IN_FORWARD;
  }

  #isFreedByCollective(id: AllocationIndex): boolean {
    if (!this.#passes.hasFreeStacks) return false;
    return (this.#freeHints(this.#table.freeRequested[id]) & StackHint.Collective) !== 0;
  }

  /** What the stack of a free says. */
  #freeHints(free: EventIndex): number {
    if (free > this.#last) return 0;
    return this.#roles.hints[this.#source.trace.events.stack[free] - NO_STACK];
  }

  #isFreedInBackward(id: AllocationIndex): boolean {
    const free = this.#table.freeRequested[id];
    if (!this.#passes.hasFreeStacks || free > this.#last) return false;
    const freedBy = this.#source.trace.events.stack[free];
    return this.#roles.role[freedBy - NO_STACK] === StackRole.Backward;
  }

  /** Whether it outlives the step in which it was made and one more. */
  #isKept(id: AllocationIndex): boolean {
    const free = this.#table.freeRequested[id];
    const end = this.#passes.stepEnds[this.#step + KEPT_STEPS - 1];
    if (end !== undefined) return free > end && !this.#isOfOneTurn(id);
    if (this.#passes.stepEnds.length > 0) return false;
    const run = this.#runEnds[this.#run + KEPT_STEPS];
    return free === NEVER || (run !== undefined && free > run);
  }

  /**
   * A variable that each turn of the loop makes anew outlives two steps where a turn has two, as that of a GAN:
   *
   *     fake₀ | step of D, step of G (fake₀ is freed) | fake₁ | step of D, …
   */
  #isOfOneTurn(id: AllocationIndex): boolean {
    this.#successors ??= successorStarts(this.#table, SHORT_EVENTS);
    const next = this.#successors[id];
    const turnEnd = this.#passes.stepEnds[this.#step + MOST_STEPS_OF_A_TURN] ?? this.#last;
    return next <= turnEnd && this.#table.freeRequested[id] - next <= INSTANT_EVENTS;
  }

  #keptOver(hints: number): Verdict {
    const isCache = (hints & StackHint.Cache) !== 0;
    if (isCache) return CACHE;
    return verdict(MemoryClass.Kept, Evidence.OutlivesSteps);
  }

  /** Inference, or the forward pass that the trace ends in. */
  #withoutBackward(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested, start, stack } = this.#table;
    const free = freeRequested[id];
    const runEnd = this.#runEnds[this.#run] ?? this.#last;
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const isShort = free - start[id] <= SHORT_EVENTS || free <= runEnd;
    if ((hints & StackHint.Collective) !== 0) return COLLECTIVE;
    if ((hints & StackHint.Cache) !== 0 && !isInstant) return CACHE;
    if (isShort) return this.#freedInForward(id, hints);
    if (this.#growth.grows(stack[id])) return GROWING;
    if (this.#passes.begin.length === 0 && this.#isKept(id)) {
      const run = this.#runEnds[this.#run + KEPT_STEPS];
      if (run !== undefined) return this.#keptOver(hints);
    }
    return verdict(MemoryClass.Activations, Evidence.OutlivesForward);
  }

  /** Made by the program's own lines, outside of modules: the model while it is built, batches, and what is computed on the side. */
  #onHost(id: AllocationIndex, hints: number): Verdict {
    const { freeRequested, start, stack, requestedBytes } = this.#table;
    const { first } = this.#passes;
    const free = freeRequested[id];
    const isEarly = start[id] < first;
    const isLong = isEarly ? free > first : this.#isKept(id);
    if ((hints & StackHint.Collective) !== 0) return COLLECTIVE;
    const isModel = isLong || (isEarly && free - start[id] > INSTANT_EVENTS);
    if ((hints & StackHint.Building) !== 0 && isModel) return PARAMETER;
    if ((hints & StackHint.Loader) !== 0) {
      return verdict(MemoryClass.Inputs, Evidence.DataLoader);
    }
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const mayGrow = !isInstant && this.#passes.begin.length === 0;
    if (mayGrow && (hints & StackHint.Cache) !== 0) return CACHE;
    if (mayGrow && this.#growth.grows(stack[id])) return GROWING;
    if (first > this.#last) return verdict(MemoryClass.Unknown, Evidence.None);
    if (isEarly) return isLong ? MADE_BEFORE : FREED_IN_FORWARD;
    const begin = this.#passes.begin[this.#nextPass(id)] ?? NEVER;
    const isShort = free - start[id] <= SHORT_EVENTS;
    if (isShort && free < begin) return FREED_IN_FORWARD;
    if (this.#isFreedInBackward(id)) return ACTIVATION;
    if (this.#isKept(id)) {
      const isModelSize = this.#modelSizes.has(requestedBytes[id]);
      if (isModelSize && (hints & StackHint.Building) !== 0) return PARAMETER;
      return this.#keptOver(hints);
    }
    return verdict(MemoryClass.Inputs, Evidence.OutsideModules);
  }
}
