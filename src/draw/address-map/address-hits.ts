/**
 * What is under a pixel of the address map, and what a segment contains. Computed from the tables, not from pixels, so
 * nothing is missed.
 */

import { lowerBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { describeHit, type HitResult } from '../../device/model/allocation-details.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { MaxEndPyramid } from '../timeline/max-end-pyramid.ts';
import type { AddressIndex } from './address-index.ts';
import { type ByteRange, eachGap, reservedRanges } from './free-memory.ts';
import type { Highlight } from './highlights.ts';
import { type SegmentLife, segmentFacts } from './segment-lives.ts';

/** At a state, between the offsets of a pixel's edges. Cost grows with the number of live allocations. */
export function addressHits(
  index: AddressIndex,
  state: EventIndex,
  bytesFrom: number,
  bytesTo: number,
) {
  const { timeline, segments: lives, layout } = index;
  const { sizeBytes } = timeline.allocations;
  const range: ByteRange = { from: bytesFrom, to: bytesTo };
  const { segmentOffset, allocationOffset } = layout;
  const rows = liveAt(index.segmentsMaxEnd, lowerBound(lives.start, state + 1), state);
  const under = piecesIn([range], rows, segmentOffset, lives.sizeBytes);
  // A gap may extend far beyond the pixel, so blocks count within the whole unbroken ranges under it.
  const ranges = reservedRanges(index, rows).filter((reserved) => overlap(reserved, range) > 0);
  const reach = { from: ranges[0]?.from ?? bytesFrom, to: ranges.at(-1)?.to ?? bytesTo };
  const live = liveAt(timeline.maxEnd, timeline.nextId(state), state);
  const blocks = piecesIn([reach, range], live, allocationOffset, sizeBytes);
  blocks.sort((a, b) => a.from - b.from);
  const hit = blocks.filter((block) => overlap(block, range) > 0);
  const gaps: ByteRange[] = [];
  const rowsOfBlocks = blocks.map(({ row }) => row);
  eachGap(index, ranges, rowsOfBlocks, (from, to) => {
    if (overlap({ from, to }, range) > 0) gaps.push({ from, to });
  });
  return {
    /** Live allocations that overlap the range, by address. */
    ids: hit.map(({ row }) => row),
    /** Sum of their whole blocks, not only the overlap. */
    totalBytes: hit.reduce((sum, { row }) => sum + sizeBytes[row], 0),
    /** The one that covers most of the range; -1 if none does. */
    main: mostOf(hit, range)?.row ?? -1,
    /** Segments and mapped pieces that overlap the range, by start. */
    segments: under.map(({ row }) => row),
    /** The one that covers most of the range; -1 if nothing is reserved. */
    segment: mostOf(under, range)?.row ?? -1,
    /** Bytes of the range that are reserved but unused. */
    freeBytes: gaps.reduce((sum, gap) => sum + overlap(gap, range), 0),
    /** The unbroken free range that covers most of the range, in full; undefined if there is none. */
    gap: mostOf(gaps, range),
  };
}

interface Piece extends ByteRange {
  readonly row: number;
}

/** Those that overlap one of the ranges. Only these become objects, because there may be 100,000 rows. */
function piecesIn(
  ranges: readonly ByteRange[],
  rows: readonly number[],
  offset: Float64Array,
  sizeBytes: NarrowColumn,
): Piece[] {
  const pieces: Piece[] = [];
  for (const row of rows) {
    const from = offset[row];
    const to = from + sizeBytes[row];
    if (ranges.some((range) => from < range.to && to > range.from)) pieces.push({ row, from, to });
  }
  return pieces;
}

/** Rows live at a state, among those that had started by then. */
function liveAt(maxEnd: MaxEndPyramid, started: number, state: EventIndex): number[] {
  const rows: number[] = [];
  for (const live of maxEnd.live(state, started)) rows.push(...live);
  return rows;
}

function overlap(a: ByteRange, b: ByteRange): number {
  return Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));
}

/** The piece that covers the most; the first of equals. */
function mostOf<T extends ByteRange>(pieces: readonly T[], range: ByteRange): T | undefined {
  let most: T | undefined;
  for (const piece of pieces) {
    if (most === undefined || overlap(piece, range) > overlap(most, range)) most = piece;
  }
  return most;
}

/** Under a pixel of the address map; offsets are bytes of the packed order. */
export type AddressHit = ReturnType<typeof addressHit>;

export function addressHit(
  context: DeviceModel,
  index: AddressIndex,
  state: EventIndex,
  range: ByteRange,
) {
  const hits = addressHits(index, state, range.from, range.to);
  const { main, segment, gap, freeBytes, segments } = hits;
  const mainBottomBytes = main < 0 ? 0 : index.layout.allocationOffset[main];
  const block: HitResult | undefined = describeHit(context, state, { ...hits, mainBottomBytes });
  return {
    block,
    gap,
    freeBytes,
    segment: segment < 0 ? undefined : segmentFacts(context, index.segments, segment),
    segments: segments.length,
  };
}

/** The place of the newest live block; undefined if there is none. */
export function newestBlock(
  { timeline, layout }: AddressIndex,
  state: EventIndex,
): ByteRange | undefined {
  const { end, sizeBytes } = timeline.allocations;
  let id = timeline.nextId(state) - 1;
  while (id >= 0 && end[id] <= state) id--;
  if (id < 0) return undefined;
  const from = layout.allocationOffset[id];
  return { from, to: from + sizeBytes[id] };
}

/** A segment and its contents at a state. */
export type SegmentUse = ReturnType<typeof segmentUse>;

export function segmentUse(
  context: DeviceModel,
  index: AddressIndex,
  segment: SegmentLife,
  state: EventIndex,
) {
  const { segments, layout } = index;
  const from = layout.segmentOffset[segment];
  const bytes = segments.sizeBytes[segment];
  const place: Highlight = {
    offset: from,
    bytes,
    from: segments.start[segment],
    to: segments.end[segment],
  };
  const facts = segmentFacts(context, segments, segment);
  if (state < place.from || state >= place.to) return { facts, place, use: undefined };
  const { ids, freeBytes, gap } = addressHits(index, state, from, from + bytes);
  const use = {
    blocks: ids.length,
    usedBytes: bytes - freeBytes,
    /** Largest unbroken free range in it; in an expandable segment it may continue in the next piece. */
    largestFreeBytes: gap === undefined ? 0 : gap.to - gap.from,
  };
  /** `place`: in the address map. `use`: undefined while it is not reserved. */
  return { facts, place, use };
}
