/** Segments and mapped pieces over time: who was there when, and which group of free ranges they feed. */
import { AddressMap } from '../../base/address-map.ts';
import { upperBound } from '../../base/binary-search.ts';
import {
  growableFloat64,
  growableInt32,
  growableUint8,
  growableUint16,
} from '../../base/growable.ts';
import {
  type DeviceTrace,
  type EventIndex,
  type PoolIndex,
  type SegmentTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { type BlockRules, SMALL_SEGMENT_BYTES } from './rounding.ts';
import { NEVER, type ReplayedEvents, type SegmentSpanTable } from './types.ts';

/** Row of the default pool in every snapshot. */
const DEFAULT_POOL: PoolIndex = 0;

export interface SegmentFields {
  readonly address: number;
  readonly sizeBytes: number;
  readonly stream: number;
  readonly pool: number;
  readonly isSmall: boolean;
  readonly isExpandable: boolean;
  readonly stack: number;
}

/** What the file says of a segment, of its end or of the state that a cut part begins with. */
export function segmentFields(segments: SegmentTable, s: number): SegmentFields {
  return {
    address: segments.address[s],
    sizeBytes: segments.totalBytes[s],
    stream: segments.stream[s],
    pool: segments.pool[s],
    isSmall: segments.isSmall[s] === 1,
    isExpandable: segments.isExpandable[s] === 1,
    stack: segments.stack[s],
  };
}

/** What a segment event says of its segment; the pool is the default one's where events carry none. */
export function segmentOfEvent(
  events: ReplayedEvents,
  at: number,
  { largeSegmentBytes }: BlockRules,
): SegmentFields {
  const action = events.action[at];
  const sizeBytes = events.sizeBytes[at];
  const isExpandable = action === TraceAction.SegmentMap || action === TraceAction.SegmentUnmap;
  return {
    address: events.address[at],
    sizeBytes,
    stream: events.stream[at],
    pool: events.pool?.[at] ?? DEFAULT_POOL,
    isSmall: isExpandable ? sizeBytes % largeSegmentBytes !== 0 : sizeBytes === SMALL_SEGMENT_BYTES,
    isExpandable,
    stack: events.stack[at],
  };
}

/** The columns that say where a segment or a mapped piece lies, and whose it is. */
type Places = Record<
  'address' | 'sizeBytes' | 'stream' | 'pool' | 'isSmall' | 'isExpandable',
  ArrayLike<number>
>;

/** Whether the piece `high` goes on where `low` ends: pieces of one expandable segment, as one range to the allocator. */
export function isContinued(places: Readonly<Places>, low: number, high: number): boolean {
  return (
    places.isExpandable[low] === 1 &&
    places.isExpandable[high] === 1 &&
    places.address[low] + places.sizeBytes[low] === places.address[high] &&
    places.stream[low] === places.stream[high] &&
    places.pool[low] === places.pool[high] &&
    places.isSmall[low] === places.isSmall[high]
  );
}

export class SegmentTracker {
  readonly #start = growableInt32();
  readonly #end = growableInt32();
  readonly #address = growableFloat64();
  readonly #size = growableFloat64();
  readonly #stream = growableUint16();
  readonly #pool = growableUint16();
  readonly #isSmall = growableUint8();
  readonly #isExpandable = growableUint8();
  readonly #stack = growableInt32();
  /** Smallness once more by row, plain: it is asked for at every alloc. */
  readonly #hotSmall: boolean[] = [];
  /** Live native segments by address. */
  readonly #native = new AddressMap();
  /** Live rows of expandable memory. */
  readonly #pieces: number[] = [];
  /** Groups of expandable memory: stream * 2 + isSmall, at index -2 - group. */
  readonly #expandableGroups: number[] = [];
  reservedBytes = 0;

  get length(): number {
    return this.#start.length;
  }

  /** Opens a segment and returns its group: its row when native, a negative number when expandable. */
  open(event: EventIndex, fields: SegmentFields): number {
    const row = this.#push(event, fields);
    this.reservedBytes += fields.sizeBytes;
    if (!fields.isExpandable) {
      this.#native.set(fields.address, row);
      return row;
    }
    this.#pieces.push(row);
    return this.#expandableGroup(fields.stream, fields.isSmall);
  }

  /** The live native segment at an address; -1 when there is none. */
  nativeAt(address: number): number {
    return this.#native.get(address);
  }

  closeNative(row: number, event: EventIndex): void {
    this.#end.set(row, event);
    this.#native.delete(this.#address.get(row));
    this.reservedBytes -= this.#size.get(row);
  }

  /** Ends what is mapped in [address, address + bytes); the rests of cut pieces go on as new rows. */
  unmap(event: EventIndex, address: number, bytes: number): void {
    const end = address + bytes;
    for (let i = this.#pieces.length - 1; i >= 0; i--) {
      const row = this.#pieces[i];
      const from = this.#address.get(row);
      const to = from + this.#size.get(row);
      if (to <= address || from >= end) continue;
      this.#end.set(row, event);
      this.reservedBytes -= Math.min(to, end) - Math.max(from, address);
      const rests: number[] = [];
      if (from < address) rests.push(this.#push(event, this.#rest(row, from, address)));
      if (to > end) rests.push(this.#push(event, this.#rest(row, end, to)));
      this.#pieces.splice(i, 1, ...rests);
    }
  }

  address(row: number): number {
    return this.#address.get(row);
  }

  sizeBytes(row: number): number {
    return this.#size.get(row);
  }

  isSmall(group: number): boolean {
    return group >= 0 ? this.#hotSmall[group] : this.#expandableGroups[-2 - group] % 2 === 1;
  }

  pool(group: number): number {
    return group >= 0 ? this.#pool.get(group) : 0;
  }

  finish(): SegmentSpanTable {
    return {
      length: this.#start.length,
      start: this.#start.finish(),
      end: this.#end.finish(),
      address: this.#address.finish(),
      sizeBytes: this.#size.finish(),
      stream: this.#stream.finish(),
      pool: this.#pool.finish(),
      isSmall: this.#isSmall.finish(),
      isExpandable: this.#isExpandable.finish(),
      stack: this.#stack.finish(),
    };
  }

  #rest(row: number, from: number, to: number): SegmentFields {
    return {
      address: from,
      sizeBytes: to - from,
      stream: this.#stream.get(row),
      pool: this.#pool.get(row),
      isSmall: this.#isSmall.get(row) === 1,
      isExpandable: true,
      stack: this.#stack.get(row),
    };
  }

  #push(event: EventIndex, fields: SegmentFields): number {
    this.#start.push(event);
    this.#end.push(NEVER);
    this.#address.push(fields.address);
    this.#size.push(fields.sizeBytes);
    this.#stream.push(fields.stream);
    this.#pool.push(fields.pool);
    this.#isSmall.push(Number(fields.isSmall));
    this.#isExpandable.push(Number(fields.isExpandable));
    this.#stack.push(fields.stack);
    this.#hotSmall.push(fields.isSmall);
    return this.#start.length - 1;
  }

  #expandableGroup(stream: number, isSmall: boolean): number {
    const key = stream * 2 + Number(isSmall);
    const known = this.#expandableGroups.indexOf(key);
    return -2 - (known >= 0 ? known : this.#expandableGroups.push(key) - 1);
  }
}

/**
 * Private pools, from the final segment table: traces up to 2.11 do not say which pool a segment is
 * for, so it is known of those that are still there at the end.
 */
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
