/** How long allocations live, against the passes and steps of the program and against what their own lines make later. */

import { type AllocationIndex, type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { type EventIndex, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { ForwardRuns, Passes } from './passes.ts';
import { repeatStarts, successorStarts } from './size-evidence.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';
import { type ClassSource, Evidence } from './types.ts';

/** Without a visible backward pass: a tensor freed within this many events is one that backward does not need. */
export const SHORT_EVENTS = 64;
/** Times the longest life of a line's tensors: one that is older is kept by something, though its pass breaks off. */
const OLDER = 4;
/** An operator's scratch memory, or an argument made for one call, is freed within this many events. */
export const INSTANT_EVENTS = 8;
/** An allocation counts as kept when it outlives this many steps. */
const KEPT_STEPS = 2;
/** At most this many optimizer steps form one turn of the program's loop; more would be a slower rhythm. */
const MOST_STEPS_OF_A_TURN = 4;
/** What a line made and nothing kept. */
const FREED: ReadonlySet<Evidence> = new Set([
  Evidence.ForwardFreed,
  Evidence.ForwardDropped,
  Evidence.HostFreed,
]);

/** Goes through the allocations in order of start: `goTo` one, ask about it, then `learn` what it is. */
export class Lifetimes {
  readonly #source: ClassSource;
  readonly #table: AllocationTable;
  readonly #roles: StackRoles;
  readonly #passes: Passes;
  readonly #runs: ForwardRuns;
  readonly #last: EventIndex;
  /** By stack, the longest that a tensor was there which was freed within its pass or soon. */
  readonly #freed = new Map<StackIndex, number>();
  /** Stacks of which one was not. */
  readonly #lasting = new Set<StackIndex>();
  /** See {@link successorStarts} and {@link repeatStarts}; computed on first use. */
  #successors: Int32Array | undefined;
  #repeats: Int32Array | undefined;
  #nextStarts: Int32Array | undefined;
  /** Stacks of variables that a turn of the loop replaced. */
  readonly #replaced = new Set<StackIndex>();
  #step = 0;
  /** The backward pass that contains or follows the allocation. */
  pass = 0;

  constructor(source: ClassSource, roles: StackRoles, passes: Passes, runs: ForwardRuns) {
    this.#source = source;
    this.#table = source.replay.allocations;
    this.#roles = roles;
    this.#passes = passes;
    this.#runs = runs;
    this.#last = source.trace.events.length - 1;
  }

  goTo(id: AllocationIndex): void {
    const { end, stepEnds } = this.#passes;
    const start = this.#table.start[id];
    while (this.pass < end.length && end[this.pass] < start) this.pass++;
    while (this.#step < stepEnds.length && stepEnds[this.#step] < start) this.#step++;
  }

  learn(id: AllocationIndex, evidence: Evidence): void {
    const stack = this.#table.stack[id];
    if (FREED.has(evidence))
      this.#freed.set(stack, Math.max(this.#freed.get(stack) ?? 0, this.#age(id)));
    else if (evidence !== Evidence.FreedEarlier) this.#lasting.add(stack);
  }

  /** In events, up to its free or the end of the trace. */
  #age(id: AllocationIndex): number {
    return Math.min(this.#table.freeRequested[id], this.#last) - this.#table.start[id];
  }

  /** Whether it has been there for far longer than any that its line made and freed. */
  #isOlderThanFreed(id: AllocationIndex): boolean {
    return this.#age(id) > OLDER * (this.#freed.get(this.#table.stack[id]) ?? 0) + SHORT_EVENTS;
  }

  /** Whether the trace continues long enough to tell whether it was kept. */
  get isJudged(): boolean {
    return this.#step + KEPT_STEPS <= this.#passes.stepEnds.length;
  }

  /** Index of the first backward pass that begins after an allocation. */
  nextPass(id: AllocationIndex): number {
    const isWithin = this.#passes.begin[this.pass] <= this.#table.start[id];
    return isWithin ? this.pass + 1 : this.pass;
  }

  /** Last allocation of the forward pass that allocated it. */
  runEnd(id: AllocationIndex): EventIndex {
    return this.#runs.end[this.#runs.before[id]] ?? this.#last;
  }

  /** When the next forward pass begins, for what none made; without one, later than any free. */
  nextRun(id: AllocationIndex): EventIndex {
    return this.#runs.begin[this.#runs.before[id]] ?? NEVER - 1;
  }

  /** The row of the roles for the code that freed it; that of no stack if unknown. */
  freedBy(id: AllocationIndex): number {
    const free = this.#table.freeRequested[id];
    if (!this.#passes.hasFreeStacks || free > this.#last) return 0;
    return this.#source.trace.events.stack[free] - NO_STACK;
  }

  /** Backward uses and frees it: the thread that calls backward() waits, so nothing else is freed during a pass. */
  isFreedInBackward(id: AllocationIndex): boolean {
    const { begin, end } = this.#passes;
    const free = this.#table.freeRequested[id];
    const isWithin = free <= (end[upperBound(begin, free) - 1] ?? -1);
    return isWithin || this.#roles.role[this.freedBy(id)] === StackRole.Backward;
  }

  /** Whether it outlives the step that made it and the next one. */
  isKept(id: AllocationIndex): boolean {
    const free = this.#table.freeRequested[id];
    const end = this.#passes.stepEnds[this.#step + KEPT_STEPS - 1];
    if (end !== undefined) return free > end && !this.#isOfOneTurn(id);
    if (this.#passes.stepEnds.length > 0) return free === NEVER && this.#outlivesPasses(id);
    const later = this.#endOfLater(id);
    return free === NEVER || (later !== undefined && free > later);
  }

  /** Whether several steps or forward passes follow: what a trace's last ones still hold was not kept over any. */
  hasLaterSteps(id: AllocationIndex): boolean {
    const { stepEnds } = this.#passes;
    return stepEnds.length > 0 || this.#endOfLater(id) !== undefined;
  }

  /** When the second forward pass after its own ends. */
  #endOfLater(id: AllocationIndex): EventIndex | undefined {
    const { ofModules, before, end } = this.#runs;
    const next = upperBound(ofModules, before[id]);
    return end[ofModules[next + KEPT_STEPS - 1] ?? end.length];
  }

  /**
   * After the last optimizer run: an evaluation that runs backward passes of its own, as torch.autograd.grad does, has no
   * steps. Whether as many passes follow as steps have that a kept tensor outlives.
   */
  #outlivesPasses(id: AllocationIndex): boolean {
    const { begin, stepEnds } = this.#passes;
    const inSteps = upperBound(begin, stepEnds[stepEnds.length - 1]);
    return begin.length - this.nextPass(id) > (KEPT_STEPS * inSteps) / stepEnds.length;
  }

  /** Whether its line runs repeatedly while it is live, in forward passes without a backward pass. */
  isGathered(id: AllocationIndex): boolean {
    this.#repeats ??= repeatStarts(this.#table, this.#runs.before, this.#roles.role.length);
    return this.#table.freeRequested[id] > this.#repeats[id];
  }

  /** Inference has built the same again since then, and still holds this: a cache for each request, not the model. */
  isRebuilt(id: AllocationIndex): boolean {
    if (this.#passes.begin.length > 0 || this.#table.freeRequested[id] !== NEVER) return false;
    return this.#nextStart(id) !== NEVER;
  }

  /** Its line ran before it and not since: a variable of the iteration in which the trace ends. */
  isOfThisTurn(id: AllocationIndex): boolean {
    const stack = this.#table.stack[id];
    if (!this.#freed.has(stack) && !this.#lasting.has(stack)) return false;
    return this.#table.freeRequested[id] === NEVER && this.#nextStart(id) === NEVER;
  }

  /** When its line allocates in a later forward pass or between two of them. */
  #nextStart(id: AllocationIndex): number {
    this.#nextStarts ??= repeatStarts(this.#table, this.#runs.before, this.#roles.role.length, 1);
    return this.#nextStarts[id];
  }

  isShort(id: AllocationIndex): boolean {
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

  /** After its pass's last allocation, but by the pass itself: what its functions hold goes as they return. */
  goesInReturn(id: AllocationIndex): boolean {
    const next = this.#runs.begin[this.#runs.before[id] + 1] ?? NEVER;
    const isForward = this.#roles.role[this.freedBy(id)] === StackRole.Forward;
    return isForward && this.#table.freeRequested[id] < next;
  }

  /** In a call of the model other than the one that made it: `net(content)` and then `net(style)` look like one pass. */
  isFreedByOtherCall(id: AllocationIndex): boolean {
    const { caller } = this.#roles;
    const [own, freed] = [caller[this.#table.stack[id] - NO_STACK], caller[this.freedBy(id)]];
    return own >= 0 && freed >= 0 && own !== freed;
  }

  /** In a pass that breaks off, of a line whose earlier tensors, of this pass too, were all freed soon. */
  isCutShort(id: AllocationIndex): boolean {
    const run = this.#runs.before[id];
    const next = this.#runs.begin[run + 1] ?? NEVER;
    const isBroken =
      next === NEVER || this.#passes.ooms.some((oom) => oom > this.#runs.end[run] && oom < next);
    const stack = this.#table.stack[id];
    return (
      isBroken && this.#freed.has(stack) && !this.#lasting.has(stack) && !this.#isOlderThanFreed(id)
    );
  }

  keptOver(id: AllocationIndex, hints: number): Evidence {
    const isCache = (hints & FrameRole.Cache) !== 0 && !this.isGathered(id);
    return isCache ? Evidence.CacheStack : Evidence.OutlivesSteps;
  }

  /** If it is still live after its line made several others, nothing replaced it. */
  growingOrKept(id: AllocationIndex): Evidence {
    return this.isGathered(id) ? Evidence.OutlivesSteps : Evidence.Grows;
  }
}
