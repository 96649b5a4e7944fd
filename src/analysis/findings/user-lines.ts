/**
 * The user's own lines on a stack, and what they say about where a tensor was made.
 *
 *   model.py:79 (forward)        the innermost: in the model
 *   loss.py:12 (class_loss)      the line that calls the model: its output is made here
 *   train.py:97 (train_step)
 *   train.py:340 (main)          the line in the user's own loop: no need to look further out
 */
import { countOne, memoized } from '../../base/collections.ts';
import type { FrameView } from '../../device/model/types.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import type { AnalysisInput } from './analysis-input.ts';
import type { DeviceTables } from './types.ts';

/** What identifies a line of code. */
export type Line = Pick<FrameView, 'filename' | 'line'>;

export const isSameLine = (a: Line | undefined, b: Line | undefined): boolean =>
  a !== undefined && b !== undefined && a.filename === b.filename && a.line === b.line;

/** Limit for stacks without a known loop. */
const MAX_LINES = 8;

function userRows({ input }: AnalysisInput, stack: StackIndex | undefined): StackIndex[] {
  const { frame } = input.snapshot.stacks;
  return rowsOf(input, stack).filter((row) => input.stacks.frame(frame[row]).kind === 'user');
}

/** A stack's rows, the innermost first. */
export function rowsOf({ snapshot }: DeviceTables, stack: StackIndex = EMPTY_STACK): StackIndex[] {
  const rows: StackIndex[] = [];
  for (let row = stack; row > 0; row = snapshot.stacks.parent[row]) rows.push(row);
  return rows;
}

/** The innermost row of the user's whose frame passes the test, such as one that no other stacks have. */
export function innermostOwn(
  context: AnalysisInput,
  stack: StackIndex,
  isOwn: (frame: FrameIndex) => boolean,
): StackIndex | undefined {
  const { frame } = context.input.snapshot.stacks;
  return userRows(context, stack).find((row) => isOwn(frame[row]));
}

/**
 * The user lines that lead to an allocation: from the innermost out to the user's loop, or to `lead` if further out.
 *
 * @param more lines beyond that: who calls the loop
 */
export function userLines(
  context: AnalysisInput,
  stack: StackIndex | undefined,
  lead?: FrameIndex,
  more = 0,
): FrameView[] {
  const { frame } = context.input.snapshot.stacks;
  const rows = userRows(context, stack);
  const loop = loopRow(context, rows, context.stepSequences);
  const last = Math.max(
    loop === undefined ? MAX_LINES - 1 : rows.indexOf(loop),
    rows.findIndex((row) => frame[row] === lead),
  );
  return rows.slice(0, last + 1 + more).map((row) => context.input.stacks.frame(frame[row]));
}

/** The user row that is a line of the first loop found on the stack. */
function loopRow(
  { input }: AnalysisInput,
  rows: readonly StackIndex[],
  loops: readonly StepSequence[],
): StackIndex | undefined {
  const { parent } = input.snapshot.stacks;
  for (const { loop } of loops) {
    const found = loop && rows.find((row) => parent[row] === loop.caller);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The statement in the loop that leads to a stack. For a graph it says more than the innermost line, which is inside
 * the model. If the loop is in a library: the first user frame that it calls.
 */
export function statementFrame(
  { input, classifier, stepSequences }: AnalysisInput,
  stack: StackIndex,
): FrameIndex | undefined {
  if (!classifier.hasPython(stack)) return undefined;
  const { frame, parent } = input.snapshot.stacks;
  const isUser = (row: StackIndex) => input.stacks.frame(frame[row]).kind === 'user';
  const path = rowsOf(input, stack);
  for (const { loop } of stepSequences) {
    const at = path.findIndex((row) => parent[row] === loop?.caller);
    // From the loop's own line inward: the first user line.
    const row = path.slice(0, at + 1).findLast(isUser);
    if (row !== undefined) return frame[row];
  }
  return input.stacks.topUserFrame(stack);
}

/** The user's line on a stack that is in the innermost of these loops around it; undefined outside of them. */
export function lineInLoop(
  { input }: AnalysisInput,
  stack: StackIndex,
  loops: readonly StepSequence[],
): FrameIndex | undefined {
  const { frame, parent } = input.snapshot.stacks;
  const row = rowsOf(input, stack).find((own) =>
    loops.some(({ loop }) => loop?.caller === parent[own]),
  );
  if (row === undefined || input.stacks.frame(frame[row]).kind !== 'user') return undefined;
  return frame[row];
}

/** The innermost user line outside the model. */
export function callerOfModel(
  { input, classifier }: AnalysisInput,
  stack: StackIndex,
): FrameIndex | undefined {
  if (stack <= EMPTY_STACK) return undefined;
  const call = classifier.moduleCall(stack);
  const caller =
    call > 0 ? input.stacks.topUserFrame(input.snapshot.stacks.parent[call]) : undefined;
  return caller ?? input.stacks.topUserFrame(stack);
}

/**
 * The line that starts the run of several steps in which an optimizer is new; the optimizer is made there or just
 * before. If something loops as often as new optimizers appear, it is a line of that loop. Otherwise it is the line
 * that called the function with the steps' loop.
 */
export function runStartFrame(
  context: AnalysisInput,
  stack: StackIndex,
  runs: number,
  steps: number,
): FrameIndex | undefined {
  const { frame } = context.input.snapshot.stacks;
  const rows = userRows(context, stack);
  const repeats = (atLeast: number, atMost: number) =>
    context.stepSequences.filter(({ bounds }) => {
      const count = bounds.length - 1;
      return count >= atLeast && count <= atMost;
    });
  const own = loopRow(context, rows, repeats(0.8 * runs, 1.2 * runs));
  if (own !== undefined) return frame[own];
  const inner = loopRow(context, rows, repeats(0.8 * steps, 1.2 * steps));
  const outer = inner === undefined ? undefined : rows[rows.indexOf(inner) + 1];
  return outer === undefined || isStayedIn(context, outer, runs) ? undefined : frame[outer];
}

/** Whether the runs are all in one call from this line: another line of the called function runs once for each. */
function isStayedIn({ input, classifier }: AnalysisInput, outer: StackIndex, runs: number) {
  const { parent } = input.snapshot.stacks;
  const lineOf = memoized((stack: StackIndex) => {
    let row = stack;
    while (row > 0 && parent[row] !== outer) row = parent[row];
    return row;
  });
  const entries = new Map<StackIndex, number>();
  let last = 0;
  for (const stack of input.replay.allocations.stack) {
    if (!classifier.hasPython(stack) || classifier.isBackward(stack)) continue;
    const line = lineOf(stack);
    if (line !== last) countOne(entries, line);
    last = line;
  }
  const isOften = (count: number) => count >= 0.8 * runs && count <= 1.2 * runs;
  return (
    (entries.get(0) ?? 0) <= 1 && [...entries].some(([line, count]) => line > 0 && isOften(count))
  );
}
