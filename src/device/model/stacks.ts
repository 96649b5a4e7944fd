import { getOrMake } from '../../base/collections.ts';
import { growableInt32 } from '../../base/growable.ts';
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

export type StackSource = Pick<Snapshot, 'strings' | 'frames' | 'stacks'>;

/** Reads a snapshot's stacks and frames as text. */
export class StackReader {
  readonly #snapshot: StackSource;
  readonly #kinds: FrameKinds;
  #sites: Int32Array | undefined;

  constructor(snapshot: StackSource) {
    this.#snapshot = snapshot;
    this.#kinds = new FrameKinds(snapshot.strings, snapshot.frames, snapshot.stacks);
  }

  /** The stack of an event or block. `isFromBefore`: the allocation is from before the trace. */
  view(stack: StackIndex, isFromBefore = false): StackView {
    const frames: FrameView[] = [];
    for (const frame of this.frames(stack)) frames.push(this.frame(frame));
    return { kind: stackKind(stack, isFromBefore), frames };
  }

  /** A stack's frame rows, innermost first. */
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
   * The frame to look at first: the innermost of the user's own, else of a framework, else of PyTorch, else of Python
   * itself. For a stack without Python, C++ decides: see `#namingFrame`. Undefined if nothing in the stack says what
   * was computed.
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

