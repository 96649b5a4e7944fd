import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { classify } from '../../device/classes/classify.ts';
import { type ClassifiedDetails, classAt, evidenceAt } from '../../device/classes/types.ts';
import { allocationDetails } from '../../device/model/allocation-details.ts';
import { findAllocation } from '../../device/model/allocation-labels.ts';
import { holderOf } from '../../device/model/holders.ts';
import { poolKind } from '../../device/model/pool-kinds.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface AllocationQueries {
  readonly allocation: Query<{ readonly index: AllocationIndex }, ClassifiedDetails>;
  /** Finds the allocation of a label in a URL; undefined if this snapshot has none. */
  readonly findAllocation: Query<{ readonly label: string }, AllocationIndex | undefined>;
}

export const deviceHandlers: QueryHandlers<AllocationQueries> = {
  allocation({ context }, { index }) {
    const found = classify(context);
    return {
      ...allocationDetails(context, index),
      memoryClass: classAt(found, index),
      classReason: evidenceAt(found, index),
      name: found.names.get(index),
      holder: holderOf(context, index),
      poolKind: poolKind(context, context.replay.allocations.pool[index] ?? 0),
    };
  },
  findAllocation({ context: { replay, snapshot } }, { label }) {
    return findAllocation(replay.allocations, snapshot.addresses, label);
  },
};
