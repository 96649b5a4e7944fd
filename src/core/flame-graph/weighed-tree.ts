/** A folded tree with what its rows weigh: their own stacks (self) and with their callees (total). */
import type { FoldedTree } from './folded-tree.ts';
import type { StackWeights } from './stack-weights.ts';
import type { FlameTotal } from './types.ts';

export interface RowSums {
  readonly value: Float64Array;
  /** Sum of the absolute values of the rows' own: in a difference, +3 and -2 below are 5 wide. */
  readonly magnitude: Float64Array;
  readonly count: Float64Array;
  readonly matched: Float64Array;
}

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
  // In a difference what matches may have grown by more than the row, whose rest shrank.
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

/** Rows with what stands below them added; parents come before children. */
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
