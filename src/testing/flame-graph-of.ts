import { FlameContext } from '../device/flame-graph/flame-context.ts';
import {
  calleeTree,
  callerTree,
  type FlameGraph,
  flameGraph,
} from '../device/flame-graph/flame-graph.ts';
import type { WeighOptions } from '../device/flame-graph/stack-weights.ts';
import type { FlameFrames, FlameGrouping } from '../device/flame-graph/types.ts';
import type { DeviceModel } from '../device/model/device-model.ts';

export interface FlameGraphShape {
  readonly by?: FlameGrouping;
  readonly frames?: FlameFrames;
  readonly inverted?: boolean;
  readonly root?: string | undefined;
  readonly smallestShare?: number;
}

/** A flame graph by line that keeps even the smallest boxes, unless the shape says otherwise. */
export function flameGraphOf(
  context: DeviceModel,
  options: WeighOptions,
  shape: FlameGraphShape = {},
): FlameGraph {
  const { by = 'line', frames = 'known', inverted = false, root, smallestShare = 0 } = shape;
  const { weighed, groups } = new FlameContext(context).flame({ groupBy: by, frames }, options);
  const whole = inverted ? calleeTree(weighed) : callerTree(weighed);
  return flameGraph(whole, groups, { root, smallestShare });
}
