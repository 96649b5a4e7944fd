/**
 * The stack tree with Python's frames alone. With C++ stacks a line of Python has many rows, one for
 * each way through the dispatcher; here it has one. Parents come before children, row 0 is the root.
 */
import { growableInt32 } from '../../base/growable.ts';
import type { FrameIndex, StackIndex } from '../../snapshot/tables.ts';
import type { StackClassifier } from '../stack-classifier.ts';
import type { AnalysisInput } from '../types.ts';

export interface PythonTree {
  readonly length: number;
  readonly frame: Int32Array;
  readonly parent: Int32Array;
  /** Python row of each stack row. */
  readonly rowOf: Int32Array;
  /** Some stack row that ends in this Python row. */
  readonly stackOf: Int32Array;
}

export function pythonTree(input: AnalysisInput, classifier: StackClassifier): PythonTree {
  const { length, frame, parent } = input.snapshot.stacks;
  const rowOf = new Int32Array(length);
  const frames = growableInt32();
  const parents = growableInt32();
  const stackOf = growableInt32();
  const children = new Map<number, number>();
  const add = (own: FrameIndex, above: number, stack: StackIndex): number => {
    frames.push(own);
    parents.push(above);
    stackOf.push(stack);
    return frames.length - 1;
  };
  add(-1, 0, 0);
  const frameCount = input.snapshot.frames.length;
  for (let row = 1; row < length; row++) {
    const above = rowOf[parent[row]];
    if (!classifier.isPythonFrame(frame[row])) {
      rowOf[row] = above;
      continue;
    }
    const key = above * frameCount + frame[row];
    let known = children.get(key);
    if (known === undefined) {
      known = add(frame[row], above, row);
      children.set(key, known);
    }
    rowOf[row] = known;
  }
  return {
    length: frames.length,
    frame: frames.finish(),
    parent: parents.finish(),
    rowOf,
    stackOf: stackOf.finish(),
  };
}
