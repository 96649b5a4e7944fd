import { assertUnreachable } from '../base/assert.ts';
import {
  EMPTY_STACK,
  type FrameIndex,
  NO_STACK,
  type Snapshot,
  type StackIndex,
} from '../snapshot/tables.ts';
import { FrameRoles } from './frame-roles.ts';
import type { FrameView, StackKind, StackView } from './types.ts';

/** What stacks are read from. */
export type StackSource = Pick<Snapshot, 'strings' | 'frames' | 'stacks'>;

/** Stacks and frames of a snapshot as texts. */
export class StackReader {
  readonly #snapshot: StackSource;
  readonly #roles: FrameRoles;

  constructor(snapshot: StackSource) {
    this.#snapshot = snapshot;
    this.#roles = new FrameRoles(snapshot.strings, snapshot.frames);
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
    return {
      name: strings.get(frames.name[index]),
      filename: strings.get(frames.filename[index]),
      line: frames.line[index],
      role: this.#roles.role(index),
      extras: frames.extras.get(index),
    };
  }

  /**
   * The user's own line to look at first: the innermost frame outside PyTorch and site-packages,
   * else the innermost Python frame, else the innermost that is no noise (backward threads recorded
   * with C++ stacks have no Python). Undefined when the stack has none of these.
   */
  topUserFrame(stack: StackIndex): FrameIndex | undefined {
    let python: FrameIndex | undefined;
    let library: FrameIndex | undefined;
    for (const frame of this.frames(stack)) {
      const role = this.#roles.role(frame);
      if (role === 'user') return frame;
      if (role === 'library') library ??= frame;
      if (this.#roles.isPython(frame)) python ??= frame;
    }
    return python ?? library;
  }

  /** A line of Python, and not one of C++ or of a compiled library. */
  isPython(frame: FrameIndex): boolean {
    return this.#roles.isPython(frame);
  }

  /** The innermost frame that is no noise: the function that the user's line led to. */
  innermostFrameView(stack: StackIndex): FrameView | undefined {
    for (const frame of this.frames(stack)) {
      if (this.#roles.role(frame) !== 'noise') return this.frame(frame);
    }
    return undefined;
  }

  topUserFrameView(stack: StackIndex): FrameView | undefined {
    const frame = this.topUserFrame(stack);
    return frame === undefined ? undefined : this.frame(frame);
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
export function absenceText(kind: StackKind): string {
  switch (kind) {
    case 'recorded':
      return 'no frames';
    case 'no-python-stack':
      return 'no Python stack on that thread';
    case 'no-context':
      return 'no context recorded';
    case 'before-recording':
      return 'allocated before recording';
    default:
      return assertUnreachable(kind);
  }
}
