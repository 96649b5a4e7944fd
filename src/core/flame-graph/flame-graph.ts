/** From a tree to the boxes that can be seen: zoomed into one of them, without those too thin. */
import { growableFloat64, growableInt32 } from '../base/growable.ts';
import type { FlameNode } from './flame-nodes.ts';
import type { FrameGroups, GroupIndex } from './frame-groups.ts';
import type { FlameBoxes, FlameGraph, FlameGroup, FlameStep } from './types.ts';

/** Between the keys of a path: 'k3f9a.0x1.main'. */
const SEPARATOR = '.';

export interface FlameGraphOptions {
  /** Path of the box to zoom into; undefined for the whole. */
  readonly root?: string | undefined;
  /** Boxes narrower than this share of the box zoomed into are put together, 0 to 1. */
  readonly smallestShare: number;
}

export function flameGraph(
  whole: FlameNode,
  groups: FrameGroups,
  { root, smallestShare }: FlameGraphOptions,
): FlameGraph {
  const { node, trail, isRootFound } = follow(whole, groups, root);
  const boxes = new BoxBuilder(groups, node.magnitude * smallestShare);
  boxes.add(node, -1);
  const { value, magnitude, count, matched } = whole;
  return { ...boxes.finish(), trail, isRootFound, total: { value, magnitude, count, matched } };
}

/** Path of a box below another; '' is the whole. */
export function pathTo(above: string, key: string): string {
  return above === '' ? key : `${above}${SEPARATOR}${key}`;
}

/** Goes down a path as far as it leads. */
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

class BoxBuilder {
  readonly #groups: FrameGroups;
  readonly #smallest: number;
  readonly #parent = growableInt32();
  readonly #group = growableInt32();
  readonly #hidden = growableInt32();
  readonly #value = growableFloat64();
  readonly #magnitude = growableFloat64();
  readonly #selfMagnitude = growableFloat64();
  readonly #count = growableFloat64();
  readonly #matched = growableFloat64();
  /** Position in the answer of each group that occurs. */
  readonly #known = new Map<GroupIndex, number>();

  constructor(groups: FrameGroups, smallest: number) {
    this.#groups = groups;
    this.#smallest = smallest;
  }

  add(node: FlameNode, parent: number): void {
    const box = this.#push(node, parent, this.#position(node.group), 0);
    const rest = { value: 0, magnitude: 0, count: 0, matched: 0 };
    let hidden = 0;
    for (const child of bySize(node.children())) {
      if (child.magnitude > 0 && child.magnitude >= this.#smallest) {
        this.add(child, box);
        continue;
      }
      hidden++;
      rest.value += child.value;
      rest.magnitude += child.magnitude;
      rest.count += child.count;
      rest.matched += child.matched;
    }
    if (hidden > 0) this.#push({ ...rest, selfMagnitude: rest.magnitude }, box, -1, hidden);
  }

  finish(): Pick<FlameGraph, 'boxes' | 'groups' | 'groupKeys'> {
    const boxes: FlameBoxes = {
      length: this.#parent.length,
      parent: this.#parent.finish(),
      group: this.#group.finish(),
      hidden: this.#hidden.finish(),
      value: this.#value.finish(),
      magnitude: this.#magnitude.finish(),
      selfMagnitude: this.#selfMagnitude.finish(),
      count: this.#count.finish(),
      matched: this.#matched.finish(),
    };
    const groups: FlameGroup[] = [];
    const groupKeys: string[] = [];
    for (const group of this.#known.keys()) {
      groups.push(this.#groups.describe(group));
      groupKeys.push(this.#groups.keyOf(group));
    }
    return { boxes, groups, groupKeys };
  }

  #push(
    node: Pick<FlameNode, 'value' | 'magnitude' | 'selfMagnitude' | 'count' | 'matched'>,
    parent: number,
    group: number,
    hidden: number,
  ): number {
    this.#parent.push(parent);
    this.#group.push(group);
    this.#hidden.push(hidden);
    this.#value.push(node.value);
    this.#magnitude.push(node.magnitude);
    this.#selfMagnitude.push(node.selfMagnitude);
    this.#count.push(node.count);
    this.#matched.push(node.matched);
    return this.#parent.length - 1;
  }

  #position(group: GroupIndex): number {
    if (group < 0) return -1;
    const position = this.#known.get(group) ?? this.#known.size;
    this.#known.set(group, position);
    return position;
  }
}
