/** Positions of boxes: x from 0 to 1, and a level for each step away from the zoomed box. */
import { bisector, hierarchy, partition } from 'd3';
import { pathTo } from '../../../device/flame-graph/flame-graph.ts';
import type { FlameGraph, FlameGroup } from '../../../device/flame-graph/types.ts';

export type BoxIndex = number;

export class FlameLayout {
  readonly graph: FlameGraph;
  readonly x0: Float64Array;
  readonly x1: Float64Array;
  readonly level: Int32Array;
  readonly levels: readonly (readonly BoxIndex[])[];
  readonly #children: readonly (readonly BoxIndex[])[];

  constructor(graph: FlameGraph) {
    const { boxes } = graph;
    this.graph = graph;
    this.#children = childLists(boxes.parent);
    this.x0 = new Float64Array(boxes.length);
    this.x1 = new Float64Array(boxes.length);
    this.level = new Int32Array(boxes.length);
    const levels: BoxIndex[][] = [];
    const root = hierarchy<BoxIndex>(0, (box) => this.#children[box]).sum(
      (box) => boxes.selfMagnitude[box] ?? 0,
    );
    for (const { data: box, depth, x0, x1 } of partition<BoxIndex>()(root).descendants()) {
      this.x0[box] = x0;
      this.x1[box] = x1;
      this.level[box] = depth;
      levels[depth] ??= [];
      levels[depth].push(box);
    }
    for (const level of levels) level.sort((a, b) => (this.x0[a] ?? 0) - (this.x0[b] ?? 0));
    this.levels = levels;
  }

  /** Undefined for the root, and for boxes too small to see. */
  groupOf(box: BoxIndex): FlameGroup | undefined {
    return this.graph.groups[this.graph.boxes.group[box] ?? -1];
  }

  /** Key of its group; undefined for the root, and for boxes too small to see. */
  keyOf(box: BoxIndex): string | undefined {
    return this.graph.groupKeys[this.graph.boxes.group[box] ?? -1];
  }

  boxAt(level: number, x: number): BoxIndex | undefined {
    const boxes = this.levels[level] ?? [];
    const byRightEdge = bisector((box: BoxIndex) => this.x1[box] ?? 0);
    const box = boxes[byRightEdge.right(boxes, x)];
    return box !== undefined && (this.x0[box] ?? 1) <= x ? box : undefined;
  }

  /** '' for the root; undefined for boxes too small to see. */
  pathOf(box: BoxIndex): string | undefined {
    const { parent } = this.graph.boxes;
    const keys: string[] = [];
    for (let at = box; at > 0; at = parent[at] ?? 0) {
      const key = this.keyOf(at);
      if (key === undefined) return undefined;
      keys.push(key);
    }
    return keys.reduceRight(pathTo, this.#rootPath());
  }

  /** Where a click zooms to, for the view's `root`; a box too small to see zooms to its caller. */
  zoomPathOf(box: BoxIndex): string | undefined {
    return (
      this.pathOf(this.#isHidden(box) ? (this.graph.boxes.parent[box] ?? 0) : box) || undefined
    );
  }

  /** The box at a path; undefined if it is too small to see or gone. */
  boxOfPath(path: string): BoxIndex | undefined {
    const root = this.#rootPath();
    if (path === root) return 0;
    if (root !== '' && !path.startsWith(`${root}.`)) return undefined;
    let box: BoxIndex | undefined = 0;
    for (const key of path.slice(root === '' ? 0 : root.length + 1).split('.')) {
      box = this.#children[box]?.find((child) => this.keyOf(child) === key);
      if (box === undefined) return undefined;
    }
    return box;
  }

  /** From the outermost box to this one, including those above the zoomed box. */
  ancestry(box: BoxIndex): readonly FlameGroup[] {
    const { boxes, trail } = this.graph;
    const below: FlameGroup[] = [];
    for (let at = box; at > 0; at = boxes.parent[at] ?? 0) {
      const group = this.groupOf(at);
      if (group !== undefined) below.push(group);
    }
    return [...trail.map(({ group }) => group), ...below.reverse()];
  }

  /** Where an arrow key leads, past boxes too small to see; the box itself if nowhere. */
  neighbour(box: BoxIndex, key: ArrowKey): BoxIndex {
    if (key === 'ArrowUp') return Math.max(0, this.graph.boxes.parent[box] ?? 0);
    const isDown = key === 'ArrowDown';
    const level = isDown ? this.#children[box] : this.levels[this.level[box] ?? 0];
    const visible = (level ?? []).filter((other) => !this.#isHidden(other));
    if (isDown) return visible[0] ?? box;
    return visible[visible.indexOf(box) + (key === 'ArrowRight' ? 1 : -1)] ?? box;
  }

  #isHidden(box: BoxIndex): boolean {
    return (this.graph.boxes.hidden[box] ?? 0) > 0;
  }

  #rootPath(): string {
    return this.graph.trail.at(-1)?.path ?? '';
  }
}

export type ArrowKey = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export const isArrowKey = (key: string): key is ArrowKey =>
  key === 'ArrowUp' || key === 'ArrowDown' || key === 'ArrowLeft' || key === 'ArrowRight';

function childLists(parent: Int32Array): readonly (readonly BoxIndex[])[] {
  const children: BoxIndex[][] = Array.from(parent, () => []);
  parent.forEach((above, box) => {
    children[above]?.push(box);
  });
  return children;
}
