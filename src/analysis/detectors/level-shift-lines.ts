/** Which lines hold more after a level shift than before it, and what else changed in that step. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes } from '../../base/format.ts';
import { memoized } from '../../base/memoized.ts';
import { annotationSpans } from '../../device/model/annotations.ts';
import { type EventIndex, type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
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

/** The largest rise first. Compares the step before the rise with the one after it. */
export function changedLines(
  context: AnalysisInput,
  bounds: Int32Array,
  step: number,
): ChangedLine[] {
  const lineOf = lineReader(context);
  const before = heldByLine(context, bounds, step - 1, lineOf);
  const afterStep = Math.min(step + 1, bounds.length - 2);
  const after = heldByLine(context, bounds, afterStep, lineOf);
  const { sizeBytes, stack, start } = context.input.replay.allocations;
  const largestFirst = (ids: readonly AllocationIndex[]) =>
    [...ids].sort((a, b) => sizeBytes[b] - sizeBytes[a]);
  // What the step itself made says more than what was there before: cuBLAS's workspace stays forever.
  const made = (ids: readonly AllocationIndex[], begin: EventIndex) => {
    const own = ids.filter((id) => start[id] > begin);
    return own.length > 0 ? own : ids;
  };
  const lines: ChangedLine[] = [];
  for (const [line, { mostBytes, ids }] of after) {
    const was = before.get(line);
    const moreBytes = mostBytes - (was?.mostBytes ?? 0);
    if (moreBytes <= 0) continue;
    const [top] = largestFirst(made(ids, bounds[afterStep]));
    lines.push({
      stack: stack[top],
      isNamed: line !== BACKWARD,
      isNew: was === undefined,
      moreBytes,
      beforeBytes: was?.mostBytes ?? 0,
      largest: [
        highest([0, ...made(was?.ids ?? [], bounds[step - 1]).map((id) => sizeBytes[id])]),
        sizeBytes[top],
      ],
      count: ids.length,
      ids,
    });
  }
  return lines.sort((a, b) => b.moreBytes - a.moreBytes);
}

export const noteOf = ({ isNew, beforeBytes, moreBytes }: ChangedLine): string =>
  isNew
    ? 'made for the first time'
    : `${formatBytes(beforeBytes)} → ${formatBytes(beforeBytes + moreBytes)} at a time`;

/** The innermost user frame of an allocation, or BACKWARD. */
function lineReader({ input, classifier }: AnalysisInput): (id: AllocationIndex) => number {
  const { stack } = input.replay.allocations;
  const lineOf = memoized((own: StackIndex) =>
    classifier.isBackward(own) ? BACKWARD : (input.stacks.topUserFrame(own) ?? BACKWARD),
  );
  return (id) => lineOf(stack[id]);
}

interface Held {
  nowBytes: number;
  mostBytes: number;
  readonly ids: AllocationIndex[];
}

/** Each line's highest live bytes in a step, and the tensors that it has or makes there. */
function heldByLine(
  { input: { replay, trace } }: AnalysisInput,
  bounds: Int32Array,
  step: number,
  lineOf: (id: AllocationIndex) => number,
): Map<number, Held> {
  const { start, freeRequested, sizeBytes, length } = replay.allocations;
  const byLine = new Map<number, Held>();
  const add = (id: AllocationIndex): void => {
    const line = lineOf(id);
    const held = byLine.get(line) ?? { nowBytes: 0, mostBytes: 0, ids: [] };
    byLine.set(line, held);
    held.ids.push(id);
    held.nowBytes += sizeBytes[id];
    held.mostBytes = Math.max(held.mostBytes, held.nowBytes);
  };
  for (let id = 0; id < length && start[id] <= bounds[step]; id++) {
    if (freeRequested[id] > bounds[step]) add(id);
  }
  for (let event = bounds[step] + 1; event <= bounds[step + 1]; event++) {
    const id = replay.allocationOfEvent[event];
    if (id < 0) continue;
    if (trace.events.action[event] === TraceAction.Alloc) add(id);
    else if (trace.events.action[event] === TraceAction.FreeRequested) {
      const held = byLine.get(lineOf(id));
      if (held !== undefined) held.nowBytes -= sizeBytes[id];
    }
  }
  return byLine;
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
  const spans = annotationSpans(input);
  const nameOf = (name: string): string => name.replace(/\d+/g, '…');
  const before = new Set(
    spans.filter(({ startEvent }) => startEvent <= bounds[step]).map(({ name }) => nameOf(name)),
  );
  const own = spans.filter(
    ({ startEvent }) => startEvent > bounds[step] && startEvent <= bounds[step + 1],
  );
  const fresh = own.map(({ name }) => nameOf(name)).filter((name) => !before.has(name));
  return [...new Set(fresh)];
}
