/**
 * Where allocations come from: the statement of the program that led to them, outside all modules.
 *
 *     for batch in loader:
 *         loss = loss_of(model, batch)   ← the statement of all that the model's modules allocate here
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { addUp, groupBy, largestFirst, memoized, sumBy } from '../../base/collections.ts';
import type { FrameView } from '../../device/model/types.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { GRAPH_SITES, keepsPasses, sitesAmong } from '../detectors/growth-groups.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel, isSameLine, lineInLoop, userLines } from '../findings/user-lines.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import { onStack, shareUnder } from './line-share.ts';

/** The lines to look at, then those that lead there from the program's loop. */
export function linesFrom(
  [first, ...beside]: readonly FrameView[] = [],
  lines: readonly FrameView[],
): FrameView[] {
  if (first === undefined) return [...lines];
  const at = lines.findIndex((line) => isSameLine(line, first));
  return [first, ...beside, ...lines.slice(at + 1)];
}

export const placesOf = (context: AnalysisInput): Places => new Places(context);

export class Places {
  readonly #context: AnalysisInput;
  readonly statement: (stack: StackIndex) => FrameIndex | undefined;
  /** The innermost user line. */
  readonly lineOf: (stack: StackIndex) => FrameIndex | undefined;

  constructor(context: AnalysisInput) {
    this.#context = context;
    this.statement = memoized((stack: StackIndex) => callerOfModel(context, stack));
    this.lineOf = memoized((stack: StackIndex) =>
      stack > EMPTY_STACK ? context.input.stacks.topUserFrame(stack) : undefined,
    );
  }

  stackOf(id: AllocationIndex): StackIndex {
    return this.#context.input.replay.allocations.stack[id];
  }

  /** The same key for everything one statement made. All backward threads count as one place. */
  keyOf(id: AllocationIndex): number {
    const stack = this.stackOf(id);
    if (this.#context.classifier.isBackward(stack)) return -1;
    return this.statement(stack) ?? -2 - stack;
  }

  /** The function that contains the statement; undefined if the stack has no user line. */
  functionOf(stack: StackIndex): string | undefined {
    const frame = this.statement(stack);
    if (frame === undefined) return undefined;
    const { name, filename } = this.#context.input.stacks.frame(frame);
    return `${filename} ${name}`;
  }

  /**
   * The statement that called the model, then the last statement of the same function whose tensors are kept too
   * (closest to where they are stored), then the user lines that lead there.
   *
   * @param loops whose own line is named in its place, if it calls a helper that calls the model
   */
  linesOf(ids: readonly AllocationIndex[], loops: readonly StepSequence[]): FrameView[] {
    const { sizeBytes } = this.#context.input.replay.allocations;
    const inModules = ids.filter((id) => this.#context.classifier.isForward(this.stackOf(id)));
    const byKey = groupBy(inModules.length > 0 ? inModules : ids, (id) => this.keyOf(id));
    const sums = [...byKey.values()].map((own) => ({
      own,
      bytes: sumBy(own, (id) => sizeBytes[id]),
    }));
    const stack = this.heaviest(sums.reduce((a, b) => (b.bytes > a.bytes ? b : a)).own);
    const called = this.statement(stack);
    const home = this.functionOf(stack);
    let last = called;
    for (const id of ids) {
      const own = this.statement(this.stackOf(id));
      if (own === undefined || this.functionOf(this.stackOf(id)) !== home) continue;
      if (last === undefined || this.#lineOf(own) > this.#lineOf(last)) last = own;
    }
    // A helper may call the model: then the line to edit is the one in the loop that calls the helper, if it alone does.
    const looped = lineInLoop(this.#context, stack, loops);
    const inLoop = looped !== undefined && this.#hasMost(ids, looped) ? looped : called;
    const frames = [...new Set(inLoop === called ? [called, last] : [inLoop])].flatMap((own) =>
      own === undefined ? [] : this.#context.input.stacks.frame(own),
    );
    return linesFrom(frames, userLines(this.#context, stack, inLoop));
  }

  /** Whether a line is on the stacks of most bytes. */
  #hasMost(ids: readonly AllocationIndex[], line: FrameIndex): boolean {
    const view = this.#context.input.stacks.frame(line);
    return shareUnder(this.#context, ids, onStack(this.#context, view)) >= 0.5;
  }

  #lineOf(frame: FrameIndex): number {
    return this.#context.input.stacks.frame(frame).line;
  }

  heaviest(ids: readonly AllocationIndex[]): StackIndex {
    const { sizeBytes } = this.#context.input.replay.allocations;
    const sums = new Map<StackIndex, number>();
    for (const id of ids) {
      addUp(sums, this.stackOf(id), sizeBytes[id]);
    }
    const stacks = largestFirst(sums).map(([stack]) => stack);
    // The backward pass has no line to show.
    return stacks.find((stack) => stack > EMPTY_STACK) ?? stacks[0];
  }

  /** No line made half of the bytes, so that naming one would mislead: the statement that led to all of them is meant. */
  isSpread(ids: readonly AllocationIndex[]): boolean {
    const { sizeBytes } = this.#context.input.replay.allocations;
    const byLine = new Map<FrameIndex | undefined, number>();
    for (const id of ids) addUp(byLine, this.lineOf(this.stackOf(id)), sizeBytes[id]);
    return ids.length > 0 && Math.max(...byLine.values()) < sumBy(ids, (id) => sizeBytes[id]) / 2;
  }

  /** Made at several call sites inside modules, and most of what their passes made. */
  isGraph(ids: readonly AllocationIndex[]): boolean {
    const { classifier } = this.#context;
    const inside = ids.filter((id) => classifier.isForward(this.stackOf(id)));
    return sitesAmong(this.#context, inside) >= GRAPH_SITES && keepsPasses(this.#context, ids);
  }
}
