import { upperBound } from '../../base/binary-search.ts';
import { growableInt32 } from '../../base/growable.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { AllocationTable } from './types.ts';

/**
 * Allocations that are live in the state after an event, ascending; -1 is the state before the
 * trace. A plain scan of one column: 2 ms for 1.9 M allocations, for questions that are asked once
 * a step. Drawing, which asks for each column of pixels, has a pyramid (core/raster).
 */
export function liveAt({ start, end }: AllocationTable, event: EventIndex): Int32Array {
  const live = growableInt32();
  const until = upperBound(start, event);
  for (let id = 0; id < until; id++) if (end[id] > event) live.push(id);
  return live.finish();
}
