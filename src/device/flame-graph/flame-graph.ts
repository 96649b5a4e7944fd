/** From a tree to its visible boxes: zoomed into one box, without boxes that are too thin. */
import { totalsOf, type WeighedTree } from './folded-tree.ts';
import type { FrameGroups, GroupIndex } from './frame-groups.ts';
import type { FlameBoxes, FlameGraph, FlameStep, FlameTotal } from './types.ts';

/** Separates the keys of a path: 'k3f9a.0x1.main'. */
const SEPARATOR = '.';

export interface FlameGraphOptions {
  /** Path of the box to zoom into; undefined shows everything. */
  readonly root?: string | undefined;
  /** Boxes narrower than this share (0 to 1) of the zoomed box are merged. */
  readonly smallestShare: number;
}

export function flameGraph(
  whole: FlameNode,
  groups: FrameGroups,
  { root, smallestShare }: FlameGraphOptions,
): FlameGraph {
  const { node, trail, isRootFound } = follow(whole, groups, root);
  const boxes = boxesOf(node, groups, node.magnitude * smallestShare);
  const { value, magnitude, count, matched } = whole;
  return { ...boxes, trail, isRootFound, total: { value, magnitude, count, matched } };
}

/** Path of a child box; '' is the root. */
export function pathTo(above: string, key: string): string {
  return above === '' ? key : `${above}${SEPARATOR}${key}`;
}

/** Follows a path as far as it exists. */
function follow(whole: FlameNode, groups: FrameGroups, path: string | undefined) {
  const keys = path === undefined || path === '' ? [] : path.split(SEPARATOR);
  const trail: FlameStep[] = [];
  let node = whole;
  let walked = '';
  for (const key of keys) {
    const next = bySize(node.children()).find(({ group }) => groups.keyOf(group) === key);
    if (next === undefined) return { node, trail, isRootFound: false };
    node = next;
    walked = pathTo(walked, key);
    trail.push({ group: groups.describe(node.group), path: walked, value: node.value });
  }
  return { node, trail, isRootFound: true };
}

const bySize = (nodes: FlameNode[]): FlameNode[] => nodes.sort((a, b) => b.magnitude - a.magnitude);

/** A box, and how many boxes it merges: 0 for ordinary ones, which have a group. */
interface Box {
  readonly node: Pick<FlameNode, 'value' | 'magnitude' | 'selfMagnitude' | 'count' | 'matched'>;
  readonly parent: number;
  readonly group: number;
  readonly hidden: number;
}

function boxesOf(
  whole: FlameNode,
  groups: FrameGroups,
  smallest: number,
): Pick<FlameGraph, 'boxes' | 'groups' | 'groupKeys'> {
  const boxes: Box[] = [];
  /** Group → its index in the answer. */
  const known = new Map<GroupIndex, number>();
  const position = (group: GroupIndex): number => {
    if (group < 0) return -1;
    const found = known.get(group) ?? known.size;
    known.set(group, found);
    return found;
  };
  const add = (node: FlameNode, parent: number): void => {
    const box = boxes.push({ node, parent, group: position(node.group), hidden: 0 }) - 1;
    const rest = { value: 0, magnitude: 0, count: 0, matched: 0 };
    let hidden = 0;
    for (const child of bySize(node.children())) {
      if (child.magnitude > 0 && child.magnitude >= smallest) {
        add(child, box);
        continue;
      }
      hidden++;
      rest.value += child.value;
      rest.magnitude += child.magnitude;
      rest.count += child.count;
      rest.matched += child.matched;
    }
    const all = { ...rest, selfMagnitude: rest.magnitude };
    if (hidden > 0) boxes.push({ node: all, parent: box, group: -1, hidden });
  };
  add(whole, -1);
  const met = [...known.keys()];
  return {
    boxes: columnsOf(boxes),
    groups: met.map((group) => groups.describe(group)),
    groupKeys: met.map((group) => groups.keyOf(group)),
  };
}

const columnsOf = (boxes: readonly Box[]): FlameBoxes => ({
  length: boxes.length,
  parent: Int32Array.from(boxes, ({ parent }) => parent),
  group: Int32Array.from(boxes, ({ group }) => group),
  hidden: Int32Array.from(boxes, ({ hidden }) => hidden),
  value: Float64Array.from(boxes, ({ node }) => node.value),
  magnitude: Float64Array.from(boxes, ({ node }) => node.magnitude),
  selfMagnitude: Float64Array.from(boxes, ({ node }) => node.selfMagnitude),
  count: Float64Array.from(boxes, ({ node }) => node.count),
  matched: Float64Array.from(boxes, ({ node }) => node.matched),
});

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
