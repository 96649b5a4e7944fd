/** How much of some memory a line allocated, itself or in what it called. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { groupBy, memoized, sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount, formatPercent, plural } from '../../base/format.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { FrameIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel, isSameLine, type Line } from '../findings/user-lines.ts';
import type { Account } from './types.ts';

/** From this share on, a line allocates 'it'. */
const WHOLE_SHARE = 0.9;
/** From this share on, the rest is not worth a word. */
const ALONE_SHARE = 0.97;
/** Below this share it is not 'most of it': half is no more than the other half. */
const MOST_SHARE = 0.51;

interface LineShare {
  /** Of the bytes; 1 if there are none. */
  readonly share: number;
  /** Other statements that allocated some of it. */
  readonly others: readonly FrameView[];
}

/** Whether a line is on a stack. */
export const onStack = (context: AnalysisInput, line: Line) =>
  memoized((stack: StackIndex) =>
    [...context.input.stacks.frames(stack)].some((frame) => isLine(context, frame, line)),
  );

const isLine = ({ input }: AnalysisInput, frame: FrameIndex | undefined, line: Line): boolean =>
  frame !== undefined && isSameLine(input.stacks.frame(frame), line);

/** Of the bytes of these, the share with such a stack, see onStack; 1 if there are none. */
export function shareUnder(
  { input }: AnalysisInput,
  ids: readonly AllocationIndex[],
  isUnder: (stack: StackIndex) => boolean,
): number {
  const { stack, sizeBytes } = input.replay.allocations;
  const rest = sumBy(ids, (id) => (isUnder(stack[id]) ? 0 : sizeBytes[id]));
  return (
    1 -
    rest /
      Math.max(
        1,
        sumBy(ids, (id) => sizeBytes[id]),
      )
  );
}

export function lineShare(
  context: AnalysisInput,
  ids: readonly AllocationIndex[],
  line: Line,
): LineShare {
  const { stack } = context.input.replay.allocations;
  const isUnder = onStack(context, line);
  const rest = ids.filter((id) => !isUnder(stack[id]));
  // Beside a line in the model, others in the model are meant, not who called it.
  const own = ids.find((id) => isUnder(stack[id]));
  const isInModel =
    own !== undefined &&
    isLine(context, context.input.stacks.topUserFrame(stack[own]), line) &&
    !isLine(context, callerOfModel(context, stack[own]), line);
  const statementOf = (id: AllocationIndex) =>
    isInModel ? context.input.stacks.topUserFrame(stack[id]) : callerOfModel(context, stack[id]);
  const others = new Set(rest.flatMap((id) => statementOf(id) ?? []));
  const views = [...others].map((frame) => context.input.stacks.frame(frame));
  return { share: shareUnder(context, ids, isUnder), others: views };
}

/** Of what is allocated: a line with less says little about a run. */
const MOST_OF_RUN = 0.1;

/** Of these allocations, those with one key that have the most bytes; those without a key don't count. */
export function largestGroup<Key extends number | string>(
  { input }: AnalysisInput,
  ids: readonly AllocationIndex[],
  keyOf: (id: AllocationIndex) => Key | undefined,
): { key: Key; own: AllocationIndex[]; bytes: number } | undefined {
  const { sizeBytes } = input.replay.allocations;
  const [largest] = [...groupBy(ids, keyOf)]
    .flatMap(([key, own]) =>
      key === undefined ? [] : { key, own, bytes: sumBy(own, (id) => sizeBytes[id]) },
    )
    .sort((a, b) => b.bytes - a.bytes);
  return largest;
}

export interface LargestLine {
  readonly line: FrameView;
  readonly bytes: number;
  readonly count: number;
  /** With what it called, in other lines of the user's. */
  readonly withCalledBytes: number;
  readonly allocations: readonly AllocationIndex[];
}

/**
 * The user's line that allocated most of what is live in an account; if none has a tenth of it, the one whose call of
 * the model did. Undefined if that has less too.
 */
export function largestLine(
  context: AnalysisInput,
  { entries, allocatedBytes }: Pick<Account, 'entries' | 'allocatedBytes'>,
): LargestLine | undefined {
  const { input } = context;
  const { stack, sizeBytes } = input.replay.allocations;
  const ids = entries.flatMap(({ kind, allocations }) =>
    kind === 'pending-free' ? [] : allocations,
  );
  const ownLine = (id: AllocationIndex) => input.stacks.topUserFrame(stack[id]);
  const largest = [ownLine, (id: AllocationIndex) => callerOfModel(context, stack[id])]
    .map((lineOf) => largestGroup(context, ids, lineOf))
    .find((group) => (group?.bytes ?? 0) >= MOST_OF_RUN * allocatedBytes);
  if (largest === undefined) return undefined;
  const line = input.stacks.frame(largest.key);
  const isUnder = onStack(context, line);
  const bytesIf = (isCounted: (id: AllocationIndex) => boolean) =>
    sumBy(ids, (id) => (isCounted(id) ? sizeBytes[id] : 0));
  const isOwn = (id: AllocationIndex) => ownLine(id) === largest.key;
  return {
    line,
    bytes: bytesIf(isOwn),
    count: ids.filter(isOwn).length,
    withCalledBytes: bytesIf((id) => isUnder(stack[id])),
    allocations: largest.own,
  };
}

/**
 * 'allocates the most of your lines at the peak: 1.32 GiB in 24 tensors, or 2.11 GiB with what it calls', or, if it is known for
 * what it calls, '…: 2.11 GiB with what it calls'
 */
export function mostText({ bytes, count, withCalledBytes }: Figures, when: string): string {
  if (bytes < withCalledBytes * MOST_OF_RUN)
    return `allocates the most of your lines ${when}: ${formatBytes(withCalledBytes)} with what it calls`;
  const all =
    withCalledBytes > bytes ? `, or ${formatBytes(withCalledBytes)} with what it calls` : '';
  return `allocates the most of your lines ${when}: ${formatBytes(bytes)} in ${plural(count, 'tensor')}${all}`;
}

type Figures = Pick<LargestLine, 'bytes' | 'count' | 'withCalledBytes'>;

/** 'allocates it', 'allocates most of it', 'allocates 32.3% of it' */
export function allocatesText({ share }: LineShare): string {
  if (share >= WHOLE_SHARE) return 'allocates it';
  return share >= MOST_SHARE ? 'allocates most of it' : `allocates ${formatPercent(share)} of it`;
}

/**
 * ' and main.py:174 (evaluate)', ' and 2 other lines'; '' if the line allocated nearly all of it.
 * @param wholeShare what nearly all is
 */
export function othersText({ share, others }: LineShare, wholeShare = ALONE_SHARE): string {
  const [first] = others;
  // A line that holds what others made is not one of them.
  if (share >= wholeShare || share === 0) return '';
  if (first === undefined) return ' and the backward pass';
  return others.length === 1
    ? ` and ${frameLabel(first)}`
    : ` and ${formatCount(others.length)} other lines`;
}
