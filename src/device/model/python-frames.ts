/** Call stacks with some of their frames alone: those of Python, where C++ was recorded too. */
import { growableInt32 } from '../../base/growable.ts';
import {
  EMPTY_STACK,
  type FrameIndex,
  type StackIndex,
  type StackTable,
} from '../../format/snapshot/tables.ts';

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
