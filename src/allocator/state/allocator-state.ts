/** The allocator's segments and blocks after any event, as the replay shows them. The rest of a segment is free. */
import { lowerBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { createTable, fromRows, type RowOf, tableFrom } from '../../base/table.ts';
import {
  BlockState,
  type EventIndex,
  type EventTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { isContinued } from '../replay/segment-tracker.ts';
import { liveAt } from '../replay/trace-events.ts';
import type {
  AllocationIndex,
  AllocationTable,
  Replay,
  SegmentSpanTable,
} from '../replay/types.ts';
import {
  type AllocatorState,
  BLOCK_STATE_COLUMNS,
  SEGMENT_STATE_COLUMNS,
  SegmentKind,
} from './types.ts';

/**
 * The state after `event`, which must be in the trace, or -1 for the state before it.
 * @param since {@link mappedSince} of the replay's spans
 */
export function allocatorStateAt(
  replay: Replay,
  since: Int32Array,
  event: EventIndex,
): AllocatorState {
  const { allocations, segmentSpans: spans } = replay;
  const { address, sizeBytes } = allocations;
  const ranges = mappedRangesAt(spans, event);
  const live = byAddress(replay, liveAt(allocations, event));
  const builder = new StateBuilder(allocations, event, 2 * live.length + ranges.length);
  /** Those that lie in no range, or cross its edge or the previous block: shown separately and whole. */
  const apart: AllocationIndex[] = [];
  let next = 0;
  let usedUpTo = -1;
  for (const range of ranges) {
    const end = range.address + range.sizeBytes;
    const kind =
      spans.isExpandable[range.spans[0]] === 1 ? SegmentKind.Expandable : SegmentKind.Native;
    builder.open(range, kind, spans, range.spans, since);
    for (; next < live.length && address[live[next]] < end; next++) {
      const id = live[next];
      const isInside = address[id] >= Math.max(range.address, usedUpTo);
      if (isInside && address[id] + sizeBytes[id] <= end) {
        builder.addLive(id);
        usedUpTo = address[id] + sizeBytes[id];
      } else apart.push(id);
    }
    builder.close();
  }
  for (; next < live.length; next++) apart.push(live[next]);
  for (const id of apart) {
    const place = { address: address[id], sizeBytes: sizeBytes[id] };
    builder.open(place, SegmentKind.None, allocations, [id], allocations.start);
    builder.addLive(id);
    builder.close();
  }
  return builder.finish();
}

/**
 * Ids in order of address. Sorts the keys as plain numbers, then each id looks up its place: a tenth of the time of
 * sorting ids with a comparison. Blocks at the same address, only in traces that contradict themselves, take adjacent
 * places.
 */
function byAddress({ allocations }: Replay, ids: Int32Array): Int32Array {
  const keys = new Float64Array(ids.length);
  for (let i = 0; i < ids.length; i++) keys[i] = allocations.address[ids[i]];
  const sorted = keys.slice().sort();
  const ordered = new Int32Array(ids.length).fill(-1);
  for (let i = 0; i < ids.length; i++) {
    let place = lowerBound(sorted, keys[i]);
    while (ordered[place] >= 0) place++;
    ordered[place] = ids[i];
  }
  return ordered;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Writes the two tables: opens a segment, adds its live blocks by address, and closes it. */
class StateBuilder {
  readonly #allocations: AllocationTable;
  readonly #event: EventIndex;
  readonly #segments: Mutable<RowOf<typeof SEGMENT_STATE_COLUMNS>>[] = [];
  readonly #blocks;
  #block = 0;
  #at = 0;

  /** @param blocks the most there can be: a free range before each live block and after a segment's last one */
  constructor(allocations: AllocationTable, event: EventIndex, blocks: number) {
    this.#allocations = allocations;
    this.#event = event;
    this.#blocks = createTable(BLOCK_STATE_COLUMNS, blocks);
  }

  /** @param rows the pieces in `places` that form it, lowest first; each has existed `since` an event */
  open(
    { address, sizeBytes }: Pick<MappedRange, 'address' | 'sizeBytes'>,
    kind: SegmentKind,
    places: Pick<SegmentSpanTable, 'isSmall' | 'pool' | 'stream' | 'stack'>,
    rows: readonly number[],
    since: Int32Array,
  ): void {
    const [first] = rows;
    const mapped = rows.map((row) => since[row]);
    this.#at = address;
    this.#segments.push({
      address,
      sizeBytes,
      kind,
      isSmall: places.isSmall[first],
      pool: places.pool[first],
      stream: places.stream[first],
      stack: places.stack[first],
      pieces: rows.length,
      firstMapped: lowest(mapped),
      lastMapped: highest(mapped),
      firstBlock: this.#block,
      liveBlocks: 0,
      allocatedBytes: 0,
      pendingBytes: 0,
      largestFreeBytes: 0,
      requestedBytes: 0,
      unknownBytes: 0,
    });
  }

  addLive(id: AllocationIndex): void {
    const { address, sizeBytes, requestedBytes, freeRequested } = this.#allocations;
    const segment = this.#segments[this.#segments.length - 1];
    const isPending = freeRequested[id] <= this.#event;
    this.#addFree(address[id]);
    this.#addBlock(sizeBytes[id], isPending ? BlockState.PendingFree : BlockState.Allocated, id);
    segment.liveBlocks++;
    segment[isPending ? 'pendingBytes' : 'allocatedBytes'] += sizeBytes[id];
    if (Number.isNaN(requestedBytes[id])) segment.unknownBytes += sizeBytes[id];
    else segment.requestedBytes += requestedBytes[id];
  }

  close(): void {
    const { address, sizeBytes } = this.#segments[this.#segments.length - 1];
    this.#addFree(address + sizeBytes);
  }

  finish(): AllocatorState {
    const segments = fromRows(SEGMENT_STATE_COLUMNS, this.#segments);
    segments.firstBlock[segments.length] = this.#block;
    const blocks = tableFrom(BLOCK_STATE_COLUMNS, this.#block, (name) =>
      this.#blocks[name as keyof typeof BLOCK_STATE_COLUMNS].slice(0, this.#block),
    );
    return { event: this.#event, segments, blocks };
  }

  #addFree(upTo: number): void {
    const bytes = upTo - this.#at;
    if (bytes <= 0) return;
    const segment = this.#segments[this.#segments.length - 1];
    segment.largestFreeBytes = Math.max(segment.largestFreeBytes, bytes);
    this.#addBlock(bytes, BlockState.Inactive, -1);
  }

  #addBlock(bytes: number, state: BlockState, allocation: AllocationIndex): void {
    const row = this.#block++;
    this.#blocks.address[row] = this.#at;
    this.#blocks.sizeBytes[row] = bytes;
    this.#blocks.state[row] = state;
    this.#blocks.allocation[row] = allocation;
    this.#at += bytes;
  }
}

type SpanIndex = number;

/** A segment, or an unbroken range of mapped pages. */
export interface MappedRange {
  readonly address: number;
  readonly sizeBytes: number;
  /** By address. More than one only if pages were mapped one after the other. */
  readonly spans: readonly SpanIndex[];
}

/**
 * Ranges that are reserved in the state after `event`, by address. PyTorch writes each unbroken range of an expandable
 * segment as one segment; a segment has one stream and one pool. Example: 20 MiB mapped at 0 and 20 MiB at 20 MiB are
 * one range of 40 MiB with two spans.
 */
export function mappedRangesAt(spans: SegmentSpanTable, event: EventIndex): MappedRange[] {
  const { length, start, end, address, sizeBytes } = spans;
  const rows: SpanIndex[] = [];
  for (let row = 0; row < length; row++) {
    if (start[row] <= event && end[row] > event) rows.push(row);
  }
  rows.sort((a, b) => address[a] - address[b]);
  const ranges: { address: number; sizeBytes: number; spans: SpanIndex[] }[] = [];
  for (const [i, row] of rows.entries()) {
    const last = ranges.at(-1);
    if (last !== undefined && isContinued(spans, rows[i - 1], row)) {
      last.sizeBytes += sizeBytes[row];
      last.spans.push(row);
    } else ranges.push({ address: address[row], sizeBytes: sizeBytes[row], spans: [row] });
  }
  return ranges;
}

/**
 * The event that mapped each span's memory. An unmap cuts a mapped piece, and the rests are separate spans that begin
 * at the unmap. Their memory is as old as the piece that was cut.
 */
export function mappedSince(spans: SegmentSpanTable, events: EventTable): Int32Array {
  const since = spans.start.slice();
  const cutAt = new Map<EventIndex, SpanIndex[]>();
  for (let row = 0; row < spans.length; row++) {
    const end = spans.end[row];
    if (spans.isExpandable[row] === 0 || events.action[end] !== TraceAction.SegmentUnmap) continue;
    addTo(cutAt, end, row);
  }
  // A rest comes after the piece it was cut from, so that piece is done already.
  for (let row = 0; row < spans.length; row++) {
    const address = spans.address[row];
    const whole = cutAt
      .get(spans.start[row])
      ?.find(
        (cut) =>
          spans.address[cut] <= address && address < spans.address[cut] + spans.sizeBytes[cut],
      );
    if (whole !== undefined) since[row] = since[whole];
  }
  return since;
}
