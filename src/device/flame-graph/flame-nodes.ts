/**
 * The two ways to read a weighed tree, each opened only as far as it is shown: from callers down to
 * what they called, and from the innermost boxes up to their callers.
 */

import { totalsOf, type WeighedTree } from './folded-tree.ts';
import type { GroupIndex } from './frame-groups.ts';
import type { FlameTotal } from './types.ts';

export interface FlameNode extends FlameTotal {
  /** -1 for the whole. */
  readonly group: GroupIndex;
  /** Part of the magnitude that is in no child. */
  readonly selfMagnitude: number;
  /** Those that weigh anything, in no order. */
  children(): FlameNode[];
}

export function callerTree(weighed: WeighedTree): FlameNode {
  return callerNode(weighed, 0);
}

function callerNode(weighed: WeighedTree, row: number): FlameNode {
  const { tree, self, total } = weighed;
  return {
    group: row === 0 ? -1 : tree.group[row],
    ...totalsOf(total, row),
    selfMagnitude: self.magnitude[row],
    children() {
      const below = tree.child.subarray(tree.firstChild[row], tree.firstChild[row + 1]);
      return Array.from(
        below.filter((child) => weighs(weighed.total, child)),
        (child) => callerNode(weighed, child),
      );
    },
  };
}

/** The innermost boxes first; each box's children are its callers. */
export function calleeTree(weighed: WeighedTree): FlameNode {
  const rows: number[] = [];
  for (let row = 1; row < weighed.tree.length; row++) {
    if (weighs(weighed.self, row)) rows.push(row);
  }
  return calleeNode(weighed, -1, rows, rows);
}

/** A difference may weigh nothing where counts changed, and the other way round. */
function weighs({ magnitude, count }: WeighedTree['self'], row: number): boolean {
  return magnitude[row] !== 0 || count[row] !== 0;
}

/**
 * @param leaves rows whose weights are in this box
 * @param at for each of them how far up its path this box's callers stand; 0 is the end
 */
function calleeNode(
  weighed: WeighedTree,
  group: GroupIndex,
  leaves: readonly number[],
  at: readonly number[],
): FlameNode {
  const { tree, self } = weighed;
  const sum = (column: Float64Array) => leaves.reduce((total, row) => total + column[row], 0);
  return {
    group,
    value: sum(self.value),
    magnitude: sum(self.magnitude),
    count: sum(self.count),
    matched: sum(self.matched),
    selfMagnitude: leaves.reduce((own, row, i) => own + (at[i] === 0 ? self.magnitude[row] : 0), 0),
    children() {
      const below = new Map<GroupIndex, { leaves: number[]; at: number[] }>();
      leaves.forEach((row, i) => {
        if (at[i] === 0) return;
        const key = tree.group[at[i]];
        const child = below.get(key) ?? { leaves: [], at: [] };
        child.leaves.push(row);
        child.at.push(tree.parent[at[i]]);
        below.set(key, child);
      });
      return Array.from(below, ([key, child]) => calleeNode(weighed, key, child.leaves, child.at));
    },
  };
}
