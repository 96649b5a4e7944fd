/**
 * Caches between two looks at a device's flame graph: the folded trees, which change only with the grouping, and the
 * last weights, which zooming and sorting do not change.
 */
import { getOrMake } from '../../base/collections.ts';
import { classify } from '../classes/classify.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { holderRows } from '../model/holders.ts';
import { absenceText } from '../model/stacks.ts';
import { FlameRows } from './flame-table.ts';
import { type FoldedTree, foldTree, type WeighedTree, weighTree } from './folded-tree.ts';
import { type FlameGroups, FrameGroups } from './frame-groups.ts';
import { holderTree } from './holder-tree.ts';
import { type WeighOptions, weighStacks } from './stack-weights.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export interface FlameShape {
  readonly groupBy: FlameGrouping;
  readonly frames: FlameFrames;
}

/** A folded tree with weights. */
export interface Flame {
  readonly groups: FlameGroups;
  readonly weighed: WeighedTree;
  readonly rows: FlameRows;
}

export class FlameContext {
  readonly #context: DeviceModel;
  readonly #folded = new Map<string, { readonly groups: FlameGroups; readonly tree: FoldedTree }>();
  #last: { readonly key: string; readonly matches?: Uint8Array; readonly flame: Flame } | undefined;

  constructor(context: DeviceModel) {
    this.#context = context;
  }

  flame({ groupBy, frames }: FlameShape, options: WeighOptions): Flame {
    const { snapshot, stacks } = this.#context;
    const { set, weight, matches, onlyMatches = false } = options;
    const key = JSON.stringify([groupBy, frames, set, weight, onlyMatches]);
    if (this.#last?.key === key && this.#last.matches === matches) return this.#last.flame;
    const holderOf = groupBy === 'holder' ? holderRows(this.#context) : undefined;
    const { groups, tree } = getOrMake(this.#folded, `${groupBy} ${frames}`, () => {
      if (holderOf !== undefined) return holderTree(snapshot);
      const made = new FrameGroups(snapshot, stacks, groupBy, frames);
      return { groups: made, tree: foldTree(snapshot, made, groupBy) };
    });
    const classOf = groupBy === 'class' ? classify(this.#context).classOf : undefined;
    const weighed = weighTree(tree, weighStacks(this.#context, { ...options, classOf, holderOf }));
    const flame = { groups, weighed, rows: new FlameRows(weighed, groups, stacks, groupBy) };
    this.#last = { key, flame, ...(matches && { matches }) };
    return flame;
  }
}

/** One stack of boxes with its own weight; together these make up the flame graph. */
export interface FlameStack {
  /** Outermost first; never empty. */
  readonly groups: readonly FlameGroup[];
  readonly value: number;
}

/** Nonzero stacks, heaviest first; their values add up to the total. */
export function* flameStacks({ weighed, groups }: Flame): Generator<FlameStack> {
  const { tree, self } = weighed;
  const rows: number[] = [];
  for (let row = 1; row < tree.length; row++) if (self.value[row] !== 0) rows.push(row);
  rows.sort((a, b) => self.magnitude[b] - self.magnitude[a]);
  for (const row of rows) {
    const path: FlameGroup[] = [];
    for (let at = row; at > 0; at = tree.parent[at]) path.push(groups.describe(tree.group[at]));
    yield { groups: path.reverse(), value: self.value[row] };
  }
}

/** Label of a box without a frame or a name. */
export function noFrameText(reason: NoFrame): string {
  switch (reason) {
    case 'none-shown':
      return 'only hidden frames';
    case 'no-name':
      return 'no name';
    case 'freed':
      return 'freed before the end: name unknown';
    default:
      return absenceText(reason);
  }
}
