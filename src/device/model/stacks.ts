import { growableInt32 } from '../../base/growable.ts';
import { getOrMake } from '../../base/memoized.ts';
import {
  EMPTY_STACK,
  type FrameIndex,
  NO_STACK,
  type Snapshot,
  type StackIndex,
  type StackTable,
} from '../../format/snapshot/tables.ts';
import { FRAME_RANK, FrameKinds } from './frame-kinds.ts';
import { functionText } from './frame-text.ts';
import type { FrameView, StackKind, StackView } from './types.ts';

/** What stacks are read from. */
export type StackSource = Pick<Snapshot, 'strings' | 'frames' | 'stacks'>;

/** Stacks and frames of a snapshot as texts. */
export class StackReader {
  readonly #snapshot: StackSource;
  readonly #kinds: FrameKinds;
  #sites: Int32Array | undefined;

  constructor(snapshot: StackSource) {
    this.#snapshot = snapshot;
    this.#kinds = new FrameKinds(snapshot.strings, snapshot.frames, snapshot.stacks);
  }

  /** A stack that an event or block carries. `isFromBefore`: of an allocation from before the trace. */
  view(stack: StackIndex, isFromBefore = false): StackView {
    const frames: FrameView[] = [];
    for (const frame of this.frames(stack)) frames.push(this.frame(frame));
    return { kind: stackKind(stack, isFromBefore), frames };
  }

  /** Frame rows of a stack, innermost first. */
  *frames(stack: StackIndex): Generator<FrameIndex> {
    const { frame, parent } = this.#snapshot.stacks;
    for (let row = stack; row > EMPTY_STACK; row = parent[row]) yield frame[row];
  }

  frame(index: FrameIndex): FrameView {
    const { strings, frames } = this.#snapshot;
    const { kind, isPlumbing } = this.#kinds.of(index);
    return {
      name: strings.get(frames.name[index]),
      filename: strings.get(frames.filename[index]),
      line: frames.line[index],
      kind,
      isPlumbing,
      extras: frames.extras.get(index),
    };
  }

  /**
   * The line to look at first: the innermost of the user's own, else of a framework, else of PyTorch, else of
   * Python itself. A stack without Python is named by its C++: see `#namingFrame`. Undefined when nothing in the
   * stack says what was computed.
   */
  topUserFrame(stack: StackIndex): FrameIndex | undefined {
    let best: FrameIndex | undefined;
    let bestRank = FRAME_RANK.cpp;
    for (const frame of this.frames(stack)) {
      const rank = FRAME_RANK[this.#kinds.of(frame).kind];
      if (rank === 0) return frame;
      if (rank >= bestRank) continue;
      best = frame;
      bestRank = rank;
    }
    return best ?? this.#namingFrame(stack).frame;
  }

  topUserFrameView(stack: StackIndex): FrameView | undefined {
    const frame = this.topUserFrame(stack);
    if (frame === undefined) return undefined;
    const view = this.frame(frame);
    if (view.kind !== 'cpp') return view;
    const { isBackward } = this.#namingFrame(stack);
    return isBackward ? { ...view, isBackward } : view;
  }

  /** A line of Python, and not one of C++ or of a compiled library. */
  isPython(frame: FrameIndex): boolean {
    return this.#kinds.isPython(frame);
  }

  /** The innermost frame that is no plumbing: the function that the user's line led to. */
  innermostFrameView(stack: StackIndex): FrameView | undefined {
    for (const frame of this.frames(stack)) {
      if (!this.#kinds.of(frame).isPlumbing) return this.frame(frame);
    }
    return undefined;
  }

  /** What the line to look at first led to, where that is another function; see `leafText`. */
  leafFrameView(stack: StackIndex): FrameView | undefined {
    const top = this.topUserFrameView(stack);
    const leaf = this.innermostFrameView(stack);
    return leaf?.name === top?.name && leaf?.filename === top?.filename ? undefined : leaf;
  }

  /**
   * The call site that a stack belongs to, as the first row of it. A line of Python that was recorded with its C++
   * frames has a stack for each way through the dispatcher, and all are one call site, as they are in a recording
   * of Python alone. Backward threads, which run no Python, have a call site for each name, such as
   * 'AddmmBackward0 (backward pass)'. Without any Python in the recording each stack is one of its own.
   */
  siteOf(stack: StackIndex): StackIndex {
    if (stack <= EMPTY_STACK) return stack;
    this.#sites ??= this.#findSites();
    return this.#sites[stack];
  }

  #findSites(): Int32Array {
    const { frames, stacks } = this.#snapshot;
    const isPython = pythonFrameMask(frames.length, (frame) => this.isPython(frame));
    const sites = Int32Array.from({ length: stacks.length }, (_, row) => row);
    if (!isPython.includes(1) || !isPython.includes(0)) return sites;
    const { rowOf, recordedOf } = keepOnlyFrames(stacks, isPython);
    const byName = new Map<string, StackIndex>();
    for (let row = 1; row < sites.length; row++) {
      sites[row] = rowOf[row] === EMPTY_STACK ? this.#cppSite(row, byName) : recordedOf[rowOf[row]];
    }
    return sites;
  }

  /** The first row with that name, without what the named function called: it differs from stack to stack. */
  #cppSite(stack: StackIndex, byName: Map<string, StackIndex>): StackIndex {
    const named = this.topUserFrameView(stack);
    if (named === undefined) return EMPTY_STACK;
    return getOrMake(byName, functionText(named), () => {
      const { frame, parent } = this.#snapshot.stacks;
      const naming = this.topUserFrame(stack);
      let row = stack;
      while (frame[row] !== naming) row = parent[row];
      return row;
    });
  }

