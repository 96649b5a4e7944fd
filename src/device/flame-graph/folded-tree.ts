/**
 * The stack tree with a grouping's boxes as nodes. A frame without a box, or in its caller's box, is folded into the
 * row above:
 *
 *   main › step › dispatch › malloc    with 'dispatch' and 'malloc' not shown
 *   main › step › step › malloc        by function: a function that calls itself is one box
 *   both are row main › step
 *
 * Row 0 is the root. Parents come before children. By class, there is such a tree below the row of each class.
 */
import { growableInt32 } from '../../base/growable.ts';
import { TupleInterner } from '../../base/interners.ts';
import { rowsByKey } from '../../base/table.ts';
import { EMPTY_STACK, type Snapshot, type StackIndex } from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import { type FrameGroups, type GroupIndex, NO_FRAME_GROUPS } from './frame-groups.ts';
import {
  type GroupsAt,
  LEFT_OUT,
  type TransformedStacks,
  transformStacks,
} from './stack-transforms.ts';
import {
  BEFORE_RECORDING_ROW,
  EXTRA_ROWS,
  NO_CONTEXT_ROW,
  type StackWeights,
} from './stack-weights.ts';
import { parseTransform, type StackTransform, transformsIn } from './transform-text.ts';
import type { FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export type FoldedTree = ReturnType<typeof treeOf>;

/** A transform, and what it was applied to; undefined if none of this file's visible frames are that. */
export interface TransformStep extends StackTransform {
  readonly of: FlameGroup | undefined;
}

export const transformSteps = (transforms: string, groupsAt: GroupsAt): readonly TransformStep[] =>
  transformsIn(transforms).map((text) => {
    const transform = parseTransform(text);
    const groups = groupsAt(transform.level, []);
    const group = groups.find(transform.key.split('.').at(-1) ?? '');
    return { ...transform, of: group === undefined ? undefined : groups.describe(group) };
  });

/** @param transforms see transform-text.ts */
export function foldTransformed(
  { stacks, frames }: Pick<Snapshot, 'stacks' | 'frames'>,
  groupBy: FlameGrouping,
  transforms: string,
  groupsAt: GroupsAt,
) {
  const steps = transformSteps(transforms, groupsAt);
  const changed = transformStacks(stacks, steps, groupsAt, frames.length);
  const groups = groupsAt(groupBy, changed.collapsed);
  return { tree: foldTree(changed, groups, groupBy), groups, steps, changed };
}

function foldTree(
  transformed: TransformedStacks,
  groups: FrameGroups,
  grouping: FlameGrouping,
): FoldedTree {
  const { stacks, rowOf: shownOf, hasStackless } = transformed;
  const { length: stackCount, frame, parent: callerOf } = stacks;
  const recordedCount = shownOf.length;
  const keepsRepeats = grouping === 'line' || grouping === 'stack' || grouping === 'class';
  const rows = new TupleInterner();
  const stackOf = growableInt32();
  const rowFor = (group: GroupIndex, above: number, stack: StackIndex): number => {
    const row = rows.intern(group, above, 0);
    if (row === stackOf.length) stackOf.push(stack);
    return row;
  };
  /** Folds the whole tree below `root`. Returns the row of each row of {@link StackWeights}. */
  const fold = (root: number): Int32Array => {
    const absent = (reason: NoFrame) => rowFor(NO_FRAME_GROUPS.indexOf(reason), root, -1);
    const beforeRecording = absent('before-recording');
    const noContext = absent('no-context');
    const noPython = absent('no-python-stack');
    const noneShown = absent('none-shown');
    const shown = new Int32Array(stackCount);
    shown[EMPTY_STACK] = root;
    for (let stack = EMPTY_STACK + 1; stack < stackCount; stack++) {
      const above = shown[callerOf[stack]];
      const group = groups.groupOf(frame[stack]);
      const isSame = !keepsRepeats && rows.a[above] === group;
      shown[stack] = group < 0 || isSame ? above : rowFor(group, above, stack);
    }
    const rowOf = new Int32Array(recordedCount + EXTRA_ROWS).fill(LEFT_OUT);
    for (let stack = 0; stack < recordedCount; stack++) {
      if (shownOf[stack] === LEFT_OUT) continue;
      const row = shown[shownOf[stack]];
      const naming = row === root ? groups.namingGroup(stack) : undefined;
      const nameless = naming === undefined ? noneShown : rowFor(naming, root, shownOf[stack]);
      rowOf[stack] = row === root ? nameless : row;
    }
    if (!hasStackless) return rowOf;
    rowOf[EMPTY_STACK] = noPython;
    rowOf[recordedCount + BEFORE_RECORDING_ROW] = beforeRecording;
    rowOf[recordedCount + NO_CONTEXT_ROW] = noContext;
    return rowOf;
  };
  rowFor(-1, -1, -1);
  const roots =
    grouping === 'class'
      ? MEMORY_CLASSES.map((_, of) => rowFor(groups.classGroup(of), 0, -1))
      : [0];
  const rowOf = roots.map(fold);
  const group = rows.a.slice(0, rows.length);
  const parent = rows.b.slice(0, rows.length);
  return treeOf(group, parent, stackOf.finish(), rowOf);
}

/** Row 0 is the root; parents come before children. */
export function treeOf(
  group: Int32Array,
  parent: Int32Array,
  stackOf: Int32Array,
  rowOf: readonly Int32Array[],
) {
  const { length } = group;
  // The root is in no row.
  const children = rowsByKey(parent.subarray(1), length);
  /** Number of rows above it; the root has 0. */
  const depth = new Int32Array(length);
  for (let row = 1; row < length; row++) depth[row] = depth[parent[row]] + 1;
  return {
    length,
    group,
    parent,
    depth,
    /** A transformed stack that ends in this row; -1 for the root, classes, holders and absent frames. */
    stackOf,
    /** By class, or one: row of {@link StackWeights} → row of this tree, or {@link LEFT_OUT}. */
    rowOf,
    /** Children of row r are `child[firstChild[r]]` to before `child[firstChild[r + 1]]`. */
    firstChild: children.first,
    child: children.rows.map((row) => row + 1),
    isOutermost: outermostRows(group, parent),
  };
}

/** 1 where no row above has the same group, so recursion counts once. */
function outermostRows(group: Int32Array, parent: Int32Array): Uint8Array {
  const isOutermost = new Uint8Array(group.length).fill(1);
  for (let row = 1; row < group.length; row++) {
    for (let at = parent[row]; at > 0 && isOutermost[row] === 1; at = parent[at]) {
      if (group[at] === group[row]) isOutermost[row] = 0;
    }
  }
  return isOutermost;
}

/** Sums per row. `magnitude` adds absolute values: a difference of +3 and -2 is 5 wide. */
export type RowSums = Readonly<Record<keyof StackWeights | 'magnitude', Float64Array>>;

/** A folded tree with the weights of its rows: self (own stacks) and total (with callees). */
export type WeighedTree = ReturnType<typeof weighTree>;

export function weighTree(tree: FoldedTree, weights: StackWeights) {
  const newColumn = () => new Float64Array(tree.length);
  const [value, count, matched] = [newColumn(), newColumn(), newColumn()];
  let from = 0;
  for (const rowOf of tree.rowOf) {
    for (let stack = 0; stack < rowOf.length; stack++) {
      const row = rowOf[stack];
      if (row === LEFT_OUT) continue;
      value[row] += weights.value[from + stack];
      count[row] += weights.count[from + stack];
      matched[row] += weights.matched[from + stack];
    }
    from += rowOf.length;
  }
  const magnitude = value.map(Math.abs);
  // In a difference the matching part may have grown by more than the row, if the rest shrank.
  const width = matched.map((own, row) => Math.min(Math.abs(own), magnitude[row]));
  const self: RowSums = { value, magnitude, count, matched: width };
  const total: RowSums = {
    value: summedUp(value, tree),
    magnitude: summedUp(magnitude, tree),
    count: summedUp(count, tree),
    matched: summedUp(width, tree),
  };
  return { tree, self, total };
}

/** Adds each row to its parent; parents come before children. */
function summedUp(own: Float64Array, { parent }: Pick<FoldedTree, 'parent'>): Float64Array {
  const total = own.slice();
  for (let row = total.length - 1; row > 0; row--) total[parent[row]] += total[row];
  return total;
}

/** A box's weight, see {@link FlameBoxes}. */
export type FlameTotal = ReturnType<typeof totalsOf>;

export const totalsOf = (sums: RowSums, row: number) => ({
  value: sums.value[row],
  magnitude: sums.magnitude[row],
  count: sums.count[row],
  matched: sums.matched[row],
});
