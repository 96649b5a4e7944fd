/** The difference of two sides as a flame graph: what grew and what shrank, by call stack. */

import { memoized } from '../../base/collections.ts';
import { StringInterner } from '../../base/interners.ts';
import { callerTree, type FlameGraph, flameGraph } from '../../device/flame-graph/flame-graph.ts';
import {
  foldTransformed,
  type TransformStep,
  weighTree,
} from '../../device/flame-graph/folded-tree.ts';
import { FrameGroups } from '../../device/flame-graph/frame-groups.ts';
import type { GroupsAt } from '../../device/flame-graph/stack-transforms.ts';
import {
  BEFORE_RECORDING_ROW,
  EXTRA_ROWS,
  NO_CONTEXT_ROW,
} from '../../device/flame-graph/stack-weights.ts';
import type { FlameGrouping } from '../../device/flame-graph/types.ts';
import { StackReader, type StackSource } from '../../device/model/stacks.ts';
import type { StackTable } from '../../format/snapshot/tables.ts';
import { alignFrames } from './align-frames.ts';
import { mergeStacks } from './match-sites.ts';
import type { RunProfile, SideFrame } from './types.ts';

export interface DifferenceFlameOptions {
  readonly groupBy: Exclude<FlameGrouping, 'stack' | 'holder'>;
  /** What is done to the stacks of both sides first, see transform-text.ts. */
  readonly transforms: string;
  /** Path of the box to zoom into. */
  readonly root: string | undefined;
  /** Merge boxes narrower than this share (0 to 1) of the zoomed box. */
  readonly smallestShare: number;
}

export interface DifferenceGraph extends FlameGraph {
  /** The transforms that made it. */
  readonly steps: readonly TransformStep[];
}

/** Builds the graph for one pair of sides, zoomed and grouped as requested. Rounding has no stack and is left out. */
export class DifferenceFlame {
  readonly #source: StackSource;
  readonly #value: Float64Array;
  readonly #count: Float64Array;

  constructor(a: RunProfile, b: RunProfile) {
    const alignment = alignFrames(a, b);
    const merged = mergeStacks(a, b, alignment);
    // Frames of A, then those of B. No stack uses a frame of B that has a counterpart in A.
    this.#source = stackSource([...a.frames, ...b.frames], merged);
    this.#value = new Float64Array(merged.length + EXTRA_ROWS);
    this.#count = new Float64Array(merged.length + EXTRA_ROWS);
    const add = ({ sites }: RunProfile, rowOf: Int32Array, sign: number) => {
      for (const { stack, class: own, bytes, count } of sites) {
        if (own === 'rounding' || own === 'unaccounted') continue;
        const extra = own === 'before-recording' ? BEFORE_RECORDING_ROW : NO_CONTEXT_ROW;
        const row = stack < 0 ? merged.length + extra : rowOf[stack];
        this.#value[row] += sign * bytes;
        this.#count[row] += sign * count;
      }
    };
    add(b, merged.ofB, 1);
    add(a, merged.ofA, -1);
  }

  graph(options: DifferenceFlameOptions): DifferenceGraph {
    const { groupBy, transforms, ...zoom } = options;
    const source = this.#source;
    const reader = new StackReader(source);
    const groupsAt: GroupsAt = (grouping, collapsed) =>
      new FrameGroups(source, reader, grouping, 'known', collapsed);
    const { tree, groups, steps } = foldTransformed(source, groupBy, transforms, groupsAt);
    const weights = { value: this.#value, count: this.#count, matched: this.#value };
    return { ...flameGraph(callerTree(weighTree(tree, weights)), groups, zoom), steps };
  }
}

function stackSource(frames: readonly SideFrame[], stacks: StackTable): StackSource {
  const strings = new StringInterner();
  const intern = memoized((text: string) => strings.internText(text));
  const table = {
    length: frames.length,
    name: Int32Array.from(frames, ({ name }) => intern(name)),
    filename: Int32Array.from(frames, ({ filename }) => intern(filename)),
    line: Int32Array.from(frames, ({ line }) => line),
    extras: new Map(),
  };
  return { strings, frames: table, stacks };
}
