import { earlierUses } from '../core/lists/earlier-uses.ts';
import type { OpenDevice } from './open-device.ts';

/** The number in each allocation's label; for `OpenDevice.once`, so that all tables share it. */
export function allocationUses({ context }: OpenDevice): Int32Array {
  return earlierUses(context.replay.allocations);
}
