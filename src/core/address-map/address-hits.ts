/** What lies under a pixel of the address map, found anew from the tables: nothing is missed. */
import { lowerBound } from '../base/binary-search.ts';
import type { MaxEndPyramid } from '../raster/max-end-pyramid.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AddressIndex } from './address-index.ts';
import { type ByteRange, eachGap, reservedRanges } from './address-ranges.ts';
import type { SegmentLife } from './segment-lives.ts';

export interface AddressHits {
  /** Live allocations that overlap the range, by address. */
  readonly ids: readonly AllocationIndex[];
  /** Sum of their block bytes, whole blocks and not only the overlap. */
  readonly totalBytes: number;
  /** The one that covers most of the range; -1 when none does. */
  readonly main: AllocationIndex;
  /** Segments and mapped pieces that overlap the range, by start. */
  readonly segments: readonly SegmentLife[];
  /** The one that covers most of the range; -1 where nothing is reserved. */
  readonly segment: SegmentLife;
  /** Bytes of the range that are reserved and not used. */
  readonly freeBytes: number;
  /** The unbroken free range that covers most of the range, whole; undefined without any. */
  readonly gap: ByteRange | undefined;
}

/** At a state, between the offsets of a pixel's edges. Cost grows with what is live then. */
export function addressHits(
  index: AddressIndex,
  state: EventIndex,
  bytesFrom: number,
  bytesTo: number,
): AddressHits {
  const { timeline, segments: lives, layout } = index;
  const { sizeBytes } = timeline.allocations;
  const range: ByteRange = { from: bytesFrom, to: bytesTo };
  const { segmentOffset, allocationOffset } = layout;
  const rows = liveAt(index.segmentsMaxEnd, lowerBound(lives.start, state + 1), state);
  const under = piecesIn([range], rows, segmentOffset, lives.sizeBytes);
  // A gap may reach far beyond the pixel: blocks count as far as the unbroken ranges under it do.
  const ranges = reservedRanges(index, rows).filter((reserved) => overlap(reserved, range) > 0);
  const reach = { from: ranges[0]?.from ?? bytesFrom, to: ranges.at(-1)?.to ?? bytesTo };
  const live = liveAt(timeline.maxEnd, timeline.nextId(state), state);
  const blocks = piecesIn([reach, range], live, allocationOffset, sizeBytes);
  blocks.sort((a, b) => a.from - b.from);
  const hit = blocks.filter((block) => overlap(block, range) > 0);
  const gaps = gapsBetween(ranges, blocks).filter((gap) => overlap(gap, range) > 0);
  return {
    ids: hit.map(({ row }) => row),
    totalBytes: hit.reduce((sum, { row }) => sum + sizeBytes[row], 0),
    main: mostOf(hit, range)?.row ?? -1,
    segments: under.map(({ row }) => row),
    segment: mostOf(under, range)?.row ?? -1,
    freeBytes: gaps.reduce((sum, gap) => sum + overlap(gap, range), 0),
    gap: mostOf(gaps, range),
  };
}

interface Piece extends ByteRange {
  readonly row: number;
}

/** Those that overlap one of the ranges; only they become objects, there may be 100,000 rows. */
function piecesIn(
  ranges: readonly ByteRange[],
  rows: readonly number[],
  offset: Float64Array,
  sizeBytes: Float64Array,
): Piece[] {
  const pieces: Piece[] = [];
  for (const row of rows) {
    const from = offset[row];
    const to = from + sizeBytes[row];
    if (ranges.some((range) => from < range.to && to > range.from)) pieces.push({ row, from, to });
  }
  return pieces;
}

const ROWS_AT_ONCE = 1 << 14;
const scratch = new Int32Array(ROWS_AT_ONCE);

/** Rows that are live at a state, of those that had started by then. */
function liveAt(maxEnd: MaxEndPyramid, started: number, state: EventIndex): number[] {
  const rows: number[] = [];
  for (let from = 0; from < started; from += ROWS_AT_ONCE) {
    const count = maxEnd.collect(state, from, Math.min(started, from + ROWS_AT_ONCE), scratch);
    for (let i = 0; i < count; i++) rows.push(scratch[i]);
  }
  return rows;
}

function gapsBetween(ranges: readonly ByteRange[], blocks: readonly Piece[]): ByteRange[] {
  const gaps: ByteRange[] = [];
  const from = Float64Array.from(blocks, (block) => block.from);
  const to = Float64Array.from(blocks, (block) => block.to);
  eachGap(ranges, from, to, blocks.length, (low, high) => gaps.push({ from: low, to: high }));
  return gaps;
}

function overlap(a: ByteRange, b: ByteRange): number {
  return Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));
}

/** The first of those that cover most. */
function mostOf<T extends ByteRange>(pieces: readonly T[], range: ByteRange): T | undefined {
  let most: T | undefined;
  for (const piece of pieces) {
    if (most === undefined || overlap(piece, range) > overlap(most, range)) most = piece;
  }
  return most;
}
