/**
 * When the program ran its passes: the events of each backward pass, and where steps end. One walk over the trace.
 *
 *     forward forward | backward backward (free) | optimizer | forward …
 *                     begin                  end         step end
 */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { growableInt32 } from '../../base/growable.ts';
import { inPieces, type Task } from '../../base/task.ts';
import {
  type EventIndex,
  type EventTable,
  NO_STACK,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';

export interface Passes {
  /** First and last event of each backward pass. */
  readonly begin: Int32Array;
  readonly end: Int32Array;
  /** Last event of each step: of an optimizer run or, if the optimizer allocates nothing, of a backward pass. */
  readonly stepEnds: Int32Array;
  /** Out-of-memory errors. */
  readonly ooms: readonly EventIndex[];
  /** First event of a forward pass, backward pass or optimizer; past the end if there is none. */
  readonly first: EventIndex;
  /** The pass in which the trace ends: backward or optimizer. */
  readonly endsIn: StackRole;
  /** Whether stacks of frees are those of the freeing code; with context='alloc' they repeat the allocation's. */
  readonly hasFreeStacks: boolean;
}

/** Rows between two checks of the clock. Code that has not run before takes twenty times as long for them as later. */
export const PIECE = 1 << 9;

type Trace = Pick<EventTable, 'length' | 'action' | 'stack'>;

export function* findPasses(
  events: Trace,
  { role }: StackRoles,
  allocationOfEvent: Int32Array,
  table: Pick<AllocationTable, 'stack'>,
): Task<Passes> {
  const hasFreeStacks = freesHaveStacks(events, allocationOfEvent, table);
  const { action, stack, length } = events;
  const begin = growableInt32();
  const end = growableInt32();
  const optimizerEnds = growableInt32();
  const ooms: EventIndex[] = [];
  let inside: number = StackRole.Unknown;
  let last = 0;
  let first = length;
  yield* inPieces([0, length], PIECE, (from, to) => {
    for (let t = from; t < to; t++) {
      if (action[t] === TraceAction.Oom) ooms.push(t);
      const isAlloc = action[t] === TraceAction.Alloc;
      if (!isAlloc && (action[t] !== TraceAction.FreeRequested || !hasFreeStacks)) continue;
      const own = role[stack[t] - NO_STACK];
      if (own === StackRole.Unknown) continue;
      if (own === inside) {
        last = t;
        continue;
      }
      // A free may end a pass but never begins one.
      if (inside === StackRole.Backward) end.push(last);
      else if (inside === StackRole.Optimizer && isAlloc) optimizerEnds.push(last);
      if (!isAlloc && inside !== StackRole.Backward) continue;
      inside = isAlloc ? own : StackRole.Unknown;
      last = t;
      if (isAlloc && own !== StackRole.Host && t < first) first = t;
      if (inside === StackRole.Backward) begin.push(t);
    }
  });
  if (inside === StackRole.Backward) end.push(last);
  else if (inside === StackRole.Optimizer) optimizerEnds.push(last);
  const ends = end.finish();
  const steps = optimizerEnds.finish();
  const isStepping = steps.length >= 2 && steps.length * MOST_PASSES >= ends.length;
  return {
    begin: begin.finish(),
    end: ends,
    stepEnds: isStepping ? steps : ends,
    ooms,
    first,
    endsIn: inside as StackRole,
    hasFreeStacks,
  };
}

/**
 * Gradient accumulation runs up to this many backward passes per optimizer run. With more, the runs are not the steps.
 */
const MOST_PASSES = 64;
/** Number of frees examined. */
const SAMPLES = 2000;

/** Whether stacks of frees are those of the freeing code: see {@link Passes.hasFreeStacks}. */
export function freesHaveStacks(
  { action, stack, length }: Trace,
  allocationOfEvent: Int32Array,
  table: Pick<AllocationTable, 'stack'>,
): boolean {
  let seen = 0;
  for (let t = 0; t < length && seen < SAMPLES; t++) {
    if (action[t] !== TraceAction.FreeRequested || stack[t] <= 0) continue;
    const id = allocationOfEvent[t];
    if (id < 0) continue;
    if (table.stack[id] !== stack[t]) return true;
    seen++;
  }
  return false;
}

/** A pass's last tensors may be its output. */
export const OUTPUTS = 3;

/** Whether the program made something between two frees: what goes in one go has nothing in between. */
export const isApart = (
  { start }: Pick<AllocationTable, 'start'>,
  a: EventIndex,
  b: EventIndex,
): boolean => upperBound(start, Math.min(a, b)) < upperBound(start, Math.max(a, b));

/** Share of a forward pass's tensors that outlive it if it keeps its graph; without one, only outputs and caches do. */
export const GRAPH_SHARE = 0.4;

/** Runs of allocations made by a forward pass, with no other code in between. */
export interface ForwardRuns {
  /** First and last allocation of each, as events. */
  readonly begin: Int32Array;
  readonly end: Int32Array;
  /** Allocation → how many runs ended before it, which is its own run if it is in one. */
  readonly before: Int32Array;
  /** Runs that call a module, ascending: a generator's `F.softmax(logits)` between two is none. All if no run calls one. */
  readonly ofModules: Int32Array;
}

export function* findForwardRuns(
  { length, preexisting, stack, start }: AllocationTable,
  { role, hints }: StackRoles,
): Task<ForwardRuns> {
  const begin: number[] = [];
  const end: number[] = [];
  const ofModules: number[] = [];
  const before = new Int32Array(length);
  let isInside = false;
  // Allocations from before the trace have no order.
  yield* inPieces([preexisting, length], PIECE, (from, to) => {
    for (let id = from; id < to; id++) {
      const isForward = role[stack[id] - NO_STACK] === StackRole.Forward;
      if (isForward && !isInside) begin.push(start[id]);
      if (!isForward && isInside) end.push(start[id - 1]);
      before[id] = end.length;
      const callsModule = isForward && (hints[stack[id] - NO_STACK] & FrameRole.ModuleCall) !== 0;
      if (callsModule && ofModules.at(-1) !== end.length) ofModules.push(end.length);
      isInside = isForward;
    }
  });
  if (isInside) end.push(start[length - 1]);
  return {
    begin: Int32Array.from(begin),
    end: Int32Array.from(end),
    before,
    ofModules: ofModules.length > 0 ? Int32Array.from(ofModules) : Int32Array.from(end.keys()),
  };
}
