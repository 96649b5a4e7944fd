/**
 * What the program's own lines make outside of modules: the model under construction, batches, side computations. Judged by
 * what builds it and by how long it lives.
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { countOne } from '../../base/collections.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { INSTANT_EVENTS, type Lifetimes } from './lifetimes.ts';
import type { Overview } from './overview.ts';
import type { Passes } from './passes.ts';
import { FrameRole } from './stack-roles.ts';
import { type ClassSource, Evidence } from './types.ts';

/** With this many allocations from before a ring buffer's start, a line is taken to allocate in every step. */
const MANY_BEFORE = 4;

export class OnHost {
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #passes: Passes;
  readonly #found: Overview;
  readonly #lives: Lifetimes;
  readonly #modelSizes: ReadonlySet<number>;
  /** Number of allocations from before the trace, by call site. */
  #before: Map<StackIndex, number> | undefined;

  /** @param modelSizes requested bytes of the parameters and gradients so far */
  constructor(
    source: ClassSource,
    passes: Passes,
    found: Overview,
    lives: Lifetimes,
    modelSizes: ReadonlySet<number>,
  ) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#passes = passes;
    this.#found = found;
    this.#lives = lives;
    this.#modelSizes = modelSizes;
  }

  /**
   * Made before the ring buffer began, by a line with many earlier allocations: made in each step, so not an input
   * prepared in advance.
   */
  #isOfManyBefore(id: AllocationIndex): boolean {
    const { preexisting, stack } = this.#table;
    if (id >= preexisting || !this.#lives.isKept(id)) return false;
    const siteOf = (row: StackIndex) => this.#source.stacks.siteOf(row);
    if (this.#before === undefined) {
      this.#before = new Map();
      for (let other = 0; other < preexisting; other++)
        countOne(this.#before, siteOf(stack[other]));
    }
    return (this.#before.get(siteOf(stack[id])) ?? 0) >= MANY_BEFORE;
  }

  decide(id: AllocationIndex, hints: number): Evidence {
    const { freeRequested, start, stack, requestedBytes } = this.#table;
    const { first } = this.#passes;
    const free = freeRequested[id];
    const isEarly = start[id] < first;
    const isLong = isEarly ? free > first : this.#lives.isKept(id);
    if ((hints & FrameRole.Collective) !== 0) return Evidence.Collective;
    if ((hints & FrameRole.Loader) !== 0) return Evidence.DataLoader;
    const isMoved = (hints & FrameRole.Moved) !== 0;
    const isModel = isLong || ((isEarly || isMoved) && free - start[id] > INSTANT_EVENTS);
    if (isModel && this.#found.isMovedGradient(stack[id])) return Evidence.MovedGradient;
    const isLastCopy = (hints & FrameRole.Copied) !== 0 && free === NEVER;
    if ((hints & FrameRole.Building) !== 0 && (isModel || isLastCopy))
      return this.#lives.isRebuilt(id) ? this.#lives.keptOver(id, hints) : Evidence.BuiltAndKept;
    const isInstant = free - start[id] <= INSTANT_EVENTS;
    const isInference = this.#passes.begin.length === 0;
    if (!isInstant && isInference && (hints & FrameRole.Cache) !== 0) {
      return this.#lives.keptOver(id, hints);
    }
    if (!isInstant && this.#found.growing.has(stack[id])) return this.#lives.growingOrKept(id);
    if (first >= this.#source.trace.events.length) return Evidence.NoPasses;
    if (isEarly && isLong && this.#isOfManyBefore(id)) return this.#lives.keptOver(id, hints);
    const begin = this.#passes.begin[this.#lives.nextPass(id)] ?? NEVER;
    // The first pass may be a module of a few events: an activation of what a line has just computed.
    const isSoonFreed = free < begin && this.#lives.isShort(id);
    if (isEarly) return isLong && !isSoonFreed ? Evidence.BeforeFirstStep : Evidence.HostFreed;
    const isUnread = free < begin && this.#lives.nextRun(id) >= free;
    if (isSoonFreed || isUnread) return Evidence.HostFreed;
    if (this.#lives.isFreedInBackward(id)) return Evidence.FreedInBackward;
    if ((begin === NEVER || free < begin) && this.#lives.isGathered(id))
      return this.#lives.keptOver(id, hints);
    if (this.#lives.isKept(id) && !this.#lives.isOfThisTurn(id)) {
      const isModelSize = this.#modelSizes.has(requestedBytes[id]);
      if (isModelSize && (hints & FrameRole.Building) !== 0) return Evidence.BuiltAndKept;
      if (this.#lives.hasLaterSteps(id)) return this.#lives.keptOver(id, hints);
    }
    // Copies that a later round replaces: of a state_dict() with each client's weights.
    const isCopy = (hints & FrameRole.Copied) !== 0 && this.#modelSizes.has(requestedBytes[id]);
    if (isCopy) return Evidence.CopiedWeights;
    return this.#lives.isCutShort(id) ? Evidence.FreedEarlier : Evidence.OutsideModules;
  }
}
