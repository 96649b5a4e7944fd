/** Ranges of the packed order of addresses, and what is free in them. */
import type { AddressIndex } from './address-index.ts';
import type { SegmentLife, SegmentLives } from './segment-lives.ts';

/** Bytes of the packed order, `to` excluded. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Segments as the allocator can use them, by address: a native segment is one range, pieces of an
 * expandable segment that follow each other are one as well. Free memory on both sides of a border
 * between two native segments never serves one request, even where their addresses touch.
 */
export function reservedRanges(
  { segments, layout }: AddressIndex,
  rows: readonly SegmentLife[],
): ByteRange[] {
  const { segmentOffset } = layout;
  const sorted = [...rows].sort((a, b) => segmentOffset[a] - segmentOffset[b]);
  const ranges: { from: number; to: number }[] = [];
  let before = -1;
  for (const row of sorted) {
    const from = segmentOffset[row];
    const to = from + segments.sizeBytes[row];
    const last = ranges.at(-1);
    if (last !== undefined && last.to === from && isContinued(segments, before, row)) last.to = to;
    else ranges.push({ from, to });
    before = row;
  }
  return ranges;
}

/** Slots are packed without room between them, so offsets can touch where addresses do not. */
function isContinued(lives: SegmentLives, low: SegmentLife, high: SegmentLife): boolean {
  return (
    lives.isExpandable[low] === 1 &&
    lives.isExpandable[high] === 1 &&
    lives.address[low] + lives.sizeBytes[low] === lives.address[high] &&
    lives.stream[low] === lives.stream[high] &&
    lives.pool[low] === lives.pool[high] &&
    lives.isSmall[low] === lives.isSmall[high]
  );
}

/** Calls `found` with what of the ranges no block covers. Blocks by offset; columns of from and to. */
export function eachGap(
  ranges: readonly ByteRange[],
  blockFrom: Float64Array,
  blockTo: Float64Array,
  blocks: number,
  found: (from: number, to: number) => void,
): void {
  let block = 0;
  for (const range of ranges) {
    let from = range.from;
    while (block < blocks && blockTo[block] <= from) block++;
    for (; block < blocks && blockFrom[block] < range.to; block++) {
      if (blockFrom[block] > from) found(from, blockFrom[block]);
      if (blockTo[block] > from) from = blockTo[block];
    }
    if (from < range.to) found(from, range.to);
  }
}
