/**
 * The stack tree with a grouping's boxes as nodes. A frame without a box, or in its caller's box, is folded into the
 * row above:
 *
 *   main › step › dispatch › malloc    with 'dispatch' and 'malloc' not shown
 *   main › step › step › malloc        by function: a function that calls itself is one box
 *   both are row main › step
 *
 * Row 0 is the root. Rows 1 to 4 are boxes for allocations without a frame. Parents come before children.
 */
import { growableInt32 } from '../../base/growable.ts';
import { TupleInterner } from '../../base/interners.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES, type MemoryClass } from '../classes/types.ts';
import type { StackSource } from '../model/stacks.ts';
import { type FrameGroups, type GroupIndex, NO_FRAME_GROUPS } from './frame-groups.ts';
import {
  BEFORE_RECORDING_ROW,
  EXTRA_ROWS,
  NO_CONTEXT_ROW,
  type StackWeights,
} from './stack-weights.ts';
import type { FlameGrouping, FlameTotal } from './types.ts';

export interface FoldedTree {
  readonly length: number;
  readonly group: Int32Array;
  readonly parent: Int32Array;
  /** A stack that ends in this row; -1 for rows 0 to 4. */
  readonly stackOf: Int32Array;
  /** Row of {@link StackWeights} → row of this tree. */
  readonly rowOf: Int32Array;
  /** Children of row r are `child[firstChild[r]]` to before `child[firstChild[r + 1]]`. */
  readonly firstChild: Int32Array;
  readonly child: Int32Array;
  /** Number of rows above it; the root has 0. */
  readonly depth: Int32Array;
  /** 1 if no row above has the same group, so recursion counts once. */
  readonly isOutermost: Uint8Array;
}

const ABSENT_ROW = Object.fromEntries(NO_FRAME_GROUPS.map((reason, i) => [reason, i + 1]));

export function foldTree(
  snapshot: StackSource,
  groups: FrameGroups,
  grouping: FlameGrouping,
): FoldedTree {
  const keepsRepeats = grouping === 'line' || grouping === 'stack' || grouping === 'class';
  const { length: stackCount, frame, parent: callerOf } = snapshot.stacks;
  const rows = new TupleInterner();
  const stackOf = growableInt32();
  const rowFor = (group: GroupIndex, above: number, stack: StackIndex): number => {
    const row = rows.intern(group, above, 0);
    if (row === stackOf.length) stackOf.push(stack);
    return row;
  };
  rowFor(-1, 0, -1);
  for (let group = 0; group < NO_FRAME_GROUPS.length; group++) rowFor(group, 0, -1);
  const folded = new Int32Array(stackCount);
  for (let stack = EMPTY_STACK + 1; stack < stackCount; stack++) {
    const above = folded[callerOf[stack]];
    const group = groups.groupOf(frame[stack]);
    const isSame = !keepsRepeats && rows.a[above] === group;
    folded[stack] = group < 0 || isSame ? above : rowFor(group, above, stack);
  }
  const { length } = rows;
  const tree: TreeRows = {
    group: rows.a.slice(0, length),
    parent: rows.b.slice(0, length),
    stackOf: stackOf.finish(),
    rowOf: weightRows(folded),
  };
  tree.parent[0] = -1;
  return finishTree(grouping === 'class' ? underClasses(tree, groups) : tree, groups);
}

type TreeRows = Pick<FoldedTree, 'group' | 'parent' | 'stackOf' | 'rowOf'>;

function finishTree(rows: TreeRows, groups: FrameGroups): FoldedTree {
  const { group, parent } = rows;
  const children = childLists(parent);
  return {
    ...rows,
    length: group.length,
    depth: depths(parent),
    ...children,
    isOutermost: outermostRows(group, children, groups.length),
  };
}

/**
 * Repeats the tree once per class, each under a row for that class. With 3 rows and 2 classes: rows 1 and 4 are the
 * classes and replace row 0; rows 2 and 3 belong to the first class, 5 and 6 to the second.
 */
function underClasses(base: TreeRows, groups: FrameGroups): TreeRows {
  const { length } = base.group;
  const classes = MEMORY_CLASSES.length;
  const group = new Int32Array(1 + classes * length).fill(-1);
  const parent = new Int32Array(group.length).fill(-1);
  const stackOf = new Int32Array(group.length).fill(-1);
  const rowOf = new Int32Array(classes * base.rowOf.length);
  for (let of = 0; of < classes; of++) {
    const root = 1 + of * length;
    for (let row = 1; row < length; row++) {
      group[root + row] = base.group[row];
      parent[root + row] = root + base.parent[row];
      stackOf[root + row] = base.stackOf[row];
    }
    group[root] = groups.classGroup(of as MemoryClass);
    parent[root] = 0;
    const weights = of * base.rowOf.length;
    for (let row = 0; row < base.rowOf.length; row++) rowOf[weights + row] = root + base.rowOf[row];
  }
  return { group, parent, stackOf, rowOf };
}

