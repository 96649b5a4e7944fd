/** A program's steps, as ranges of events. */
import type { AllocationIndex, ReplayColumns } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex, FrameIndex, StackIndex } from '../../format/snapshot/tables.ts';

export type StepSource = 'annotation' | 'optimizer' | 'loop';

export interface StepSequence {
  readonly source: StepSource;
  /** Where the steps come from; reads after 'steps are': 'the ranges named "ProfilerStep#…"'. */
  readonly description: string;
  /** One of them: 'step', 'batch', 'iteration in evaluate'. For texts see unitOf, which knows what a loop does. */
  readonly unit: string;
  /** Step i contains the events bounds[i] < event <= bounds[i + 1], so there is one more bound than steps. */
  readonly bounds: Int32Array;
  /** Row in which the loop repeats; 0 for annotations. */
  readonly row: StackIndex;
  /** Where the program loops; only known for the source 'loop'. */
  readonly loop: Loop | undefined;
  /** The first step includes what came before it (model building), so its figures are not typical. */
  readonly firstIsOpen: boolean;
}

export interface Loop {
  /** The line that each iteration returns to. */
  readonly line: FrameIndex;
  /** The row that called the looping function: rows directly below it are lines of that function. */
  readonly caller: StackIndex;
}

export const stepCount = ({ bounds }: StepSequence): number => Math.max(0, bounds.length - 1);

/** Fewer repetitions are not evidence. */
export const MIN_STEPS = 4;

/** The step of an event, from 0; events after the last bound belong to an unfinished step. */
export const stepOf = ({ bounds }: Pick<StepSequence, 'bounds'>, event: EventIndex): number =>
  lowerBound(bounds, event, 1) - 1;

/** Calls `visit` for each allocation made in a step, in order. */
export function forEachMade(
  { start, length, preexisting }: ReplayColumns['allocations'],
  { bounds }: Pick<StepSequence, 'bounds'>,
  visit: (id: AllocationIndex, step: number) => void,
): void {
  let step = 0;
  for (let id = preexisting; id < length && start[id] <= bounds[bounds.length - 1]; id++) {
    if (start[id] <= bounds[0]) continue;
    while (start[id] > bounds[step + 1]) step++;
    visit(id, step);
  }
}
