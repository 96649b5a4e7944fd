import type { DeviceContext } from '../core/query/device-context.ts';
import { flameGraph } from '../core/query/flame/flame-graph.ts';
import { calleeTree, callerTree } from '../core/query/flame/flame-nodes.ts';
import { FlameStudy } from '../core/query/flame/flame-study.ts';
import type { WeighOptions } from '../core/query/flame/stack-weights.ts';
import type { FlameFrames, FlameGraph, FlameGrouping } from '../core/query/flame/types.ts';

export interface FlameGraphShape {
  readonly by?: FlameGrouping;
  readonly frames?: FlameFrames;
  readonly inverted?: boolean;
  readonly root?: string | undefined;
  readonly smallestShare?: number;
}

/** A flame graph by line, however small its boxes, unless the shape says otherwise. */
export function flameGraphOf(
  context: DeviceContext,
  options: WeighOptions,
  shape: FlameGraphShape = {},
): FlameGraph {
  const { by = 'line', frames = 'known', inverted = false, root, smallestShare = 0 } = shape;
  const { weighed, groups } = new FlameStudy(context).flame({ by, frames }, options);
  const whole = inverted ? calleeTree(weighed) : callerTree(weighed);
  return flameGraph(whole, groups, { root, smallestShare });
}
