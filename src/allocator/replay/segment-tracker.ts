/** Segments and mapped pieces over time: who was there when, and which group of free ranges they feed. */
import { AddressMap } from '../../base/address-map.ts';
import { upperBound } from '../../base/binary-search.ts';
import { createTable } from '../../base/table.ts';
import {
  type DeviceTrace,
  type EventIndex,
  type PoolIndex,
  type SegmentTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { type BlockRules, SMALL_SEGMENT_BYTES } from './rounding.ts';
import {
  NEVER,
  type ReplayedEvents,
  SEGMENT_SPAN_COLUMNS,
  type SegmentSpanTable,
} from './types.ts';

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

/** `end` is NEVER until it is closed. */
interface Span extends SegmentFields {
  readonly start: EventIndex;
  end: EventIndex;
}

export class SegmentTracker {
  readonly #spans: Span[] = [];
  /** Live native segments by address. */
  readonly #native = new AddressMap();
  /** Live rows of expandable memory. */
  readonly #pieces: number[] = [];
  /** Groups of expandable memory: stream * 2 + isSmall, at index -2 - group. */
  readonly #expandableGroups: number[] = [];
  reservedBytes = 0;

  /** Opens a segment and returns its group: its row when native, a number below -1 when expandable. */
  open(event: EventIndex, fields: SegmentFields): number {
    const row = this.#push(event, fields);
    this.reservedBytes += fields.sizeBytes;
    if (!fields.isExpandable) {
      this.#native.set(fields.address, row);
      return row;
    }
    this.#pieces.push(row);
    const key = fields.stream * 2 + Number(fields.isSmall);
    const known = this.#expandableGroups.indexOf(key);
    return -2 - (known >= 0 ? known : this.#expandableGroups.push(key) - 1);
  }

  /** The live native segment at an address; -1 when there is none. */
  nativeAt(address: number): number {
    return this.#native.get(address);
  }

  span(row: number): SegmentFields {
    return this.#spans[row];
  }

  closeNative(row: number, event: EventIndex): void {
    const span = this.#spans[row];
    span.end = event;
    this.#native.delete(span.address);
    this.reservedBytes -= span.sizeBytes;
  }

  /** Ends what is mapped in [address, address + bytes); the rests of cut pieces go on as new rows. */
  unmap(event: EventIndex, address: number, bytes: number): void {
    const end = address + bytes;
    for (let i = this.#pieces.length - 1; i >= 0; i--) {
      const span = this.#spans[this.#pieces[i]];
      const to = span.address + span.sizeBytes;
      if (to <= address || span.address >= end) continue;
      span.end = event;
      this.reservedBytes -= Math.min(to, end) - Math.max(span.address, address);
      const rests = restsOutside(span, address, end).map((rest) => this.#push(event, rest));
      this.#pieces.splice(i, 1, ...rests);
    }
  }

  isSmall(group: number): boolean {
    return group >= 0 ? this.#spans[group].isSmall : this.#expandableGroups[-2 - group] % 2 === 1;
  }

  finish(): SegmentSpanTable {
    const table = createTable(SEGMENT_SPAN_COLUMNS, this.#spans.length);
    for (const name of Object.keys(SEGMENT_SPAN_COLUMNS) as (keyof typeof SEGMENT_SPAN_COLUMNS)[]) {
      for (const [row, span] of this.#spans.entries()) table[name][row] = Number(span[name]);
    }
    return table;
  }

  #push(start: EventIndex, fields: SegmentFields): number {
    return this.#spans.push({ ...fields, start, end: NEVER }) - 1;
  }
}

/** What is left of a piece below and above [from, to). */
export function restsOutside(piece: SegmentFields, from: number, to: number): SegmentFields[] {
  const end = piece.address + piece.sizeBytes;
  const rests: SegmentFields[] = [];
  if (piece.address < from) rests.push({ ...piece, sizeBytes: from - piece.address });
  if (end > to) rests.push({ ...piece, address: to, sizeBytes: end - to });
  return rests;
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
