/**
 * Decides what each allocation is: one walk in order of time, then a look back at the end for what only shows in total,
 * such as a second copy of the model.
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { countOne } from '../../base/collections.ts';
import type { Task } from '../../base/task.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { Hindsight } from './hindsight.ts';
import type { Overview } from './overview.ts';
import { type ForwardRuns, type Passes, PIECE } from './passes.ts';
import { writtenLabels } from './recorded-labels.ts';
import { repeatStarts, successorStarts } from './size-evidence.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';
import { CLASS_OF_EVIDENCE, type ClassSource, Evidence, MemoryClass } from './types.ts';

/** Without a visible backward pass: a tensor freed within this many events is one that backward does not need. */
const SHORT_EVENTS = 64;
/** An operator's scratch memory, or an argument made for one call, is freed within this many events. */
const INSTANT_EVENTS = 8;
/** An allocation counts as kept when it outlives this many steps. */
const KEPT_STEPS = 2;
/** With this many allocations from before a ring buffer's start, a line is taken to allocate in every step. */
const MANY_BEFORE = 4;
/** At most this many optimizer steps form one turn of the program's loop; more would be a slower rhythm. */
const MOST_STEPS_OF_A_TURN = 4;
/** Parameters and gradients have the same sizes. */
const MODEL: ReadonlySet<number> = new Set([MemoryClass.Parameters, MemoryClass.Gradients]);
/** What a line made and nothing kept. */
const FREED: ReadonlySet<Evidence> = new Set([
  Evidence.ForwardFreed,
  Evidence.ForwardDropped,
  Evidence.HostFreed,
]);

export class Classifier {
  readonly classOf: Uint8Array;
  readonly evidenceOf: Uint8Array;
  readonly names = new Map<AllocationIndex, string>();
  readonly copies = new Map<AllocationIndex, number>();
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #roles: StackRoles;
  readonly #passes: Passes;
  readonly #last: EventIndex;
  readonly #workspaces: ReadonlySet<AllocationIndex>;
  /** Requested bytes of parameters and gradients. */
  readonly #modelSizes = new Set<number>();
  readonly #growing: ReadonlySet<StackIndex>;
  readonly #isMovedGradient: Overview['isMovedGradient'];
  readonly #runs: ForwardRuns;
  readonly #hindsight: Hindsight;
  /** Stacks of allocations that backward passes used. */
  readonly #trained = new Set<StackIndex>();
  /** Stacks of forward passes whose tensors were freed within their pass so far, and those of which one was not. */
  readonly #freed = new Set<StackIndex>();
  readonly #lasting = new Set<StackIndex>();
  /** See {@link successorStarts} and {@link repeatStarts}; computed on first use. */
  #successors: Int32Array | undefined;
  #repeats: Int32Array | undefined;
  /** Stacks of variables that a turn of the loop replaced. */
  readonly #replaced = new Set<StackIndex>();
  #nextStarts: Int32Array | undefined;
  /** Number of allocations from before the trace, by call site. */
  #before: Map<StackIndex, number> | undefined;
  #pass = 0;
  #step = 0;

