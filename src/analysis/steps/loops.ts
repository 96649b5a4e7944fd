/**
 * Finds loops from call stacks alone. The stacks of two consecutive allocations part at some function. If that function
 * went back to an earlier line, it started a new iteration:
 *
 *     main:10 train:21 forward:5      (first line seen in train: 21)
 *     main:10 train:22
 *     main:10 train:21 forward:5  ←   train went from 22 back to 21: a new iteration, its head is train:21
 *
 * If the functions differ (f(g(x)) on one line), the order of first appearance replaces line numbers.
 */
import { getOrMake } from '../../base/collections.ts';
import { growableInt32 } from '../../base/growable.ts';
import { frameLabel, frameLocation, functionText } from '../../device/model/frame-text.ts';
import type { EventIndex, StackIndex, StackTable } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { MIN_STEPS, type StepSequence } from './step-sequence.ts';

/** Number of loops to report, the outermost first. */
const MAX_LOOPS = 8;
/** Shorter loops (building a model, one evaluation) say nothing about the program. */
const MIN_SHARE = 0.1;

type Jumps = ReturnType<typeof findJumps>;

interface Candidate {
  readonly head: StackIndex;
  readonly depth: number;
  count: number;
  first: EventIndex;
  last: EventIndex;
}

export function findLoops(context: AnalysisInput): StepSequence[] {
  const jumps = findJumps(context);
  return chooseHeads(context, jumps).map((candidate) => loopSequence(context, candidate, jumps));
}

function findJumps(context: AnalysisInput) {
  const { classifier, input } = context;
  const { allocations: table } = input.replay;
  const iterationAt = iterationFinder(context);
  const head = growableInt32();
  const event = growableInt32();
  const isOwnLine = new Set<StackIndex>();
  /** Heads that the program only ever re-entered from another function called by the same line. */
  const isCalledByLine = new Set<StackIndex>();
  let previous = 0;
  for (let id = table.preexisting; id < table.length; id++) {
    const stack = table.stack[id];
    if (!classifier.hasPython(stack) || classifier.isBackward(stack)) continue;
    const jumped = iterationAt(previous, stack);
    if (jumped !== undefined) {
      head.push(jumped.head);
      // A line that allocates twice in a row doesn't show where the loop is.
      if (previous !== stack) (jumped.isOwnLine ? isOwnLine : isCalledByLine).add(jumped.head);
      event.push(table.start[id]);
    }
    previous = stack;
  }
  for (const own of isOwnLine) isCalledByLine.delete(own);
  return { head: head.finish(), event: event.finish(), isCalledByLine };
}

/** A function that takes the stacks of allocations in order: each with the one before it. */
function iterationFinder({ input }: AnalysisInput) {
  const { stacks, frames } = input.snapshot;
  const { length, frame, parent } = stacks;
  const { name, filename, line } = frames;
  /** When a row was first entered, and when its own line first allocated; 0 = not yet. */
  const order = new Int32Array(length);
  const selfOrder = new Int32Array(length);
  let next = 1;
  const areOfOneFunction = (a: StackIndex, b: StackIndex): boolean =>
    a > 0 &&
    b > 0 &&
    name[frame[a]] === name[frame[b]] &&
    filename[frame[a]] === filename[frame[b]];
  const wentBack = (a: StackIndex, b: StackIndex, common: StackIndex): boolean => {
    if (areOfOneFunction(a, b)) return line[frame[b]] < line[frame[a]];
    if (a > 0 && b > 0) return order[b] < order[a];
    // One of the two is the line itself, which allocates without a further call.
    if (a > 0) return selfOrder[common] < order[a];
    return b > 0 && order[b] < selfOrder[common];
  };
  /** Head of the loop that started a new iteration between two allocations, if any. */
  return (previous: StackIndex, current: StackIndex) => {
    if (previous === current) return { head: current, isOwnLine: true };
    let [a, b, belowA, belowB] = [previous, current, 0, 0];
    while (a !== b) {
      if (a > b) [belowA, a] = [a, parent[a]];
      else [belowB, b] = [b, parent[b]];
    }
    for (let row = current; row !== b; row = parent[row]) order[row] ||= next++;
    selfOrder[current] ||= next++;
    if (!wentBack(belowA, belowB, b)) return undefined;
    const isOwnLine = belowB === 0 || areOfOneFunction(belowA, belowB);
    return { head: belowB || current, isOwnLine };
  };
}

function chooseHeads(context: AnalysisInput, { head, event }: Jumps): Candidate[] {
  const { parent } = context.input.snapshot.stacks;
  const byHead = new Map<StackIndex, Candidate>();
  head.forEach((top, i) => {
    const candidate = getOrMake(byHead, top, () => {
      let depth = 0;
      for (let row = top; row > 0; row = parent[row]) depth++;
      return { head: top, depth, count: 0, first: event[i], last: 0 };
    });
    candidate.count++;
    candidate.last = event[i];
  });
  const minSpan = context.input.trace.events.length * MIN_SHARE;
  return [...byHead.values()]
    .filter(({ count, first, last }) => count >= MIN_STEPS - 1 && last - first >= minSpan)
    .map((candidate) => ({ ...candidate, rank: rankOf(context, candidate.head) }))
    .filter(({ rank }) => rank < NO_STEP)
    .sort((a, b) => a.rank - b.rank || a.depth - b.depth || a.count - b.count || a.first - b.first)
    .slice(0, MAX_LOOPS);
}

const NO_STEP = 2;
const TORCH_FILE = /(^|[\\/])torch[\\/]/;

