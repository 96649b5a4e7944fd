/** What is found in all allocations before each one is judged. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { Task } from '../../base/task.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { movedGradients } from './moved-gradients.ts';
import { type ForwardRuns, findForwardRuns, type Passes } from './passes.ts';
import { growingStacks, workspacesBySize } from './size-evidence.ts';
import type { StackRoles } from './stack-roles.ts';
import type { ClassSource } from './types.ts';

export interface Overview {
  readonly workspaces: ReadonlySet<AllocationIndex>;
  readonly runs: ForwardRuns;
  /** See {@link growingStacks}. */
  readonly growing: ReadonlySet<StackIndex>;
  /** See {@link movedGradients}. */
  readonly isMovedGradient: (stack: StackIndex) => boolean;
}

export function* overviewOf(
  { snapshot, trace, replay }: ClassSource,
  roles: StackRoles,
  { stepEnds }: Passes,
): Task<Overview> {
  const { allocations, allocationOfEvent } = replay;
  const workspaces = yield* workspacesBySize(
    allocations,
    roles,
    stepEnds.at(-1) ?? trace.events.length - 1,
  );
  yield;
  const runs = yield* findForwardRuns(allocations, roles);
  yield;
  const growing = yield* growingStacks(allocations, allocationOfEvent, runs.before, roles);
  yield;
  const isMovedGradient = movedGradients(allocations, snapshot, roles);
  return { workspaces, runs, growing, isMovedGradient };
}