  /**
   * What names a stack without Python: the node of autograd that ran ('AddmmBackward0'). Between nodes the engine
   * calls operators, to add up gradients: then it is the operator that it called. In any other thread it is the
   * innermost function that computes something.
   */
  #namingFrame(stack: StackIndex): { frame: FrameIndex | undefined; isBackward: boolean } {
    let innermost: FrameIndex | undefined;
    let operator: FrameIndex | undefined;
    for (const frame of this.frames(stack)) {
      const { says } = this.#kinds.of(frame);
      if (says === 'backward-node') return { frame, isBackward: true };
      if (says === 'engine') return { frame: operator ?? innermost, isBackward: true };
      if (says === 'function') innermost ??= frame;
      if (says === 'operator') operator = frame;
    }
    return { frame: innermost ?? operator, isBackward: false };
  }
}

/**
 * An allocation from before the trace has no stack, or an empty one, because nobody recorded yet:
 * that is another thing than a thread without Python, and than recording without context.
 */
export function stackKind(stack: StackIndex, isFromBefore: boolean): StackKind {
  if (stack > EMPTY_STACK) return 'recorded';
  if (isFromBefore) return 'before-recording';
  return stack === NO_STACK ? 'no-context' : 'no-python-stack';
}

/** Why there is no stack, in the same words everywhere: absences that mean different things. */
const ABSENCE_TEXTS: Readonly<Record<StackKind, string>> = {
  recorded: 'internal C++ frames only',
  'no-python-stack': 'backward pass (autograd’s thread)',
  'no-context': 'no stack recorded',
  'before-recording': 'allocated before recording',
};

export const absenceText = (kind: StackKind): string => ABSENCE_TEXTS[kind];

/** Call stacks with some of their frames alone: those of Python, where C++ was recorded too. */

/** 1 for frames of Python. */
export function pythonFrameMask(
  length: number,
  isPython: (frame: FrameIndex) => boolean,
): Uint8Array {
  return Uint8Array.from({ length }, (_, frame) => (isPython(frame) ? 1 : 0));
}

interface ReducedStacks {
  readonly stacks: StackTable;
  /** By row of the whole table: the row that has its marked frames. */
  readonly rowOf: Int32Array;
  /** By row of `stacks`: the first row of the whole table with these frames, the innermost one last. */
  readonly recordedOf: Int32Array;
}

/** The tree with the frames that are marked alone. Callers still come before those they call. */
export function keepOnlyFrames(
  { length, frame, parent }: StackTable,
  isKept: Uint8Array,
): ReducedStacks {
  const frames = growableInt32();
  const parents = growableInt32();
  const recorded = growableInt32();
  const rowOf = new Int32Array(length);
  const known = new Map<number, number>();
  const add = (own: number, above: number, stack: StackIndex): number => {
    frames.push(own);
    parents.push(above);
    recorded.push(stack);
    return frames.length - 1;
  };
  add(-1, -1, EMPTY_STACK);
  for (let row = 1; row < length; row++) {
    const above = rowOf[parent[row]];
    if (isKept[frame[row]] === 0) {
      rowOf[row] = above;
      continue;
    }
    const key = above * isKept.length + frame[row];
    const found = known.get(key) ?? add(frame[row], above, row);
    known.set(key, found);
    rowOf[row] = found;
  }
  const stacks: StackTable = {
    length: frames.length,
    frame: frames.finish(),
    parent: parents.finish(),
  };
  return { stacks, rowOf, recordedOf: recorded.finish() };
}

/** Which code allocated, in one line: enough to distinguish one stack from another. */
export type CallSiteLine = ReturnType<typeof callSiteLine>;

/**
 * The line of a stack's call site: the same for all ways through C++ that its line took.
 * `isFromBefore`: of allocations from before the trace, see `stackKind`.
 */
export function callSiteLine(stacks: StackReader, stack: StackIndex, isFromBefore: boolean) {
  const site = stacks.siteOf(stack);
  return {
    stackKind: stackKind(site, isFromBefore),
    /** The user's own line; undefined without one. */
    topFrame: stacks.topUserFrameView(site),
    /** The innermost function that it led to; undefined where that is the same. */
    leafFrame: stacks.leafFrameView(site),
  };
}
