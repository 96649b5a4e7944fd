/** The segments of a state in the order in which they are shown: by pool and stream, then as asked. */

import {
  type AllocatorState,
  SegmentKind,
  type SegmentStateIndex,
  type SegmentStates,
} from '../../allocator/state/types.ts';
import type { DeviceTrace } from '../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../model/allocation-details.ts';

/** Within a group: from the lowest address up, from the largest down, from the most free bytes down. */
export type SegmentOrder = 'address' | 'size' | 'free';

/** Sums over segments. Free is what neither allocated nor pending blocks hold. */
export interface SpaceTotals {
  readonly segments: number;
  readonly liveBlocks: number;
  /** 0 for blocks that lie in no known segment. */
  readonly reservedBytes: number;
  readonly allocatedBytes: number;
  readonly pendingBytes: number;
  readonly freeBytes: number;
  readonly largestFreeBytes: number;
  /** Lost to rounding inside live blocks, of those whose request is known. */
  readonly roundingBytes: number;
  /** Bytes of live blocks whose requested size is unknown. */
  readonly unknownBytes: number;
}

export interface SegmentGroup {
  /** The same for the same pool and stream at every event. */
  readonly key: string;
  readonly kind: SegmentKind;
  readonly isSmall: boolean;
  /** '(1, 0)'; undefined for the default pool. */
  readonly privatePool: string | undefined;
  /** '0' or the handle in hex. */
  readonly stream: string;
  /** Its segments are the places first to first + totals.segments of the order. */
  readonly first: number;
  readonly totals: SpaceTotals;
}

export interface GroupedSegments {
  readonly groups: readonly SegmentGroup[];
  /** Place → row of the state's segments. */
  readonly order: Int32Array;
  readonly totals: SpaceTotals;
}

export function groupSegments(
  { segments }: AllocatorState,
  trace: DeviceTrace,
  by: SegmentOrder,
): GroupedSegments {
  const order = Int32Array.from({ length: segments.length }, (_, row) => row);
  const ranks = streamRanks(trace);
  const compare = (a: number, b: number) => compareGroups(segments, ranks, a, b);
  order.sort((a, b) => compare(a, b) || compareWithin(segments, a, b, by));
  const groups: SegmentGroup[] = [];
  for (let first = 0; first < order.length; ) {
    let end = first + 1;
    while (end < order.length && compare(order[first], order[end]) === 0) end++;
    groups.push(groupOf(segments, trace, order.subarray(first, end), first));
    first = end;
  }
  return { groups, order, totals: totalsOf(segments, order) };
}

/** Streams by handle, the default stream first: the file names them in no order. */
function streamRanks({ streams }: DeviceTrace): readonly number[] {
  const sorted = [...streams].sort((a, b) => (a.handle < b.handle ? -1 : 1));
  return streams.map((stream) => sorted.indexOf(stream));
}

/** Default pool before private ones, large before small; blocks without a segment last. */
function compareGroups(s: SegmentStates, ranks: readonly number[], a: number, b: number): number {
  const isNone = (row: number) => Number(s.kind[row] === SegmentKind.None);
  return (
    isNone(a) - isNone(b) ||
    s.pool[a] - s.pool[b] ||
    s.isSmall[a] - s.isSmall[b] ||
    s.kind[a] - s.kind[b] ||
    ranks[s.stream[a]] - ranks[s.stream[b]]
  );
}

function compareWithin(s: SegmentStates, a: number, b: number, by: SegmentOrder): number {
  const byAddress = s.address[a] - s.address[b];
  if (by === 'size') return s.sizeBytes[b] - s.sizeBytes[a] || byAddress;
  if (by === 'free') return freeBytes(s, b) - freeBytes(s, a) || byAddress;
  return byAddress;
}

function freeBytes(s: SegmentStates, row: SegmentStateIndex): number {
  return s.sizeBytes[row] - s.allocatedBytes[row] - s.pendingBytes[row];
}

function groupOf(
  segments: SegmentStates,
  trace: DeviceTrace,
  rows: Int32Array,
  first: number,
): SegmentGroup {
  const row = rows[0];
  const privatePool = privatePoolText(trace.pools[segments.pool[row]]);
  const stream = streamText(trace.streams[segments.stream[row]]);
  const kind = segmentKind(segments, row);
  const isSmall = segments.isSmall[row] === 1;
  const key = [kind, isSmall ? 'small' : 'large', privatePool ?? 'default', stream].join(' ');
  return { key, kind, isSmall, privatePool, stream, first, totals: totalsOf(segments, rows) };
}

export function segmentKind({ kind }: SegmentStates, row: SegmentStateIndex): SegmentKind {
  if (kind[row] === SegmentKind.Native) return SegmentKind.Native;
  return kind[row] === SegmentKind.Expandable ? SegmentKind.Expandable : SegmentKind.None;
}

function totalsOf(s: SegmentStates, rows: Int32Array): SpaceTotals {
  let [liveBlocks, reservedBytes, allocatedBytes, pendingBytes] = [0, 0, 0, 0];
  let [free, largestFreeBytes, roundingBytes, unknownBytes] = [0, 0, 0, 0];
  for (const row of rows) {
    const live = s.allocatedBytes[row] + s.pendingBytes[row];
    liveBlocks += s.liveBlocks[row];
    if (s.kind[row] !== SegmentKind.None) reservedBytes += s.sizeBytes[row];
    allocatedBytes += s.allocatedBytes[row];
    pendingBytes += s.pendingBytes[row];
    free += s.sizeBytes[row] - live;
    largestFreeBytes = Math.max(largestFreeBytes, s.largestFreeBytes[row]);
    roundingBytes += live - s.requestedBytes[row] - s.unknownBytes[row];
    unknownBytes += s.unknownBytes[row];
  }
  return {
    segments: rows.length,
    liveBlocks,
    reservedBytes,
    allocatedBytes,
    pendingBytes,
    freeBytes: free,
    largestFreeBytes,
    roundingBytes,
    unknownBytes,
  };
}
