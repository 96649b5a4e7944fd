/** Which lines hold more after a level shift than before it, and what else changed in that step. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { getOrMake, memoized } from '../../base/collections.ts';
import { formatBytes } from '../../base/format.ts';
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
  const before = heldByLine(context, bounds, step - 1);
  const after = heldByLine(context, bounds, Math.min(step + 1, bounds.length - 2));
  const { sizeBytes, stack } = context.input.replay.allocations;
  const lines = Array.from(after, ([line, { mostBytes, ids, largest }]): ChangedLine => {
    const was = before.get(line);
    const beforeBytes = was?.mostBytes ?? 0;
    return {
      stack: stack[largest],
      isNamed: line !== BACKWARD,
      isNew: was === undefined,
      moreBytes: mostBytes - beforeBytes,
      beforeBytes,
      largest: [was === undefined ? 0 : sizeBytes[was.largest], sizeBytes[largest]],
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

interface Held {
  nowBytes: number;
  mostBytes: number;
  readonly ids: AllocationIndex[];
  /** The largest that the step made, or else the largest of all: cuBLAS's workspace stays forever and says little. */
  largest: AllocationIndex;
}

/** Each user line's highest live bytes in a step, and the tensors that it has or makes there. */
function heldByLine(
  { input, classifier }: AnalysisInput,
  bounds: Int32Array,
  step: number,
): Map<number, Held> {
  const { start, freeRequested, sizeBytes, stack, length } = input.replay.allocations;
  const lineOf = memoized((own: StackIndex) =>
    classifier.isBackward(own) ? BACKWARD : (input.stacks.topUserFrame(own) ?? BACKWARD),
  );
  const byLine = new Map<number, Held>();
  const isMade = (id: AllocationIndex) => start[id] > bounds[step];
  const add = (id: AllocationIndex): void => {
    const empty = () => ({ nowBytes: 0, mostBytes: 0, ids: [], largest: id });
    const held = getOrMake<number, Held>(byLine, lineOf(stack[id]), empty);
    const { largest } = held;
    if (isMade(id) === isMade(largest) ? sizeBytes[id] > sizeBytes[largest] : isMade(id))
      held.largest = id;
    held.ids.push(id);
    held.nowBytes += sizeBytes[id];
    held.mostBytes = Math.max(held.mostBytes, held.nowBytes);
  };
  for (let id = 0; id < length && start[id] <= bounds[step]; id++) {
    if (freeRequested[id] > bounds[step]) add(id);
  }
  for (let event = bounds[step] + 1; event <= bounds[step + 1]; event++) {
    const id = input.replay.allocationOfEvent[event];
    if (id < 0) continue;
    if (input.trace.events.action[event] === TraceAction.Alloc) add(id);
    else if (input.trace.events.action[event] === TraceAction.FreeRequested) {
      const held = byLine.get(lineOf(stack[id]));
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
  const namesBetween = (from: number, to: number) =>
    annotationSpans(input)
      .filter(({ startEvent }) => startEvent > from && startEvent <= to)
      .map(({ name }) => name.replace(/\d+/g, '…'));
  const before = new Set(namesBetween(-Infinity, bounds[step]));
  const own = new Set(namesBetween(bounds[step], bounds[step + 1]));
  return [...own].filter((name) => !before.has(name));
}