  /** The user's lines that led to the top frame, the nearest first. */
  callersOf(stack: StackIndex): FrameIndex[] {
    const frames = [...this.frames(stack)];
    const above = frames.slice(frames.indexOf(this.topUserFrame(stack) ?? -1) + 1);
    return above.filter((frame) => FRAME_RANK[this.#kinds.of(frame).kind] === 0);
  }

  /** Python, as opposed to C++ or a compiled library. */
  isPython(frame: FrameIndex): boolean {
    return this.#kinds.isPython(frame);
  }

  /** The innermost frame except plumbing: the function that the user's line led to. */
  innermostFrameView(stack: StackIndex): FrameView | undefined {
    for (const frame of this.frames(stack)) {
      if (!this.#kinds.of(frame).isPlumbing) return this.frame(frame);
    }
    return undefined;
  }

  /** The function that the top frame led to, if it differs; see `leafText`. */
  leafFrameView(stack: StackIndex): FrameView | undefined {
    const top = this.topUserFrameView(stack);
    const leaf = this.innermostFrameView(stack);
    return leaf?.name === top?.name && leaf?.filename === top?.filename ? undefined : leaf;
  }

  /**
   * A stack's call site, as the first row with it. When C++ was recorded, one Python line has a stack for every path
   * through the dispatcher; all of these are one call site, as in a Python-only recording. Backward threads run no
   * Python, so they have a call site per name, such as 'AddmmBackward0 (backward pass)'. If the recording has no Python
   * at all, each stack is its own site.
   */
  readonly siteOf = (stack: StackIndex): StackIndex => {
    if (stack <= EMPTY_STACK) return stack;
    this.#sites ??= this.#findSites();
    return this.#sites[stack];
  };

  /**
   * Whether both are in one forward of a module, `later` in a line of it further down, or behind a convolution in the same
   * line: `self.bn(self.conv(x))` would begin with the convolution again after an error.
   */
  readonly isFurtherOn = (later: StackIndex, stack: StackIndex): boolean => {
    const { frames } = this.#snapshot;
    const [own, other] = [later, stack].map((of) =>
      [...this.frames(of)].filter((frame) => this.isPython(frame)).reverse(),
    );
    // The innermost call that both are in.
    const at = own.findIndex((frame, i) => frame !== other[i]);
    const [line, before] = [own[at], other[at]];
    if (at < 1 || before === undefined || this.frame(own[at - 1]).name !== '_call_impl')
      return false;
    if (frames.filename[line] === frames.filename[before])
      return frames.name[line] === frames.name[before] && frames.line[line] > frames.line[before];
    const isConvolution = (frame: FrameIndex) => this.frame(frame).name === '_conv_forward';
    return other.slice(at).some(isConvolution) && !own.slice(at).some(isConvolution);
  };

  #findSites(): Int32Array {
    const { frames, stacks } = this.#snapshot;
    const isPython = pythonFrameMask(frames.length, (frame) => this.isPython(frame));
    const sites = Int32Array.from({ length: stacks.length }, (_, row) => row);
    if (!isPython.includes(1) || !isPython.includes(0)) return sites;
    const { rowOf, recordedOf } = pythonTree(stacks, isPython);
    const byName = new Map<string, StackIndex>();
    for (let row = 1; row < sites.length; row++) {
      sites[row] = rowOf[row] === EMPTY_STACK ? this.#cppSite(row, byName) : recordedOf[rowOf[row]];
    }
    return sites;
  }

  /** The first row with that name, excluding the named function's callees, which differ from stack to stack. */
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
   * Names a stack without Python: by the autograd node that ran ('AddmmBackward0') or let go of what it saved. Between
   * nodes the engine calls operators to add up gradients: then by that operator. In other threads: by the innermost
   * function that computes.
   */
  #namingFrame(stack: StackIndex): { frame: FrameIndex | undefined; isBackward: boolean } {
    let innermost: FrameIndex | undefined;
    let operator: FrameIndex | undefined;
    let released: FrameIndex | undefined;
    for (const frame of this.frames(stack)) {
      const { says } = this.#kinds.of(frame);
      if (says === 'backward-node') return { frame: released ?? frame, isBackward: true };
      if (says === 'engine') return { frame: released ?? operator ?? innermost, isBackward: true };
      if (says === 'released-node') released ??= frame;
      if (says === 'function') innermost ??= frame;
      if (says === 'operator') operator = frame;
    }
    return { frame: released ?? innermost ?? operator, isBackward: false };
  }
}

/**
 * An allocation from before the trace has no stack, or an empty one, because recording had not started. That differs
 * from a thread without Python and from recording without context.
 */
export function stackKind(stack: StackIndex, isFromBefore: boolean): StackKind {
  if (stack > EMPTY_STACK) return 'recorded';
  if (isFromBefore) return 'before-recording';
  return stack === NO_STACK ? 'no-context' : 'no-python-stack';
}

/** Why there is no stack, in the same words everywhere: each kind of absence means something different. */
const ABSENCE_TEXTS: Readonly<Record<StackKind, string>> = {
  recorded: 'internal C++ frames only',
  'no-python-stack': 'backward pass (autograd’s thread)',
  'no-context': 'no stack recorded',
  'before-recording': 'no stack, from before the oldest event',
};

export const absenceText = (kind: StackKind): string => ABSENCE_TEXTS[kind];

/** 1 for Python frames. */
export const pythonFrameMask = (length: number, isPython: (frame: FrameIndex) => boolean) =>
  Uint8Array.from({ length }, (_, frame) => (isPython(frame) ? 1 : 0));

/** The stack tree with only Python frames, without those of TorchScript that are out of place. */
export function pythonTree(whole: StackTable, isPython: Uint8Array) {
  const tree = keepOnlyFrames(whole, isPython);
  const misplaced = scriptRows(tree.stacks);
  if (misplaced.size === 0) return tree;
  const isLeftOut = new Set([...tree.rowOf.keys()].filter((row) => misplaced.has(tree.rowOf[row])));
  return keepOnlyFrames(whole, isPython, isLeftOut);
}

/**
 * Among C++ frames, PyTorch puts those of a scripted function far out in a stack, not where it was called:
 *
 *     main:193 train:128 forward:163
 *     main:193 fused:36 train:128 forward:163     fused() is called by forward:163, and calls no train()
 *
 * @returns rows directly within a stack's outermost frame whose callee that frame itself calls too, on the same line
 */
function scriptRows({ length, frame, parent }: StackTable): ReadonlySet<StackIndex> {
  const isSecond = (row: StackIndex) =>
    parent[row] > EMPTY_STACK && parent[parent[row]] === EMPTY_STACK;
  const calls = new Map<StackIndex, Set<FrameIndex>>();
  for (let row = 1; row < length; row++)
    if (isSecond(row)) getOrMake(calls, parent[row], () => new Set()).add(frame[row]);
  const found = new Set<StackIndex>();
  for (let row = 1; row < length; row++) {
    const above = parent[row];
    if (isSecond(above) && frame[above] !== frame[row] && calls.get(parent[above])?.has(frame[row]))
      found.add(above);
  }
  return found;
}

/** The stack tree with only the kept frames. Callers still come before callees. */
export function keepOnlyFrames(
  { length, frame, parent }: StackTable,
  isKept: Uint8Array,
  isLeftOut: ReadonlySet<StackIndex> = new Set(),
) {
  const frames = growableInt32();
  const parents = growableInt32();
  const recorded = growableInt32();
  /** Row of the whole table → row with its kept frames. */
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
    if (isKept[frame[row]] === 0 || isLeftOut.has(row)) {
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
  /** Row of `stacks` → the first row of the whole table with these frames, ending in the innermost one. */
  const recordedOf = recorded.finish();
  return { stacks, rowOf, recordedOf };
}

/** A one-line description of the allocating code, enough to distinguish stacks. */
export type CallSiteLine = ReturnType<typeof callSiteLine>;

/**
 * The line of a stack's call site, whichever path through C++ it took. `isFromBefore`: the allocation is from before
 * the trace, see `stackKind`.
 */
export function callSiteLine(stacks: StackReader, stack: StackIndex, isFromBefore: boolean) {
  const site = stacks.siteOf(stack);
  return {
    stackKind: stackKind(site, isFromBefore),
    /** The user's own line, if any. */
    topFrame: stacks.topUserFrameView(site),
    /** The innermost function that it led to; undefined if that is the same. */
    leafFrame: stacks.leafFrameView(site),
  };
}
