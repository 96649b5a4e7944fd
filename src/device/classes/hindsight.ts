/**
 * What shows only when every allocation has been looked at: weights outside of modules, copies of the model, older
 * optimizers, and tensors too young to be kept whose line keeps all that it makes.
 */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { addTo } from '../../base/grouping.ts';
import { NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import { laterOptimizers, modelCopies } from './copies.ts';
import type { Passes } from './passes.ts';
import { Weights } from './size-evidence.ts';
import { StackHint, type StackRoles } from './stack-roles.ts';
import { type ClassSource, Evidence, MemoryClass } from './types.ts';

/** Tensors of a line that were kept, before its younger ones are taken for such. */
const LEAST_KEPT = 2;
/** What a line that keeps all that it makes does not make. */
const IN_USE: ReadonlySet<MemoryClass> = new Set([MemoryClass.Activations, MemoryClass.Inputs]);

export class Hindsight {
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #roles: StackRoles;
  readonly #weights: Weights;
  readonly #states: AllocationIndex[] = [];
  readonly #kept = new Map<StackIndex, AllocationIndex[]>();
  /** Lines that made what a step used and gave back. */
  readonly #usedUp = new Set<StackIndex>();
  readonly #young: AllocationIndex[] = [];

  constructor(source: ClassSource, roles: StackRoles) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#weights = new Weights(this.#table.requestedBytes);
  }

  /**
   * In order of start.
   * @param pass the backward pass that it lies in or before
   * @param isJudged the trace goes on long enough to tell whether it was kept
   */
  see(
    id: AllocationIndex,
    of: MemoryClass,
    evidence: Evidence,
    pass: number,
    isJudged: boolean,
  ): void {
    if (evidence === Evidence.BuiltAndKept) this.#weights.addParameter(id, this.#isDeepCopy(id));
    else if (evidence === Evidence.BackwardKept) this.#weights.addGradient(id, pass);
    else if (evidence === Evidence.BeforeFirstStep) this.#weights.addCandidate(id);
    else if (evidence === Evidence.OptimizerKept) this.#states.push(id);
    else if (of === MemoryClass.Kept) addTo(this.#kept, this.#siteOf(id), id);
    else if (IN_USE.has(of)) {
      if (isJudged) this.#usedUp.add(this.#siteOf(id));
      else if (this.#table.freeRequested[id] === NEVER) this.#young.push(id);
    }
  }

  /** Calls `change` for each allocation that is something else than it seemed. */
  correct(change: (id: AllocationIndex, to: MemoryClass, evidence: Evidence) => void): void {
    for (const id of this.#weights.looseWeights()) {
      change(id, MemoryClass.Parameters, Evidence.SizeOfGradient);
    }
    for (const id of this.#young) {
      const site = this.#siteOf(id);
      const isKept = (this.#kept.get(site)?.length ?? 0) >= LEAST_KEPT && !this.#usedUp.has(site);
      if (isKept) change(id, MemoryClass.Kept, Evidence.SameSite);
    }
  }

  /** Copies of the model: see {@link modelCopies}. */
  modelCopies(): ReadonlyMap<AllocationIndex, number> {
    const { parameters, early, gradients } = this.#weights;
    const { stack, requestedBytes } = this.#table;
    const keptOnce = [...this.#kept.values()].filter((ids) => this.#isMadeOnce(ids)).flat();
    return modelCopies({ stack, requestedBytes }, this.#source.snapshot.stacks, {
      parameters,
      candidates: [...early, ...keptOnce],
      gradients,
      isDeepCopy: (id) => this.#isDeepCopy(id),
    });
  }

  /** States of an optimizer that was built while another still had its own: see {@link laterOptimizers}. */
  laterOptimizers({ begin }: Passes): ReadonlyMap<AllocationIndex, number> {
    return laterOptimizers(this.#table, {
      ids: this.#states,
      siteOf: (stack) => this.#source.stacks.siteOf(stack),
      backwards: begin,
      parametersOf: (bytes) => this.#weights.countOf(bytes),
    });
  }

  /** No more of a size than there are parameters of it: what each step keeps is no copy. */
  #isMadeOnce(ids: readonly AllocationIndex[]): boolean {
    const counts = new Map<number, number>();
    for (const id of ids) {
      const bytes = this.#table.requestedBytes[id];
      const count = (counts.get(bytes) ?? 0) + 1;
      if (count > this.#weights.countOf(bytes)) return false;
      counts.set(bytes, count);
    }
    return true;
  }

  #siteOf(id: AllocationIndex): StackIndex {
    return this.#source.stacks.siteOf(this.#table.stack[id]);
  }

  #isDeepCopy(id: AllocationIndex): boolean {
    return (this.#roles.hints[this.#table.stack[id] - NO_STACK] & StackHint.Copied) !== 0;
  }
}
