/**
 * Caches between two looks at a device's flame graph: the folded trees, which change only with the grouping and the
 * transforms, and the last weights, which zooming, sorting and transforms do not change.
 */
import { LruCache } from '../../base/collections.ts';
import type { Snapshot, StackTable } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { holderRows } from '../model/holders.ts';
import { absenceText, StackReader } from '../model/stacks.ts';
import { FlameRows, type ReadStacks } from './flame-table.ts';
import {
  type FoldedTree,
  foldTransformed,
  type TransformStep,
  transformSteps,
  type WeighedTree,
  weighTree,
} from './folded-tree.ts';
import { type CollapsedFrame, type FlameGroups, FrameGroups } from './frame-groups.ts';
import { holderTree } from './holder-tree.ts';
import { type GroupsAt, type TransformedStacks, untransformed } from './stack-transforms.ts';
import { type StackWeights, type WeighOptions, weighStacks } from './stack-weights.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export interface FlameShape {
  readonly groupBy: FlameGrouping;
  readonly frames: FlameFrames;
  /** See transform-text.ts. By holder there are no stacks to transform. */
  readonly transforms?: string;
}

/** A folded tree with weights. */
export interface Flame {
  readonly groups: FlameGroups;
  readonly weighed: WeighedTree;
  readonly rows: FlameRows;
  /** The transforms that made it; by holder they are only described. */
  readonly steps: readonly TransformStep[];
}

interface Folded extends ReadStacks, Pick<Flame, 'groups' | 'steps'> {
  readonly tree: FoldedTree;
}

export class FlameContext {
  readonly #context: DeviceModel;
  readonly #groups = new LruCache<FrameGroups>(12);
  readonly #folded = new LruCache<Folded>(8);
  /** The three of a sandwich share their weights. */
  readonly #flames = new LruCache<Flame>(4);
  #last: { readonly key: string; readonly matches?: Uint8Array; weights: StackWeights } | undefined;

  constructor(context: DeviceModel) {
    this.#context = context;
  }

  flame(shape: FlameShape, options: WeighOptions): Flame {
    const { groupBy, frames, transforms = '' } = shape;
    const { set, weight, matches, onlyMatches = false } = options;
    const holderOf = groupBy === 'holder' ? holderRows(this.#context) : undefined;
    const classOf = groupBy === 'class' ? classify(this.#context).classOf : undefined;
    const rows = holderOf === undefined ? classOf && 'class' : 'holder';
    const key = JSON.stringify([rows, set, weight, onlyMatches]);
    if (this.#last?.key !== key || this.#last.matches !== matches) {
      const weights = weighStacks(this.#context, { ...options, classOf, holderOf });
      this.#last = { key, weights, ...(matches && { matches }) };
      this.#flames.clear();
    }
    const { weights } = this.#last;
    const own = `${groupBy} ${frames} ${transforms}`;
    return this.#flames.getOrMake(own, () => {
      const { tree, groups, steps, ...read } = this.#folded.getOrMake(own, () =>
        holderOf === undefined ? this.#fold(shape) : this.#foldHolders(shape),
      );
      const weighed = weighTree(tree, weights);
      return { groups, weighed, steps, rows: new FlameRows(weighed, groups, read, groupBy) };
    });
  }

  #foldHolders(shape: FlameShape): Folded {
    const { snapshot, stacks } = this.#context;
    const { recordedOf } = untransformed(snapshot.stacks);
    const steps = transformSteps(shape.transforms ?? '', this.#groupsAt(shape));
    return { ...holderTree(snapshot), steps, stacks, recordedOf };
  }

  #fold(shape: FlameShape): Folded {
    const { groupBy, transforms = '' } = shape;
    const { snapshot, stacks } = this.#context;
    const groupsAt = this.#groupsAt(shape);
    const { changed, ...folded } = foldTransformed(snapshot, groupBy, transforms, groupsAt);
    return {
      ...folded,
      stacks: transforms === '' ? stacks : readerOf(snapshot, changed),
      recordedOf: changed.recordedOf,
    };
  }

  #groupsAt({ frames }: FlameShape): GroupsAt {
    return (grouping, collapsed) => this.#groupsOf(grouping, frames, collapsed);
  }

  #groupsOf(grouping: FlameGrouping, frames: FlameFrames, collapsed: readonly CollapsedFrame[]) {
    const { snapshot, stacks } = this.#context;
    return this.#groups.getOrMake(
      JSON.stringify([grouping, frames, collapsed]),
      () => new FrameGroups(snapshot, stacks, grouping, frames, collapsed),
    );
  }
}

/** Reads transformed stacks: a collapsed frame as one of its frames. */
function readerOf(snapshot: Snapshot, { stacks, collapsed }: TransformedStacks): StackReader {
  const { length } = snapshot.frames;
  const frame = stacks.frame.map((own) => (own < length ? own : collapsed[own - length].frame));
  const table: StackTable = { ...stacks, frame };
  return new StackReader({ ...snapshot, stacks: table });
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
