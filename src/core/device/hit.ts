import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { DeviceContext } from './device-context.ts';
import { timeOfEventUs } from './event-times.ts';
import { allocationLabel } from './labels.ts';
import { stackKind } from './stacks.ts';
import type { HitResult } from './types.ts';

/** What the timeline's hit test found in the stack at one state. */
export interface StackRange {
  readonly ids: readonly AllocationIndex[];
  /** Sum of their block bytes. */
  readonly totalBytes: number;
  /** The one that covers most; -1 when nothing is there. */
  readonly main: AllocationIndex;
  /** Lower edge of `main` in the stack, in bytes. */
  readonly mainBottomBytes: number;
}

/** Words for what is under the pointer; undefined above the stack. */
export function describeHit(
  { snapshot, trace, replay, stacks }: DeviceContext,
  state: EventIndex,
  range: StackRange,
): HitResult | undefined {
  const { main } = range;
  if (main < 0) return undefined;
  const table = replay.allocations;
  return {
    count: range.ids.length,
    allocation: main,
    label: allocationLabel(table, snapshot.addresses, main),
    blockBytes: table.sizeBytes[main],
    requestedBytes: table.requestedBytes[main],
    ageEvents: state - table.start[main],
    // NaN for one from before the trace: how long before, nobody knows.
    ageUs: timeOfEventUs(trace.events, state) - timeOfEventUs(trace.events, table.start[main]),
    pending: table.freeRequested[main] <= state,
    stackKind: stackKind(table.stack[main], main < table.preexisting),
    topFrame: stacks.topUserFrameView(table.stack[main]),
    totalBytes: range.totalBytes,
    bottomBytes: range.mainBottomBytes,
  };
}
