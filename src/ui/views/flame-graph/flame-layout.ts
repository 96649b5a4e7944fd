/** Places boxes: x0 and x1 from 0 to 1, and a depth for each step away from the zoomed box. */
import { bisector, group, type HierarchyRectangularNode, hierarchy, partition } from 'd3';
import { assert } from '../../../base/errors.ts';
import { type FlameGraph, pathTo } from '../../../device/flame-graph/flame-graph.ts';
import type { FlameGroup } from '../../../device/flame-graph/types.ts';

/** A row of FlameBoxes. */
interface BoxData {
  /** Undefined for the root, and for boxes too small to see; their key is ''. */
  readonly group: FlameGroup | undefined;
  readonly groupIndex: number;
  readonly key: string;
  readonly value: number;
  readonly magnitude: number;
  readonly selfMagnitude: number;
  readonly count: number;
  readonly matched: number;
  readonly hidden: number;
  readonly callees: BoxData[];
}

/** Its own `value` is its width; the box's figures are in `data`. */
export type FlameBox = HierarchyRectangularNode<BoxData>;

export class FlameLayout {
  readonly graph: FlameGraph;
  readonly root: FlameBox;
  /** From the root down, each from left to right. */
  readonly levels: readonly (readonly FlameBox[])[];
  readonly #rootPath: string;

  /** @param whole what the outermost box is, if not everything */
  constructor(graph: FlameGraph, whole?: FlameGroup) {
    const tree = hierarchy(dataOf(graph, whole), ({ callees }) => callees);
    this.graph = graph;
    this.root = partition<BoxData>()(tree.sum(({ selfMagnitude }) => selfMagnitude));
    this.levels = Array.from(group(this.root, ({ depth }) => depth).values());
    this.#rootPath = graph.trail.at(-1)?.path ?? '';
  }

  boxAt(level: number, x: number): FlameBox | undefined {
    const boxes = this.levels[level] ?? [];
    const byRightEdge = bisector(({ x1 }: FlameBox) => x1);
    const box = boxes[byRightEdge.right(boxes, x)];
    return box !== undefined && box.x0 <= x ? box : undefined;
  }

  /** '' for the root; undefined for boxes too small to see. */
  pathOf(box: FlameBox): string | undefined {
    if (isHidden(box)) return undefined;
    const below = box.ancestors().slice(0, -1);
    return below.reduceRight((path, { data }) => pathTo(path, data.key), this.#rootPath);
  }

  /** Where a click zooms to, for the view's `root`; a box too small to see zooms to its caller. */
  zoomPathOf(box: FlameBox): string | undefined {
    return this.pathOf((isHidden(box) && box.parent) || box) || undefined;
  }

  /** The box at a path; undefined if it is too small to see or gone. */
  boxOfPath(path: string): FlameBox | undefined {
    const root = this.#rootPath;
    if (path === root) return this.root;
    if (root !== '' && !path.startsWith(`${root}.`)) return undefined;
    let box: FlameBox | undefined = this.root;
    for (const key of path.slice(root === '' ? 0 : root.length + 1).split('.')) {
      box = box?.children?.find(({ data }) => data.key === key);
    }
    return box;
  }

  /** From the outermost box to this one, including those above the zoomed box. */
  ancestry(box: FlameBox): readonly FlameGroup[] {
    const below = box.ancestors().slice(0, -1).reverse();
    return [
      ...this.graph.trail.map((step) => step.group),
      ...below.flatMap(({ data }) => data.group ?? []),
    ];
  }

  /** Where an arrow key leads, past boxes too small to see; the box itself if nowhere. */
  neighbor(box: FlameBox, key: ArrowKey): FlameBox {
    if (key === 'ArrowUp') return box.parent ?? box;
    const isDown = key === 'ArrowDown';
    const level = isDown ? box.children : this.levels[box.depth];
    const visible = (level ?? []).filter((other) => !isHidden(other));
    if (isDown) return visible[0] ?? box;
    return visible[visible.indexOf(box) + (key === 'ArrowRight' ? 1 : -1)] ?? box;
  }
}

const isHidden = ({ data }: FlameBox): boolean => data.hidden > 0;

export type ArrowKey = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export const isArrowKey = (key: string): key is ArrowKey => /^Arrow(Up|Down|Left|Right)$/.test(key);

/** The root, with its callees in it. */
function dataOf({ boxes, groups, groupKeys }: FlameGraph, whole?: FlameGroup): BoxData {
  const figure = (column: Float64Array | Int32Array, box: number) => column[box] ?? 0;
  const all = Array.from(boxes.group, (groupIndex, box): BoxData => {
    return {
      group: groups[groupIndex] ?? (box === 0 ? whole : undefined),
      groupIndex,
      key: groupKeys[groupIndex] ?? '',
      value: figure(boxes.value, box),
      magnitude: figure(boxes.magnitude, box),
      selfMagnitude: figure(boxes.selfMagnitude, box),
      count: figure(boxes.count, box),
      matched: figure(boxes.matched, box),
      hidden: figure(boxes.hidden, box),
      callees: [],
    };
  });
  all.forEach((data, box) => {
    all[boxes.parent[box] ?? -1]?.callees.push(data);
  });
  const [root] = all;
  assert(root !== undefined, 'box 0 is the root');
  return root;
}
