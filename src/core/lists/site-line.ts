import { type StackReader, stackKind } from '../device/stacks.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { CallSiteLine } from './allocation-list-types.ts';

/** `isFromBefore`: of allocations from before the trace, see `stackKind`. */
export function callSiteLine(
  stacks: StackReader,
  stack: StackIndex,
  isFromBefore: boolean,
): CallSiteLine {
  const topFrame = stacks.topUserFrameView(stack);
  const inner = stacks.innermostFrameView(stack);
  const isSame = inner?.name === topFrame?.name && inner?.filename === topFrame?.filename;
  return {
    stackKind: stackKind(stack, isFromBefore),
    topFrame,
    innerFrame: isSame ? undefined : inner,
  };
}