/** Maps rows of the weights to rows of the tree; stacks without a visible frame get a box of their own. */
function weightRows(folded: Int32Array): Int32Array {
  const stackCount = folded.length;
  const rowOf = new Int32Array(stackCount + EXTRA_ROWS);
  for (let stack = 0; stack < stackCount; stack++) {
    rowOf[stack] = folded[stack] === 0 ? ABSENT_ROW['none-shown'] : folded[stack];
  }
  rowOf[EMPTY_STACK] = ABSENT_ROW['no-python-stack'];
  rowOf[stackCount + NO_CONTEXT_ROW] = ABSENT_ROW['no-context'];
  rowOf[stackCount + BEFORE_RECORDING_ROW] = ABSENT_ROW['before-recording'];
  return rowOf;
}

function depths(parent: Int32Array): Int32Array {
  const depth = new Int32Array(parent.length);
  for (let row = 1; row < depth.length; row++) depth[row] = depth[parent[row]] + 1;
  return depth;
}

type ChildLists = Pick<FoldedTree, 'firstChild' | 'child'>;

function childLists(parent: Int32Array): ChildLists {
  const { length } = parent;
  const firstChild = new Int32Array(length + 1);
  for (let row = 1; row < length; row++) firstChild[parent[row] + 1]++;
  for (let row = 0; row < length; row++) firstChild[row + 1] += firstChild[row];
  const next = firstChild.slice(0, length);
  const child = new Int32Array(Math.max(0, length - 1));
  for (let row = 1; row < length; row++) child[next[parent[row]]++] = row;
  return { firstChild, child };
}

/** Walks the tree depth first, counting how often each group is on the path. */
function outermostRows(
  group: Int32Array,
  { firstChild, child }: ChildLists,
  groupCount: number,
): Uint8Array {
  const isOutermost = new Uint8Array(group.length);
  const above = new Int32Array(groupCount);
  const path = [0];
  const next = firstChild.slice();
  while (path.length > 0) {
    const row = path[path.length - 1];
    if (next[row] < firstChild[row + 1]) {
      const below = child[next[row]++];
      isOutermost[below] = above[group[below]]++ === 0 ? 1 : 0;
      path.push(below);
    } else {
      path.pop();
      if (row > 0) above[group[row]]--;
    }
  }
  return isOutermost;
}

/** Sums per row. `magnitude` adds absolute values: a difference of +3 and -2 is 5 wide. */
export type RowSums = { readonly [K in keyof FlameTotal]: Float64Array };

/** A folded tree with the weights of its rows: self (own stacks) and total (with callees). */
export interface WeighedTree {
  readonly tree: FoldedTree;
  readonly self: RowSums;
  readonly total: RowSums;
}

export function weighTree(tree: FoldedTree, weights: StackWeights): WeighedTree {
  const value = new Float64Array(tree.length);
  const count = new Float64Array(tree.length);
  const matched = new Float64Array(tree.length);
  for (let stack = 0; stack < tree.rowOf.length; stack++) {
    const row = tree.rowOf[stack];
    value[row] += weights.value[stack];
    count[row] += weights.count[stack];
    matched[row] += weights.matched[stack];
  }
  const magnitude = value.map(Math.abs);
  // In a difference the matching part may have grown by more than the row, if the rest shrank.
  const width = matched.map((own, row) => Math.min(Math.abs(own), magnitude[row]));
  const self: RowSums = { value, magnitude, count, matched: width };
  const { parent } = tree;
  return {
    tree,
    self,
    total: {
      value: summedUp(self.value, parent),
      magnitude: summedUp(self.magnitude, parent),
      count: summedUp(self.count, parent),
      matched: summedUp(self.matched, parent),
    },
  };
}

/** Adds each row to its parent; parents come before children. */
function summedUp(own: Float64Array, parent: Int32Array): Float64Array {
  const total = own.slice();
  for (let row = total.length - 1; row > 0; row--) total[parent[row]] += total[row];
  return total;
}

export function totalsOf(sums: RowSums, row: number): FlameTotal {
  return {
    value: sums.value[row],
    magnitude: sums.magnitude[row],
    count: sums.count[row],
    matched: sums.matched[row],
  };
}
