/**
 * Private pools, from the final segment table: traces up to 2.11 do not say which pool a segment is
 * for, so it is known of those that are still there at the end.
 */
import { AddressMap } from '../base/address-map.ts';
import { upperBound } from '../base/binary-search.ts';
import {
  type DeviceTrace,
  type EventIndex,
  type PoolIndex,
  TraceAction,
} from '../snapshot/tables.ts';

/** Row of the default pool in every snapshot. */
const DEFAULT_POOL: PoolIndex = 0;

export class FinalPools {
  readonly #trace: DeviceTrace;
  /** False where events carry their pool, and where all memory is the default pool's. */
  readonly isNeeded: boolean;
  /** Last event that brought a native segment to an address: the address may be used again. */
  readonly #lastOpened = new AddressMap();

  constructor(trace: DeviceTrace) {
    const { events, pools } = trace;
    this.#trace = trace;
    this.isNeeded = events.pool === undefined && pools.length > 1;
    for (let t = 0; this.isNeeded && t < events.length; t++) {
      if (events.action[t] === TraceAction.SegmentAlloc) this.#lastOpened.set(events.address[t], t);
    }
  }

  /** Pool of the native segment that an event allocates. */
  ofSegment(event: EventIndex): PoolIndex {
    const { address, sizeBytes } = this.#trace.events;
    if (this.#lastOpened.get(address[event]) !== event) return DEFAULT_POOL;
    const { segments } = this.#trace;
    const row = this.#finalRow(address[event]);
    const isSame = segments.address[row] === address[event];
    return isSame && segments.totalBytes[row] === sizeBytes[event]
      ? segments.pool[row]
      : DEFAULT_POOL;
  }

  /** Pool of expandable memory: an expandable segment keeps its addresses for one pool. */
  ofMapping(address: number): PoolIndex {
    const { segments } = this.#trace;
    const row = this.isNeeded ? this.#finalRow(address) : -1;
    const holds = row >= 0 && address < segments.address[row] + segments.totalBytes[row];
    return holds && segments.isExpandable[row] === 1 ? segments.pool[row] : DEFAULT_POOL;
  }

  /** Last final segment that begins at or before an address; -1 when there is none. */
  #finalRow(address: number): number {
    return upperBound(this.#trace.segments.address, address) - 1;
  }
}