/**
 * 0: a loop of the program. 1: repeated calls of the outermost module, when the loop around it is invisible because
 * nothing else in it allocates. 2: loops inside a model, an optimizer or PyTorch.
 */
function rankOf(context: AnalysisInput, head: StackIndex): number {
  const { classifier, input } = context;
  if (classifier.isOptimizer(head) || context.once(loopsOfModels)(head)) return NO_STEP;
  const { frame, parent } = input.snapshot.stacks;
  const call = classifier.moduleCall(head);
  if (call > 0) return head === call || parent[head] === call ? 1 : NO_STEP;
  const { filename, kind } = input.stacks.frame(frame[head]);
  return TORCH_FILE.test(filename) && kind !== 'user' ? NO_STEP : 0;
}

/**
 * Tells loops inside a model that are no module's call, such as `reverse()` of a flow. Their file has the code of modules and
 * another file calls it, and they lead to no optimizer:
 *
 *     train.py:143 main → model.py:423 reverse → model.py:250 gaussian_sample
 */
function loopsOfModels({ classifier, input }: AnalysisInput): (head: StackIndex) => boolean {
  const { stacks } = input;
  const { frame, parent, length } = input.snapshot.stacks;
  const files = new Set<string>();
  const leadToOptimizer = new Set<StackIndex>();
  for (let row = 1; row < length; row++) {
    const { filename, kind, name } = stacks.frame(frame[row]);
    if (kind === 'user' && classifier.moduleCall(row) > 0 && name === 'forward')
      files.add(filename);
    let up = classifier.optimizerCall(row);
    for (; up > 0 && !leadToOptimizer.has(up); up = parent[up]) leadToOptimizer.add(up);
  }
  return (head) => {
    const { filename } = stacks.frame(frame[head]);
    if (!files.has(filename) || leadToOptimizer.has(parent[head])) return false;
    let outer = filename;
    for (let row = head; row > 0; row = parent[row]) {
      const caller = stacks.frame(frame[row]);
      if (caller.kind === 'user') outer = caller.filename;
    }
    return outer !== filename;
  };
}

/**
 * An iteration begins when the program reaches the head from elsewhere. Jumps back alone are not enough: the first
 * iteration of a loop that is entered many times comes from above. If the program never leaves the head (a loop of one
 * line), each allocation is an iteration.
 */
function loopSequence(
  context: AnalysisInput,
  { head, first }: Candidate,
  jumps: Jumps,
): StepSequence {
  const { input, classifier } = context;
  const { allocations: table } = input.replay;
  const { stacks } = input.snapshot;
  const isInside = rowsUnder(stacks, head);
  const arrivals: number[] = [];
  let wasInside = false;
  for (let id = table.preexisting; id < table.length; id++) {
    const stack = table.stack[id];
    if (!classifier.hasPython(stack) || classifier.isBackward(stack)) continue;
    const inside = isInside[stack] === 1;
    if (inside && !wasInside) arrivals.push(table.start[id] - 1);
    wasInside = inside;
  }
  const isLeft = arrivals.length >= MIN_STEPS;
  const starts = isLeft ? arrivals : [Math.min(first, arrivals[0] + 1) - 1];
  jumps.head.forEach((own, i) => {
    const start = jumps.event[i] - 1;
    if (!isLeft && own === head && start > starts[starts.length - 1]) starts.push(start);
  });
  // Functions called by one line, f(g(x)), alternate: that line is what repeats.
  const parent = stacks.parent[head];
  const line = jumps.isCalledByLine.has(head) && parent > 0 ? parent : head;
  const frame = input.stacks.frame(stacks.frame[line]);
  return {
    source: 'loop',
    description: `the program's returns to ${frameLabel(frame)}`,
    unit: `iteration ${/^\w+$/.test(frame.name) ? `in ${functionText(frame)}` : `at ${frameLocation(frame) ?? functionText(frame)}`}`,
    bounds: Int32Array.from([...starts, lastInLoop(context, head, starts)]),
    row: head,
    loop: { line: stacks.frame[line], caller: stacks.parent[line] },
    firstIsOpen: false,
  };
}

/**
 * The last iteration ends when the looping function returns, at the end of the trace, or, if the function goes on to
 * other things, after twice the usual length.
 */
function lastInLoop(
  context: AnalysisInput,
  head: StackIndex,
  starts: readonly EventIndex[],
): EventIndex {
  const { input, classifier } = context;
  const { allocations: table } = input.replay;
  const { stacks } = input.snapshot;
  const isInside = rowsUnder(stacks, stacks.parent[head]);
  const lengths = starts.slice(1).map((start, i) => start - starts[i]);
  lengths.sort((a, b) => a - b);
  const begin = starts[starts.length - 1] + 1;
  const limit = begin + 2 * lengths[lengths.length >> 1];
  for (let id = table.length - 1; id >= 0 && table.start[id] > begin; id--) {
    const stack = table.stack[id];
    if (table.start[id] > limit) continue;
    const isUnder = classifier.hasPython(stack) && isInside[stack] === 1;
    if (classifier.isBackward(stack) || isUnder) return table.start[id];
  }
  return begin;
}

/** Rows of a subtree, marked 1. */
function rowsUnder(tree: StackTable, top: StackIndex): Uint8Array {
  const isInside = new Uint8Array(tree.length);
  isInside[top] = 1;
  for (let row = top + 1; row < tree.length; row++) isInside[row] = isInside[tree.parent[row]];
  return isInside;
}
