/**
 * Decides what each allocation is: one walk in order of time, then a look back at the end for what only shows in total,
 * such as a second copy of the model.
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { inPieces, type Task } from '../../base/task.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { Hindsight } from './hindsight.ts';
import { INSTANT_EVENTS, Lifetimes, SHORT_EVENTS } from './lifetimes.ts';
import { OnHost } from './on-host.ts';
import type { Overview } from './overview.ts';
import { type Passes, PIECE } from './passes.ts';
import { writtenLabels } from './recorded-labels.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';
import { CLASS_OF_EVIDENCE, type ClassSource, Evidence, MemoryClass } from './types.ts';

/** Parameters and gradients have the same sizes. */
const MODEL: ReadonlySet<number> = new Set([MemoryClass.Parameters, MemoryClass.Gradients]);
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
  readonly #lives: Lifetimes;
  readonly #host: OnHost;
  readonly #hindsight: Hindsight;
  /** Stacks of allocations that backward passes used. */
  readonly #trained = new Set<StackIndex>();

  constructor(source: ClassSource, roles: StackRoles, passes: Passes, found: Overview) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#passes = passes;
    this.#last = source.trace.events.length - 1;
    this.classOf = new Uint8Array(this.#table.length);
    this.evidenceOf = new Uint8Array(this.#table.length);
    this.#workspaces = found.workspaces;
    this.#growing = found.growing;
    this.#lives = new Lifetimes(source, roles, passes, found.runs);
    this.#host = new OnHost(source, passes, found, this.#lives, this.#modelSizes);
    this.#hindsight = new Hindsight(source, roles, found.runs);
  }

  *run(): Task<void> {
    const { length, requestedBytes } = this.#table;
    yield* inPieces([0, length], PIECE, (from, to) => {
      for (let id = from; id < to; id++) {
        this.#lives.goTo(id);
        const evidence = this.#decide(id);
        this.#set(id, evidence);
        this.#lives.learn(id, evidence);
        if (MODEL.has(this.classOf[id])) this.#modelSizes.add(requestedBytes[id]);
        this.#hindsight.see(id, evidence, this.#lives.pass, this.#lives.isJudged);
      }
    });
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
    if ((hints & this.#freedHints(id) & FrameRole.Recurrent) !== 0) return Evidence.WorkspaceStack;
    switch (role) {
      case StackRole.Backward:
        return this.#inBackward(id, hints);
      case StackRole.Optimizer:
        return this.#inOptimizer(id, hints);
      case StackRole.Forward:
        return this.#inForward(id, hints);
      case StackRole.Host:
        return this.#host.decide(id, hints);
      default:
        return Evidence.NoStack;
    }
  }

  /** What the stack that freed it says. */
  #freedHints(id: AllocationIndex): number {
    return this.#roles.hints[this.#lives.freedBy(id)];
  }

  #inBackward(id: AllocationIndex, hints: number): Evidence {
    const { start, freeRequested, requestedBytes } = this.#table;
    const { end, endsIn, ooms } = this.#passes;
    const passEnd = end[this.#lives.pass] ?? this.#last;
    const isLastPass = this.#lives.pass >= end.length - 1 && endsIn === StackRole.Backward;
    if ((hints & FrameRole.Recompute) !== 0) return this.#recomputed(id);
    // What goes as an error leaves backward() might have stayed.
    const isUnwound = ooms[upperBound(ooms, start[id])] < freeRequested[id];
    if (isUnwound && this.#modelSizes.has(requestedBytes[id])) return Evidence.SizeOfParameter;
    // backward() frees the gradient it began with as it returns, after the pass's last allocation.
    const isFirst = (hints & FrameRole.FirstGradient) !== 0 && freeRequested[id] !== NEVER;
    if (freeRequested[id] <= passEnd || isFirst) {
      if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
      if ((this.#freedHints(id) & FrameRole.Collective) !== 0) return Evidence.Reduced;
      return this.#isConvolutionScratch(id, hints)
        ? Evidence.ConvolutionFreed
        : Evidence.BackwardFreed;
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
      ? (this.#roles.hints[this.#lives.freedBy(id)] & FrameRole.Recompute) !== 0
      : free - start[id] <= SHORT_EVENTS / 4;
    return isFreedThere ? Evidence.BackwardFreed : Evidence.Recomputed;
  }

  #inOptimizer(id: AllocationIndex, hints: number): Evidence {
    const nextBackward = this.#passes.begin[this.#lives.nextPass(id)] ?? NEVER - 1;
    const isState = (hints & (FrameRole.StateInit | FrameRole.Building)) !== 0;
    const isLast = nextBackward === NEVER - 1 && this.#passes.endsIn === StackRole.Optimizer;
    const isKept = this.#table.freeRequested[id] > nextBackward && (isState || !isLast);
    return isKept ? Evidence.OptimizerKept : Evidence.OptimizerFreed;
  }

  #inForward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, stack } = this.#table;
    const free = freeRequested[id];
    if ((hints & FrameRole.Building) !== 0 && this.#lives.isKept(id)) return Evidence.BuiltAndKept;
    const pass = this.#lives.nextPass(id);
    const begin = this.#passes.begin[pass];
    if (begin === undefined) return this.#withoutBackward(id, hints);
    if (free < begin) {
      if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
      if (this.#lives.isShort(id)) return this.#freedInForward(id, hints);
      if (this.#growing.has(stack[id])) return this.#lives.growingOrKept(id);
      return this.#lives.isGathered(id)
        ? this.#lives.keptOver(id, hints)
        : this.#freedInForward(id, hints);
    }
    this.#trained.add(stack[id]);
    if (this.#lives.isFreedInBackward(id)) return Evidence.FreedInBackward;
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if (this.#lives.isKept(id)) return this.#lives.keptOver(id, hints);
    // `self.cache = torch.cat([self.cache, out.detach()])`, once a step
    const outlivesPass = free > (this.#passes.end[pass] ?? this.#last);
    if (outlivesPass && this.#growing.has(stack[id])) return this.#lives.growingOrKept(id);
    return Evidence.LiveUntilBackward;
  }

  /** A convolution's output outlives its call; memory freed before the next allocation is cuDNN's workspace. */
  #isConvolutionScratch(id: AllocationIndex, hints: number): boolean {
    const { freeRequested, start } = this.#table;
    return (hints & FrameRole.Convolution) !== 0 && freeRequested[id] === start[id] + 1;
  }

  #freedInForward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested } = this.#table;
    if (this.#isConvolutionScratch(id, hints)) return Evidence.ConvolutionFreed;
    const isInPass = freeRequested[id] <= this.#lives.runEnd(id) || this.#lives.goesInReturn(id);
    if (isInPass && !this.#lives.isFreedByOtherCall(id)) return Evidence.ForwardFreed;
    const isGraph = (this.#freedHints(id) & FrameRole.Released) !== 0;
    return isGraph ? Evidence.GraphFreed : Evidence.ForwardDropped;
  }

  /** Inference, or the forward pass in which the trace ends. */
  #withoutBackward(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, start, stack } = this.#table;
    const free = freeRequested[id];
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const isShort =
      this.#lives.isShort(id) || free <= this.#lives.runEnd(id) || this.#lives.goesInReturn(id);
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if ((hints & FrameRole.Cache) !== 0 && !isInstant) return this.#lives.keptOver(id, hints);
    if (isShort) return this.#freedInForward(id, hints);
    if (this.#growing.has(stack[id])) return this.#lives.growingOrKept(id);
    if (!this.#trained.has(stack[id]) && this.#lives.isGathered(id))
      return this.#lives.keptOver(id, hints);
    if (this.#passes.begin.length === 0 && this.#lives.isKept(id) && this.#lives.hasLaterSteps(id))
      return this.#lives.keptOver(id, hints);
    return this.#lives.isCutShort(id) ? Evidence.FreedEarlier : Evidence.OutlivesForward;
  }
}
