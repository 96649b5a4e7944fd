/** Orders a state's segments for display: by pool and stream, then by the chosen order. */

import {
  type AllocatorState,
  SegmentKind,
  type SegmentStateIndex,
  type SegmentStates,
} from '../../allocator/state/types.ts';
import type { DeviceTrace } from '../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../model/allocation-labels.ts';

/** Within a group: lowest address first, largest first, or most free bytes first. */
export type SegmentOrder = 'address' | 'size' | 'free';

export type SpaceTotals = ReturnType<typeof totalsOf>;

export type SegmentGroup = ReturnType<typeof groupOf>;

export interface GroupedSegments {
  readonly groups: readonly SegmentGroup[];
  /** Display position → row of the state's segments. */
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

/** Streams by handle, default stream first; the file lists them in no particular order. */
function streamRanks({ streams }: DeviceTrace): readonly number[] {
  const sorted = [...streams].sort((a, b) => (a.handle < b.handle ? -1 : 1));
  return streams.map((stream) => sorted.indexOf(stream));
}

/** Default pool before private pools, large before small; blocks without a known segment last. */
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

function groupOf(segments: SegmentStates, trace: DeviceTrace, rows: Int32Array, first: number) {
  const row = rows[0];
  const privatePool = privatePoolText(trace.pools[segments.pool[row]]);
  const stream = streamText(trace.streams[segments.stream[row]]);
  const kind = segmentKind(segments, row);
  const isSmall = segments.isSmall[row] === 1;
  return {
    /** Stable: the same pool and stream have the same key at every event. */
    key: [kind, isSmall ? 'small' : 'large', privatePool ?? 'default', stream].join(' '),
    kind,
    isSmall,
    /** '(1, 0)'; undefined for the default pool. */
    privatePool,
    /** '0' or the handle in hex. */
    stream,
    /** Its segments are at positions first to first + totals.segments - 1. */
    first,
    totals: totalsOf(segments, rows),
  };
}

export const segmentKind = ({ kind }: SegmentStates, row: SegmentStateIndex): SegmentKind =>
  kind[row] as SegmentKind;

function totalsOf(s: SegmentStates, rows: Int32Array) {
  const sum = (of: (row: SegmentStateIndex) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const allocatedBytes = sum((row) => s.allocatedBytes[row]);
  const pendingBytes = sum((row) => s.pendingBytes[row]);
  const live = allocatedBytes + pendingBytes;
  const unknownBytes = sum((row) => s.unknownBytes[row]);
  return {
    segments: rows.length,
    liveBlocks: sum((row) => s.liveBlocks[row]),
    /** 0 for blocks in no known segment. */
    reservedBytes: sum((row) => (s.kind[row] === SegmentKind.None ? 0 : s.sizeBytes[row])),
    allocatedBytes,
    pendingBytes,
    /** Bytes held by neither allocated nor pending blocks. */
    freeBytes: sum((row) => s.sizeBytes[row]) - live,
    largestFreeBytes: rows.reduce((most, row) => Math.max(most, s.largestFreeBytes[row]), 0),
    /** Lost to rounding in live blocks whose requested size is known. */
    roundingBytes: live - sum((row) => s.requestedBytes[row]) - unknownBytes,
    unknownBytes,
  };
}
