/** What one line of the user's made of what sets a peak. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { largestGroup } from '../account/line-share.ts';
import { peakWithout } from '../account/moment.ts';
import type { Account } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { isSameLine, type Line, userLines } from '../findings/user-lines.ts';
import { type Diagnosis, DOES, plain } from './case.ts';
import type { Cause, Pattern } from './types.ts';

/** Whether the innermost user line on a stack calls a module. */
export function callsModule({ input }: AnalysisInput, stack: StackIndex): boolean {
  for (const frame of input.stacks.frames(stack)) {
    const { kind, name } = input.stacks.frame(frame);
    if (kind === 'user') return false;
    if (name === '_call_impl') return true;
  }
  return false;
}

export interface OneLine {
  readonly cause: Cause;
  readonly pattern: Pattern;
  readonly ids: readonly AllocationIndex[];
  readonly minBytes: number;
  /** All lines of the largest's function count. */
  readonly isOfFunction?: boolean;
  /** Each pass makes as much, and would set the same peak. */
  readonly isOfAllPasses?: boolean;
}

/** What one user line made of some tensors or, of data, the lines of one function; if that is enough. */
export function ofLine(
  context: AnalysisInput,
  account: Account,
  { cause, pattern, ids, minBytes, isOfFunction = false, isOfAllPasses = false }: OneLine,
): Diagnosis | undefined {
  const { replay, stacks } = context.input;
  const { stack } = replay.allocations;
  const largest = largestGroup(context, ids, (id) => {
    const view = stacks.topUserFrameView(stack[id]);
    return view && `${view.filename} ${isOfFunction ? view.name : view.line}`;
  });
  if (largest === undefined || largest.bytes < minBytes) return undefined;
  const { own, bytes } = largest;
  const lines = userLines(context, stack[own[0]]);
  const all = isOfAllPasses ? likeThose(context, own, lines[0]) : own;
  return {
    ...plain(cause, bytes, lines, DOES['allocated at']),
    ...{ pattern, severity: 'low', tensors: own },
    lowersPeakBytes: account.allocatedBytes - peakWithout(context.input, all),
  };
}

/** What a line made in any pass for the same reasons. */
function likeThose(
  { input, classification: { evidenceOf } }: AnalysisInput,
  some: readonly AllocationIndex[],
  line: Line,
): AllocationIndex[] {
  const { stack, length } = input.replay.allocations;
  const isOfLine = memoized((own: StackIndex) =>
    isSameLine(input.stacks.topUserFrameView(own), line),
  );
  const reasons = new Set(some.map((id) => evidenceOf[id]));
  const ids: AllocationIndex[] = [];
  for (let id = 0; id < length; id++)
    if (reasons.has(evidenceOf[id]) && isOfLine(stack[id])) ids.push(id);
  return ids;
}
