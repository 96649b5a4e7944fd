import type { AllocationKey, CallSiteKey, Clock } from '../core/lists/allocation-list-types.ts';
import { orderAllocations } from '../core/lists/order-allocations.ts';
import { type CallSiteTable, callSiteTable, orderCallSites } from '../core/lists/site-table.ts';
import type { AllocationIndex } from '../core/replay/types.ts';
import { dependsOnCursor } from '../core/search/match-allocations.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import { allocationUses } from './allocation-uses.ts';
import { LruCache } from './lru-cache.ts';
import type { OpenDevice } from './open-device.ts';
import type { DeviceRequest } from './queries.ts';

/** Which rows, in which order: the same for all pages of a table. */
export interface ListRequest<Key> extends DeviceRequest {
  readonly search: string;
  /** The cursor; undefined: states are those at the end. */
  readonly at: EventIndex | undefined;
  readonly key: Key;
  readonly isDescending: boolean;
  /** What lifetimes are counted in. */
  readonly clock: Clock;
}

interface Sites {
  readonly table: CallSiteTable;
  readonly order: Uint32Array;
}

/** Sorting there and back, and one more. */
const KEPT = 3;

/** Sorted lists of a device, the last few kept: 4 bytes a row each. Get it by `device.once`. */
export class AllocationLists {
  readonly #device: OpenDevice;
  readonly #orders = new LruCache<Uint32Array>(KEPT);
  readonly #sites = new LruCache<Sites>(KEPT);

  constructor(device: OpenDevice) {
    this.#device = device;
  }

  /** See `earlierUses`. */
  get earlier(): Int32Array {
    return this.#device.once(allocationUses);
  }

  allocations(request: ListRequest<AllocationKey>): Uint32Array {
    const { search, at, key, isDescending, clock } = request;
    const state = dependsOnCursor(search) || key === 'state' ? at : undefined;
    const name = JSON.stringify([search, state, key, isDescending, clock]);
    return this.#orders.get(name, () => {
      const { mask } = this.#device.matches(search, at);
      return orderAllocations(this.#device.context, mask, { key, isDescending, clock, at });
    });
  }

  sites(request: ListRequest<CallSiteKey>): Sites {
    const { search, at, key, isDescending } = request;
    const state = dependsOnCursor(search) ? at : undefined;
    const { context } = this.#device;
    return this.#sites.get(JSON.stringify([search, state, key, isDescending]), () => {
      const table = callSiteTable(context, this.#device.matches(search, at).mask);
      return { table, order: orderCallSites(context, table, key, isDescending) };
    });
  }

  /** The row of an allocation; -1 when it is not in the list. */
  rowIndex(request: ListRequest<AllocationKey>, allocation: AllocationIndex): number {
    return this.allocations(request).indexOf(allocation);
  }

  /** The row of the site of an allocation; -1 when the list has none with its stack. */
  callSiteRowIndex(request: ListRequest<CallSiteKey>, allocation: AllocationIndex): number {
    const { table, order } = this.sites(request);
    const stack = this.#device.context.replay.allocations.stack[allocation];
    return stack === undefined ? -1 : order.indexOf(table.stack.indexOf(stack));
  }
}
