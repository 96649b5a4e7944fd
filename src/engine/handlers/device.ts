/** Queries about one allocation. */
import { allocationDetails } from '../../core/device/allocation-details.ts';
import { findAllocation } from '../../core/device/allocation-labels.ts';
import type { AllocationDetails } from '../../core/device/types.ts';
import type { AllocationIndex } from '../../core/replay/types.ts';
import type { DeviceRequest, Query, QueryHandlers } from '../queries.ts';

export interface AllocationQueries {
  readonly allocation: Query<
    DeviceRequest & { readonly index: AllocationIndex },
    AllocationDetails
  >;
  /** From a label of a URL to the allocation; undefined when this snapshot has none such. */
  readonly findAllocation: Query<
    DeviceRequest & { readonly label: string },
    AllocationIndex | undefined
  >;
}

export const deviceHandlers: QueryHandlers<AllocationQueries> = {
  allocation: ({ context }, { index }) => allocationDetails(context, index),
  findAllocation({ context: { replay, snapshot } }, { label }) {
    return findAllocation(replay.allocations, snapshot.addresses, label);
  },
};