  constructor(source: ClassSource, roles: StackRoles, passes: Passes, found: Overview) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#passes = passes;
    this.#last = source.trace.events.length - 1;
    this.classOf = new Uint8Array(this.#table.length);
    this.evidenceOf = new Uint8Array(this.#table.length);
    this.#workspaces = found.workspaces;
    this.#runs = found.runs;
    this.#growing = found.growing;
    this.#isMovedGradient = found.isMovedGradient;
    this.#hindsight = new Hindsight(source, roles, found.runs);
  }

  *run(): Task<void> {
    const { length, requestedBytes, stack, start } = this.#table;
    const { begin, stepEnds } = this.#passes;
    for (let id = 0; id < length; id++) {
      if (id % PIECE === 0) yield;
      while (this.#pass < begin.length && this.#passes.end[this.#pass] < start[id]) this.#pass++;
      while (this.#step < stepEnds.length && stepEnds[this.#step] < start[id]) this.#step++;
      const evidence = this.#decide(id);
      this.#set(id, evidence);
      if (FREED.has(evidence)) this.#freed.add(stack[id]);
      else if (evidence !== Evidence.FreedEarlier) this.#lasting.add(stack[id]);
      if (MODEL.has(this.classOf[id])) this.#modelSizes.add(requestedBytes[id]);
      const isJudged = this.#step + KEPT_STEPS <= stepEnds.length;
      this.#hindsight.see(id, evidence, this.#pass, isJudged);
    }
    yield;
    yield* this.#lookBack();
    yield;
    for (const { id, class: of, name, evidence } of writtenLabels(this.#source)) {
      if (name !== '') this.names.set(id, name);
      if (of !== undefined) this.#set(id, evidence, of);
    }
  }

  *#lookBack(): Task<void> {
    const hindsight = this.#hindsight;
    yield* hindsight.correct((id, evidence) => this.#set(id, evidence));
    yield;
    for (const [id, copy] of hindsight.modelCopies()) {
      this.copies.set(id, copy);
      this.#set(id, Evidence.CopiedWeights);
    }
    yield;
    for (const [id, set] of hindsight.laterOptimizers(this.#passes)) this.copies.set(id, set);
  }

  #set(id: AllocationIndex, evidence: Evidence, of: MemoryClass = CLASS_OF_EVIDENCE[evidence]) {
    this.classOf[id] = of;
    this.evidenceOf[id] = evidence;
  }

  #decide(id: AllocationIndex): Evidence {
    const stack = this.#table.stack[id];
    if (id < this.#table.preexisting && stack <= EMPTY_STACK) return Evidence.BeforeRecording;
    const role = this.#roles.role[stack - NO_STACK];
    const hints = this.#roles.hints[stack - NO_STACK];
    if ((hints & FrameRole.Workspace) !== 0) return Evidence.WorkspaceStack;
    if ((hints & FrameRole.Gathered) !== 0) return Evidence.Gathered;
    if (this.#workspaces.has(id)) return Evidence.WorkspaceSize;
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
        return Evidence.NoStack;
    }
  }

  #inBackward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, requestedBytes } = this.#table;
    const { end, endsIn } = this.#passes;
    const passEnd = end[this.#pass] ?? this.#last;
    const isLastPass = this.#pass >= end.length - 1 && endsIn === StackRole.Backward;
    if ((hints & FrameRole.Recompute) !== 0) return this.#recomputed(id);
    if (freeRequested[id] <= passEnd) {
      if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
      const freedBy = this.#roles.hints[this.#freedBy(id)];
      if ((freedBy & FrameRole.Collective) !== 0) return Evidence.Reduced;
      return Evidence.BackwardFreed;
    }
    if (!isLastPass) return Evidence.BackwardKept;
    // We can't know what would have outlived this pass; a gradient has the size of a parameter.
    const isModelSize = this.#modelSizes.has(requestedBytes[id]);
    return isModelSize ? Evidence.SizeOfParameter : Evidence.BackwardFreed;
  }

  /** Activation checkpointing runs a forward again: what it keeps is an activation until the backward pass uses it. */
  #recomputed(id: AllocationIndex): Evidence {
    const { freeRequested, start } = this.#table;
    const free = freeRequested[id];
    const isFreedThere = this.#passes.hasFreeStacks
      ? (this.#roles.hints[this.#freedBy(id)] & FrameRole.Recompute) !== 0
      : free - start[id] <= SHORT_EVENTS / 4;
    return isFreedThere ? Evidence.BackwardFreed : Evidence.Recomputed;
  }

  #inOptimizer(id: AllocationIndex, hints: number): Evidence {
    const nextBackward = this.#passes.begin[this.#nextPass(id)] ?? NEVER - 1;
    const isState = (hints & (FrameRole.StateInit | FrameRole.Building)) !== 0;
    const isLast = nextBackward === NEVER - 1 && this.#passes.endsIn === StackRole.Optimizer;
    const isKept = this.#table.freeRequested[id] > nextBackward && (isState || !isLast);
    return isKept ? Evidence.OptimizerKept : Evidence.OptimizerFreed;
  }

  /** Index of the first backward pass that begins after an allocation. */
  #nextPass(id: AllocationIndex): number {
    const isWithin = this.#passes.begin[this.#pass] <= this.#table.start[id];
    return isWithin ? this.#pass + 1 : this.#pass;
  }

  #inForward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, stack } = this.#table;
    const free = freeRequested[id];
    if ((hints & FrameRole.Building) !== 0 && this.#isKept(id)) return Evidence.BuiltAndKept;
    const pass = this.#nextPass(id);
    const begin = this.#passes.begin[pass];
    if (begin === undefined) return this.#withoutBackward(id, hints);
    if (free < begin) {
      if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
      if (this.#isShort(id)) return this.#freedInForward(id, hints);
      if (this.#growing.has(stack[id])) return this.#growingOrKept(id);
      return this.#isGathered(id) ? this.#keptOver(id, hints) : this.#freedInForward(id, hints);
    }
    this.#trained.add(stack[id]);
    if (this.#isFreedInBackward(id)) return Evidence.FreedInBackward;
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if (this.#isKept(id)) return this.#keptOver(id, hints);
    // `self.cache = torch.cat([self.cache, out.detach()])`, once a step
    const outlivesPass = free > (this.#passes.end[pass] ?? this.#last);
    if (outlivesPass && this.#growing.has(stack[id])) return this.#growingOrKept(id);
    return Evidence.LiveUntilBackward;
  }

  /** A convolution's output outlives its call; memory freed before the next allocation is cuDNN's workspace. */
  #freedInForward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, start } = this.#table;
    const isScratch = freeRequested[id] === start[id] + 1;
    if (isScratch && (hints & FrameRole.Convolution) !== 0) return Evidence.ConvolutionFreed;
    if (freeRequested[id] <= this.#runEnd(id) || this.#goesInReturn(id))
      return Evidence.ForwardFreed;
    const isGraph = (this.#roles.hints[this.#freedBy(id)] & FrameRole.Released) !== 0;
    return isGraph ? Evidence.GraphFreed : Evidence.ForwardDropped;
  }

  /** Last allocation of the forward pass that allocated it. */
  #runEnd(id: AllocationIndex): EventIndex {
    return this.#runs.end[this.#runs.before[id]] ?? this.#last;
  }

  /** The row of the roles for the code that freed it; that of no stack if unknown. */
  #freedBy(id: AllocationIndex): number {
    const free = this.#table.freeRequested[id];
    if (!this.#passes.hasFreeStacks || free > this.#last) return 0;
    return this.#source.trace.events.stack[free] - NO_STACK;
  }

  /** Backward uses and frees it: the thread that calls backward() waits, so nothing else is freed during a pass. */
  #isFreedInBackward(id: AllocationIndex): boolean {
    const { begin, end } = this.#passes;
    const free = this.#table.freeRequested[id];
    const isWithin = free <= (end[upperBound(begin, free) - 1] ?? -1);
    return isWithin || this.#roles.role[this.#freedBy(id)] === StackRole.Backward;
  }

  /** Whether it outlives the step that made it and the next one. */
  #isKept(id: AllocationIndex): boolean {
    const free = this.#table.freeRequested[id];
    const end = this.#passes.stepEnds[this.#step + KEPT_STEPS - 1];
    if (end !== undefined) return free > end && !this.#isOfOneTurn(id);
    if (this.#passes.stepEnds.length > 0) return free === NEVER && this.#outlivesPasses(id);
    const run = this.#runs.end[this.#runs.before[id] + KEPT_STEPS];
    return free === NEVER || (run !== undefined && free > run);
  }

  /** Whether several steps or forward passes follow: what a trace's last ones still hold was not kept over any. */
  #hasLaterSteps(id: AllocationIndex): boolean {
    const { stepEnds } = this.#passes;
    return stepEnds.length > 0 || this.#runs.before[id] + KEPT_STEPS < this.#runs.end.length;
  }

  /**
   * After the last optimizer run: an evaluation that runs backward passes of its own, as torch.autograd.grad does, has no
   * steps. Whether as many passes follow as steps have that a kept tensor outlives.
   */
  #outlivesPasses(id: AllocationIndex): boolean {
    const { begin, stepEnds } = this.#passes;
    const inSteps = upperBound(begin, stepEnds[stepEnds.length - 1]);
    return begin.length - this.#nextPass(id) > (KEPT_STEPS * inSteps) / stepEnds.length;
  }

  /** Whether its line runs repeatedly while it is live, in forward passes without a backward pass. */
  #isGathered(id: AllocationIndex): boolean {
    this.#repeats ??= repeatStarts(this.#table, this.#runs.before, this.#roles.role.length);
    return this.#table.freeRequested[id] > this.#repeats[id];
  }

  /** Inference has built the same again since then, and still holds this: a cache for each request, not the model. */
  #isRebuilt(id: AllocationIndex): boolean {
    if (this.#passes.begin.length > 0 || this.#table.freeRequested[id] !== NEVER) return false;
    return this.#nextStart(id) !== NEVER;
  }

  /** Its line ran before it and not since: a variable of the iteration in which the trace ends. */
  #isOfThisTurn(id: AllocationIndex): boolean {
    const stack = this.#table.stack[id];
    if (!this.#freed.has(stack) && !this.#lasting.has(stack)) return false;
    return this.#table.freeRequested[id] === NEVER && this.#nextStart(id) === NEVER;
  }

  /** When its line allocates in a later forward pass or between two of them. */
  #nextStart(id: AllocationIndex): number {
    this.#nextStarts ??= repeatStarts(this.#table, this.#runs.before, this.#roles.role.length, 1);
    return this.#nextStarts[id];
  }

  #isShort(id: AllocationIndex): boolean {
    return this.#table.freeRequested[id] - this.#table.start[id] <= SHORT_EVENTS;
  }

  /**
   * A variable that each turn of the loop replaces outlives two steps if a turn has two, as in a GAN:
   *
   *     fake₀ | step of D, step of G (fake₀ is freed) | fake₁ | step of D, …
   */
  #isOfOneTurn(id: AllocationIndex): boolean {
    const { stepEnds } = this.#passes;
    this.#successors ??= successorStarts(this.#table, stepEnds, SHORT_EVENTS);
    const next = this.#successors[id];
    const { freeRequested, stack } = this.#table;
    // In the last turn nothing replaces it.
    if (next === NEVER) return freeRequested[id] !== NEVER && this.#replaced.has(stack[id]);
    const turnEnd = stepEnds[this.#step + MOST_STEPS_OF_A_TURN] ?? this.#last;
    const isReplaced = next <= turnEnd && freeRequested[id] - next <= INSTANT_EVENTS;
    if (isReplaced) this.#replaced.add(stack[id]);
    return isReplaced;
  }

  #keptOver(id: AllocationIndex, hints: number): Evidence {
    const isCache = (hints & FrameRole.Cache) !== 0 && !this.#isGathered(id);
    return isCache ? Evidence.CacheStack : Evidence.OutlivesSteps;
  }

  /** If it is still live after its line made several others, nothing replaced it. */
  #growingOrKept(id: AllocationIndex): Evidence {
    return this.#isGathered(id) ? Evidence.OutlivesSteps : Evidence.Grows;
  }

  /** Inference, or the forward pass in which the trace ends. */
  #withoutBackward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, start, stack } = this.#table;
    const free = freeRequested[id];
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const isShort = this.#isShort(id) || free <= this.#runEnd(id) || this.#goesInReturn(id);
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if ((hints & FrameRole.Cache) !== 0 && !isInstant) return this.#keptOver(id, hints);
    if (isShort) return this.#freedInForward(id, hints);
    if (this.#growing.has(stack[id])) return this.#growingOrKept(id);
    if (!this.#trained.has(stack[id]) && this.#isGathered(id)) return this.#keptOver(id, hints);
    if (this.#passes.begin.length === 0 && this.#isKept(id) && this.#hasLaterSteps(id))
      return this.#keptOver(id, hints);
    return this.#isCutShort(id) ? Evidence.FreedEarlier : Evidence.OutlivesForward;
  }

  /** After its pass's last allocation, but by the pass itself: what its functions hold goes as they return. */
  #goesInReturn(id: AllocationIndex): boolean {
    const next = this.#runs.begin[this.#runs.before[id] + 1] ?? NEVER;
    const isForward = this.#roles.role[this.#freedBy(id)] === StackRole.Forward;
    return isForward && this.#table.freeRequested[id] < next;
  }

  /** In a pass that breaks off, of a line whose earlier tensors, of this pass too, were all freed soon. */
  #isCutShort(id: AllocationIndex): boolean {
    const run = this.#runs.before[id];
    const next = this.#runs.begin[run + 1] ?? NEVER;
    const isBroken =
      next === NEVER || this.#passes.ooms.some((oom) => oom > this.#runs.end[run] && oom < next);
    const stack = this.#table.stack[id];
    return isBroken && this.#freed.has(stack) && !this.#lasting.has(stack);
  }

  /**
   * Made before the ring buffer began, by a line with many earlier allocations: made in each step, so not an input
   * prepared in advance.
   */
  #isOfManyBefore(id: AllocationIndex): boolean {
    const { preexisting, stack } = this.#table;
    if (id >= preexisting || !this.#isKept(id)) return false;
    const siteOf = (row: StackIndex) => this.#source.stacks.siteOf(row);
    if (this.#before === undefined) {
      this.#before = new Map();
      for (let other = 0; other < preexisting; other++)
        countOne(this.#before, siteOf(stack[other]));
    }
    return (this.#before.get(siteOf(stack[id])) ?? 0) >= MANY_BEFORE;
  }

  /** Made by the program's own lines outside of modules: the model under construction, batches, side computations. */
  #onHost(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, start, stack, requestedBytes } = this.#table;
    const { first } = this.#passes;
    const free = freeRequested[id];
    const isEarly = start[id] < first;
    const isLong = isEarly ? free > first : this.#isKept(id);
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if ((hints & FrameRole.Loader) !== 0) return Evidence.DataLoader;
    const isMoved = (hints & FrameRole.Moved) !== 0;
    const isModel = isLong || ((isEarly || isMoved) && free - start[id] > INSTANT_EVENTS);
    if (isModel && this.#isMovedGradient(stack[id])) return Evidence.MovedGradient;
    const isLastCopy = (hints & FrameRole.Copied) !== 0 && free === NEVER;
    if ((hints & FrameRole.Building) !== 0 && (isModel || isLastCopy))
      return this.#isRebuilt(id) ? this.#keptOver(id, hints) : Evidence.BuiltAndKept;
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const isInference = this.#passes.begin.length === 0;
    if (!isInstant && isInference && (hints & FrameRole.Cache) !== 0) {
      return this.#keptOver(id, hints);
    }
    if (!isInstant && this.#growing.has(stack[id])) return this.#growingOrKept(id);
    if (first > this.#last) return Evidence.NoPasses;
    if (isEarly && isLong && this.#isOfManyBefore(id)) return this.#keptOver(id, hints);
    if (isEarly) return isLong ? Evidence.BeforeFirstStep : Evidence.HostFreed;
    const begin = this.#passes.begin[this.#nextPass(id)] ?? NEVER;
    const isUnread = (this.#runs.begin[this.#runs.before[id]] ?? NEVER - 1) >= free;
    if (free < begin && (isUnread || this.#isShort(id))) return Evidence.HostFreed;
    if (this.#isFreedInBackward(id)) return Evidence.FreedInBackward;
    if ((begin === NEVER || free < begin) && this.#isGathered(id)) return this.#keptOver(id, hints);
    if (this.#isKept(id) && !this.#isOfThisTurn(id)) {
      const isModelSize = this.#modelSizes.has(requestedBytes[id]);
      if (isModelSize && (hints & FrameRole.Building) !== 0) return Evidence.BuiltAndKept;
      if (this.#hasLaterSteps(id)) return this.#keptOver(id, hints);
    }
    return Evidence.OutsideModules;
  }
}
