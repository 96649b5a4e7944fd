import { type StackReader, stackKind } from '../device/stacks.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { SiteLine } from './allocation-list-types.ts';

/** `isFromBefore`: of allocations from before the trace, see `stackKind`. */
export function siteLine(stacks: StackReader, stack: StackIndex, isFromBefore: boolean): SiteLine {
  const topFrame = stacks.topUserFrameView(stack);
  const inner = stacks.innermostFrameView(stack);
  const isSame = inner?.name === topFrame?.name && inner?.filename === topFrame?.filename;
  return {
    stackKind: stackKind(stack, isFromBefore),
    topFrame,
    innerFrame: isSame ? undefined : inner,
  };
}
