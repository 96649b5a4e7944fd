/** From a tree to its visible boxes: zoomed into one box, without boxes that are too thin. */
import { addTo, getOrMake } from '../../base/collections.ts';
import { type FlameTotal, totalsOf, type WeighedTree } from './folded-tree.ts';
import type { FlameGroups, GroupIndex } from './frame-groups.ts';
import type { FlameGroup } from './types.ts';

/** Separates the keys of a path: 'k3f9a.0x1.main'. */
const SEPARATOR = '.';

export interface FlameGraphOptions {
  /** Path of the box to zoom into; undefined shows everything. */
  readonly root?: string | undefined;
  /** Boxes narrower than this share (0 to 1) of the zoomed box are merged. */
  readonly smallestShare: number;
}

export type FlameGraph = ReturnType<typeof flameGraph>;
/** One step on the way from the root to the zoomed box. */
export type FlameStep = FlameGraph['trail'][number];

export function flameGraph(
  whole: FlameNode,
  groups: FlameGroups,
  { root, smallestShare }: FlameGraphOptions,
) {
  const { node, ...way } = follow(whole, groups, root);
  const { value, magnitude, count, matched } = whole;
  return {
    ...boxesOf(node, groups, node.magnitude * smallestShare),
    ...way,
    /** Of the whole graph, regardless of zoom. */
    total: { value, magnitude, count, matched },
  };
}

/** Path of a child box; '' is the root. */
export function pathTo(above: string, key: string): string {
  return above === '' ? key : `${above}${SEPARATOR}${key}`;
}

/** Follows a path as far as it exists. */
function follow(whole: FlameNode, groups: FlameGroups, path = '') {
  let node = whole;
  let walked = '';
  /** From the outermost box to the zoomed one; empty at the root. `path` leads to the box, for `root`. */
  const trail: { group: FlameGroup; path: string; value: number }[] = [];
  const keys = path === '' ? [] : path.split(SEPARATOR);
  for (const key of keys) {
    const next = bySize(node.children()).find(({ group }) => groups.keyOf(group) === key);
    if (next === undefined) break;
    node = next;
    walked = pathTo(walked, key);
    trail.push({ group: groups.describe(node.group), path: walked, value: node.value });
  }
  /** `isRootFound`: false if the path's box does not exist; the trail then ends where the path fails. */
  return { node, trail, isRootFound: trail.length === keys.length };
}

const bySize = (nodes: FlameNode[]): FlameNode[] => nodes.sort((a, b) => b.magnitude - a.magnitude);

/** The visible boxes, parents before children, siblings by size. Box 0 is the zoomed one or the root. */
function boxesOf(whole: FlameNode, groups: FlameGroups, smallest: number) {
  type Weights = Omit<FlameNode, 'children'>;
  const nodes: (Weights & { readonly parent: number; readonly hidden: number })[] = [];
  /** Group → its index in the answer. */
  const known = new Map<GroupIndex, number>([[-1, -1]]);
  const push = (node: Weights, parent: number, hidden: number): number => {
    getOrMake(known, node.group, () => known.size - 1);
    return nodes.push({ ...node, parent, hidden }) - 1;
  };
  const add = (node: FlameNode, above: number): void => {
    const box = push(node, above, 0);
    const rest = { group: -1, value: 0, magnitude: 0, selfMagnitude: 0, count: 0, matched: 0 };
    let merged = 0;
    for (const child of bySize(node.children())) {
      if (child.magnitude > 0 && child.magnitude >= smallest) {
        add(child, box);
        continue;
      }
      merged++;
      rest.value += child.value;
      rest.magnitude += child.magnitude;
      rest.count += child.count;
      rest.matched += child.matched;
    }
    if (merged > 0) push({ ...rest, selfMagnitude: rest.magnitude }, box, merged);
  };
  add(whole, -1);
  const met = [...known.keys()].slice(1);
  const column = (name: keyof FlameTotal | 'selfMagnitude') =>
    Float64Array.from(nodes, (node) => node[name]);
  return {
    /** Columns of equal length. */
    boxes: {
      length: nodes.length,
      /** -1 for box 0. */
      parent: Int32Array.from(nodes, ({ parent }) => parent),
      /** Index into `groups`; -1 for the root and for merged boxes (see `hidden`). */
      group: Int32Array.from(nodes, ({ group }) => known.get(group) ?? -1),
      /** Weight including callees; negative where a difference shrank. */
      value: column('value'),
      /** Width: the value or, in a difference, the sum of its stacks' absolute values. */
      magnitude: column('magnitude'),
      /** Part of the width that no child box covers. */
      selfMagnitude: column('selfMagnitude'),
      /** Allocations; in a difference, added minus removed. */
      count: column('count'),
      /** Part of the width that matches the search; the whole width without a search. */
      matched: column('matched'),
      /** How many boxes too small to see this one merges; 0 for ordinary boxes. */
      hidden: Int32Array.from(nodes, ({ hidden }) => hidden),
    },
    groups: met.map((group) => groups.describe(group)),
    /** Short name of each group, used in paths. */
    groupKeys: met.map((group) => groups.keyOf(group)),
  };
}

/**
 * The two ways to read a weighed tree, expanded only as far as shown: from callers down to callees, or from the
 * innermost boxes up to their callers.
 */

export interface FlameNode extends FlameTotal {
  /** -1 for the root. */
  readonly group: GroupIndex;
  /** The part of the magnitude that no child has. */
  readonly selfMagnitude: number;
  /** Nonzero children, unordered. */
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

/** In a difference, the weight may be zero while the count changed, or the other way around. */
function weighs({ magnitude, count }: WeighedTree['self'], row: number): boolean {
  return magnitude[row] !== 0 || count[row] !== 0;
}

/**
 * @param leaves rows whose weights are in this box
 * @param at for each leaf, the row of its path where this box's callers are; 0 is the end
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
      const below = new Map<GroupIndex, number[]>();
      for (const [i, row] of at.entries()) if (row !== 0) addTo(below, tree.group[row], i);
      return Array.from(below, ([key, own]) =>
        calleeNode(
          weighed,
          key,
          own.map((i) => leaves[i]),
          own.map((i) => tree.parent[at[i]]),
        ),
      );
    },
  };
}
