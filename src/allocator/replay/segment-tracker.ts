/** Segments and mapped pieces over time: which existed when, and which group of free ranges they belong to. */
import { AddressMap } from '../../base/address.ts';
import { upperBound } from '../../base/binary-search.ts';
import { fromRows } from '../../base/table.ts';
import {
  type DeviceTrace,
  type EventIndex,
  type PoolIndex,
  type SegmentTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { type BlockRules, roundSize, SMALL_BYTES } from './rounding.ts';
import { isReserving, isSegmentAction } from './trace-events.ts';
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

/** The file's data on a segment at the end, or in the opening state of a cut part. */
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

/** A segment event's data on its segment. If events carry no pool, it is the default one. */
export function segmentOfEvent(
  events: ReplayedEvents,
  at: number,
  rules: BlockRules,
): SegmentFields {
  const { largeSegmentBytes, smallSegmentBytes } = rules;
  const action = events.action[at];
  const sizeBytes = events.sizeBytes[at];
  const isExpandable = action === TraceAction.SegmentMap || action === TraceAction.SegmentUnmap;
  return {
    address: events.address[at],
    sizeBytes,
    stream: events.stream[at],
    pool: events.pool?.[at] ?? DEFAULT_POOL,
    isSmall:
      (rules.isPoolByRequest ? isSmallRequest(events, at, rules) : undefined) ??
      (isExpandable ? sizeBytes % largeSegmentBytes !== 0 : sizeBytes === smallSegmentBytes),
    isExpandable,
    stack: events.stack[at],
  };
}

/** Whether the alloc that memory was reserved for is small: the next one, if it is there. Undefined otherwise. */
function isSmallRequest(
  { action, address, sizeBytes }: ReplayedEvents,
  at: number,
  rules: BlockRules,
): boolean | undefined {
  if (!isReserving(action[at])) return undefined;
  let next = at + 1;
  while (isSegmentAction(action[next])) next++;
  const bytes = roundSize(sizeBytes[next], rules);
  // A block may begin in the free end of what was mapped before.
  const isThere =
    action[next] === TraceAction.Alloc &&
    address[next] < address[at] + sizeBytes[at] &&
    address[next] + bytes > address[at];
  return isThere ? bytes <= SMALL_BYTES : undefined;
}

/** The columns that give the place and owner of a segment or mapped piece. */
type Places = Record<
  'address' | 'sizeBytes' | 'stream' | 'pool' | 'isSmall' | 'isExpandable',
  ArrayLike<number>
>;

/** Whether piece `high` continues piece `low`: the allocator treats adjoining mapped pieces as one range. */
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
  readonly #native = new AddressMap();
  readonly #pieces: number[] = [];
  /** Groups of expandable memory: stream * 2 + isSmall, at index -2 - group. */
  readonly #expandableGroups: number[] = [];
  reservedBytes = 0;

  /** Opens a segment and returns its group: its row if native, a number below -1 if expandable. */
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

  /**
   * The pool of the mapped memory that adjoins a piece on the same stream, or the default one. An expandable segment
   * reserves more addresses than the card has bytes, so two of them never adjoin.
   */
  poolBeside({ address, sizeBytes, stream, isSmall }: SegmentFields): PoolIndex {
    const beside = this.#pieces
      .map((row) => this.#spans[row])
      .find(
        (piece) =>
          piece.stream === stream &&
          piece.isSmall === isSmall &&
          (piece.address + piece.sizeBytes === address || address + sizeBytes === piece.address),
      );
    return beside?.pool ?? DEFAULT_POOL;
  }

  /** The live native segment at an address, or -1. */
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

  /** Ends mappings in [address, address + bytes). Rests of cut pieces continue as new rows. */
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

  table(): SegmentSpanTable {
    return fromRows(SEGMENT_SPAN_COLUMNS, this.#spans);
  }

  #push(start: EventIndex, fields: SegmentFields): number {
    return this.#spans.push({ ...fields, start, end: NEVER }) - 1;
  }
}

/** The rests of a piece below and above [from, to). */
export function restsOutside(piece: SegmentFields, from: number, to: number): SegmentFields[] {
  const end = piece.address + piece.sizeBytes;
  const rests: SegmentFields[] = [];
  if (piece.address < from) rests.push({ ...piece, sizeBytes: from - piece.address });
  if (end > to) rests.push({ ...piece, address: to, sizeBytes: end - to });
  return rests;
}

/** The pools of private memory. Traces up to 2.11 do not name them, so only the final segments tell. */
export class FinalPools {
  readonly #trace: DeviceTrace;
  /** False if events carry their pool, or all memory is the default pool's. */
  readonly isNeeded: boolean;
  /** The last event that allocated a native segment at an address, because addresses may be reused. */
  readonly #lastOpened = new AddressMap();

  constructor(trace: DeviceTrace) {
    const { events, pools } = trace;
    this.#trace = trace;
    this.isNeeded = events.pool === undefined && pools.length > 1;
    for (let t = 0; this.isNeeded && t < events.length; t++) {
      if (events.action[t] === TraceAction.SegmentAlloc) this.#lastOpened.set(events.address[t], t);
    }
  }

  /** The pool of the native segment that an event allocates. */
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

  /** The pool of expandable memory, if the end of the trace has it: an expandable segment's addresses have one pool. */
  ofMapping(address: number): PoolIndex | undefined {
    const { segments } = this.#trace;
    const row = this.isNeeded ? this.#finalRow(address) : -1;
    const holds = row >= 0 && address < segments.address[row] + segments.totalBytes[row];
    return holds && segments.isExpandable[row] === 1 ? segments.pool[row] : undefined;
  }

  /** The last final segment that begins at or before an address, or -1. */
  #finalRow(address: number): number {
    return upperBound(this.#trace.segments.address, address) - 1;
  }
}
