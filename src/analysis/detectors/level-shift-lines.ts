/** Which lines hold more after a level shift than before it, and what else changed in that step. */

import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { groupBy, memoized, sumBy } from '../../base/collections.ts';
import { formatBytes } from '../../base/format.ts';
import { annotationSpans } from '../../device/model/annotations.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { locationText } from '../findings/finding-parts.ts';
import { userLines } from '../findings/user-lines.ts';

/** A user line, or all backward threads together. */
export interface ChangedLine {
  /** The stack of its largest tensor. */
  readonly stack: StackIndex;
  /** False for backward threads. */
  readonly isNamed: boolean;
  /** Nothing from it was live in the step before. */
  readonly isNew: boolean;
  /** By the most that is live at any moment of a step. */
  readonly moreBytes: number;
  readonly beforeBytes: number;
  readonly largest: readonly [before: number, after: number];
  readonly count: number;
  /** Its tensors in a step of the higher level. */
  readonly ids: readonly AllocationIndex[];
}

const BACKWARD = -1;

/** The highest moment of a step. */
export interface Peak {
  readonly event: EventIndex;
  readonly bytes: number;
  /** The last event before the step. */
  readonly begin: EventIndex;
}

/** The largest rise first: compares the highest moments of the steps before and after the rise. */
export function changedLines(context: AnalysisInput, before: Peak, after: Peak): ChangedLine[] {
  const { sizeBytes, stack } = context.input.replay.allocations;
  const held = heldByLine(context, before);
  const largestOf = (ids: readonly AllocationIndex[], from: EventIndex) => {
    // cuBLAS's workspace stays forever and says little: what the step itself made comes first.
    const made = ids.filter((id) => context.input.replay.allocations.start[id] > from);
    return (made.length > 0 ? made : ids).reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  };
  const lines = Array.from(heldByLine(context, after), ([line, ids]): ChangedLine => {
    const was = held.get(line) ?? [];
    const beforeBytes = sumBy(was, (id) => sizeBytes[id]);
    const largest = largestOf(ids, after.begin);
    return {
      stack: stack[largest],
      isNamed: line !== BACKWARD,
      isNew: was.length === 0,
      moreBytes: sumBy(ids, (id) => sizeBytes[id]) - beforeBytes,
      beforeBytes,
      largest: [was.length === 0 ? 0 : sizeBytes[largestOf(was, before.begin)], sizeBytes[largest]],
      count: ids.length,
      ids,
    };
  });
  return lines.filter(({ moreBytes }) => moreBytes > 0).sort((a, b) => b.moreBytes - a.moreBytes);
}

export const noteOf = ({ isNew, beforeBytes, moreBytes }: ChangedLine): string =>
  isNew
    ? 'made for the first time'
    : `${formatBytes(beforeBytes)} → ${formatBytes(beforeBytes + moreBytes)} at a time`;

/** What each user line has at an event, and all backward threads together. */
function heldByLine({ input, classifier }: AnalysisInput, { event }: Peak) {
  const { allocations } = input.replay;
  const lineOf = memoized((own: StackIndex) =>
    classifier.isBackward(own) ? BACKWARD : (input.stacks.topUserFrame(own) ?? BACKWARD),
  );
  return groupBy(liveAt(allocations, event), (id) => lineOf(allocations.stack[id]));
}

/**
 * The first allocation in the step with a stack and size that the step before lacks: later differences may follow from
 * it.
 */
export function firstChange(
  context: AnalysisInput,
  bounds: Int32Array,
  step: number,
): { readonly event: EventIndex; readonly line: string | undefined } {
  const { start, requestedBytes, stack, length, preexisting } = context.input.replay.allocations;
  const seen = new Set<string>();
  for (let id = preexisting; id < length && start[id] <= bounds[step + 1]; id++) {
    if (start[id] <= bounds[step - 1]) continue;
    const key = `${stack[id]} ${requestedBytes[id]}`;
    if (start[id] <= bounds[step]) seen.add(key);
    else if (!seen.has(key)) {
      const lines = userLines(context, stack[id]).map((frame) => locationText(frame));
      const ends = lines.length > 2 ? [lines[0], lines[lines.length - 1]] : lines;
      const line = lines.length === 0 ? undefined : ends.join(', called from ');
      return { event: start[id], line };
    }
  }
  return { event: bounds[step] + 1, line: undefined };
}

/** Names of annotations that first began in this step; names that differ only in numbers count as equal. */
export function annotationsSince(
  { input }: AnalysisInput,
  bounds: Int32Array,
  step: number,
): string[] {
  const namesBetween = (from: number, to: number) =>
    annotationSpans(input)
      .filter(({ startEvent }) => startEvent > from && startEvent <= to)
      .map(({ name }) => name.replace(/\d+/g, '…'));
  const before = new Set(namesBetween(-Infinity, bounds[step]));
  const own = new Set(namesBetween(bounds[step], bounds[step + 1]));
  return [...own].filter((name) => !before.has(name));
}
