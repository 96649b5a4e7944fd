/**
 * Caches between two looks at a device's flame graph: the folded trees, which change only with the grouping, and the
 * last weights, which zooming and sorting do not change.
 */
import { getOrMake } from '../../base/collections.ts';
import { classify } from '../classes/classify.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { absenceText } from '../model/stacks.ts';
import { FlameRows } from './flame-table.ts';
import { type FoldedTree, foldTree, type WeighedTree, weighTree } from './folded-tree.ts';
import { FrameGroups } from './frame-groups.ts';
import { type WeighOptions, weighStacks } from './stack-weights.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export interface FlameShape {
  readonly groupBy: FlameGrouping;
  readonly frames: FlameFrames;
}

interface Folded {
  readonly groups: FrameGroups;
  readonly tree: FoldedTree;
}

/** A folded tree with weights. */
export interface Flame {
  readonly groups: FrameGroups;
  readonly weighed: WeighedTree;
  readonly rows: FlameRows;
}

export class FlameContext {
  readonly #context: DeviceModel;
  readonly #folded = new Map<string, Folded>();
  #last:
    | { readonly key: string; readonly matches: Uint8Array | undefined; readonly flame: Flame }
    | undefined;

  constructor(context: DeviceModel) {
    this.#context = context;
  }

  flame(shape: FlameShape, options: WeighOptions): Flame {
    const { set, weight, matches, onlyMatches = false } = options;
    const key = JSON.stringify([shape.groupBy, shape.frames, set, weight, onlyMatches]);
    if (this.#last?.key === key && this.#last.matches === matches) return this.#last.flame;
    const { groups, tree } = this.#fold(shape);
    const classOf = shape.groupBy === 'class' ? classify(this.#context).classOf : undefined;
    const weighed = weighTree(tree, weighStacks(this.#context, { ...options, classOf }));
    const rows = new FlameRows(weighed, groups, this.#context.stacks, shape.groupBy);
    this.#last = { key, matches, flame: { groups, weighed, rows } };
    return this.#last.flame;
  }

  #fold({ groupBy, frames }: FlameShape): Folded {
    return getOrMake(this.#folded, `${groupBy} ${frames}`, () => {
      const { snapshot, stacks } = this.#context;
      const groups = new FrameGroups(snapshot, stacks, groupBy, frames);
      return { groups, tree: foldTree(snapshot, groups, groupBy) };
    });
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

/** Label of a box without a frame. */
export function noFrameText(reason: NoFrame): string {
  return reason === 'none-shown' ? 'only hidden frames' : absenceText(reason);
}
