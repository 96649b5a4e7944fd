/**
 * Segments as bars of pixels: the block and the used share at each pixel. The message to the page grows with the bar's
 * width, not with the number of blocks.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { AllocatorState, SegmentStateIndex } from '../../allocator/state/types.ts';
import { BlockState } from '../../format/snapshot/tables.ts';
import { describeHit, type HitResult } from '../model/allocation-details.ts';
import type { DeviceModel } from '../model/device-model.ts';

/** `width` entries per segment, in the requested order. */
export interface SegmentBars {
  readonly width: number;
  /** The live block that covers most of the pixel; matching blocks win over others. -1 for none. */
  readonly allocation: Int32Array;
  /** Share of the pixel that live blocks cover, 0 to 255; at least 1 where there is any live block. */
  readonly used: Uint8Array;
  /** 1 where the shown block waits for its free to complete. */
  readonly isPending: Uint8Array;
  /** 1 where the shown block matches the search; all 1 without a search. */
  readonly isMatch: Uint8Array;
  /** Color class of the shown block; 0 for none. */
  readonly classOf: Uint8Array;
}

/** One byte per allocation. */
export interface BarLook {
  /** 1 for search matches; undefined without a search. */
  readonly matches: Uint8Array | undefined;
  readonly classOf: Uint8Array;
}

/**
 * @param rows segments to draw, in drawing order
 * @param width pixels per bar
 */
export function segmentBars(
  { segments, blocks }: AllocatorState,
  rows: Int32Array,
  width: number,
  { matches, classOf }: BarLook,
): SegmentBars {
  const pixels = rows.length * width;
  const bars: SegmentBars = {
    width,
    allocation: new Int32Array(pixels).fill(-1),
    used: new Uint8Array(pixels),
    isPending: new Uint8Array(pixels),
    isMatch: new Uint8Array(pixels),
    classOf: new Uint8Array(pixels),
  };
  // Share of each pixel covered by all live blocks, and by the shown block.
  const cover = new Float64Array(pixels);
  const best = new Float64Array(pixels);
  for (const [i, row] of rows.entries()) {
    const from = i * width;
    const start = segments.address[row];
    const perByte = width / segments.sizeBytes[row];
    for (let b = segments.firstBlock[row]; b < segments.firstBlock[row + 1]; b++) {
      const id = blocks.allocation[b];
      if (id < 0) continue;
      const isMatch = matches?.[id] !== 0;
      const x0 = (blocks.address[b] - start) * perByte;
      const x1 = x0 + blocks.sizeBytes[b] * perByte;
      // A zero-byte block at the very end belongs to the last pixel.
      const first = Math.min(Math.floor(x0), width - 1);
      for (let x = first; x < width && (x < x1 || x === first); x++) {
        const share = Math.min(x + 1, x1) - Math.max(x, x0);
        const at = from + x;
        cover[at] += share;
        const wasMatch = bars.isMatch[at] === 1;
        const isBetter = isMatch === wasMatch ? share > best[at] : isMatch;
        if (bars.allocation[at] >= 0 && !isBetter) continue;
        best[at] = share;
        bars.allocation[at] = id;
        bars.isPending[at] = Number(blocks.state[b] === BlockState.PendingFree);
        bars.isMatch[at] = Number(isMatch);
      }
    }
  }
  for (const [at, id] of bars.allocation.entries()) {
    if (id < 0) continue;
    bars.classOf[at] = classOf[id];
    bars.used[at] = Math.max(1, Math.round(255 * Math.min(1, cover[at])));
  }
  return bars;
}

/** What a part of a segment contains. */
export type SegmentHit =
  /** Live blocks, and the one that covers most of the part. */
  | { readonly kind: 'blocks'; readonly hit: HitResult }
  /** Only this free range, all or part of it. */
  | { readonly kind: 'free'; readonly addressHex: string; readonly sizeBytes: number };

/**
 * @param from, to shares of the segment, 0 to 1, as for one pixel of its bar
 * @returns undefined for a part outside the segment
 */
export function segmentHit(
  context: DeviceModel,
  state: AllocatorState,
  row: SegmentStateIndex,
  from: number,
  to: number,
): SegmentHit | undefined {
  const { segments, blocks } = state;
  const start = segments.address[row];
  const [bytesFrom, bytesTo] = [from * segments.sizeBytes[row], to * segments.sizeBytes[row]];
  const { sizeBytes: blockBytes } = context.replay.allocations;
  const ids: AllocationIndex[] = [];
  let [totalBytes, main, most, free] = [0, -1, 0, -1];
  for (let b = segments.firstBlock[row]; b < segments.firstBlock[row + 1]; b++) {
    const at = blocks.address[b] - start;
    const overlap = Math.min(at + blocks.sizeBytes[b], bytesTo) - Math.max(at, bytesFrom);
    if (overlap <= 0) continue;
    const id = blocks.allocation[b];
    if (id < 0) {
      free = b;
      continue;
    }
    ids.push(id);
    totalBytes += blockBytes[id];
    if (overlap > most) [main, most] = [id, overlap];
  }
  const hit = describeHit(context, state.event, { ids, totalBytes, main, mainBottomBytes: 0 });
  if (hit !== undefined) return { kind: 'blocks', hit };
  if (free < 0) return undefined;
  const addressHex = context.snapshot.addresses.toHex(blocks.address[free]);
  return { kind: 'free', addressHex, sizeBytes: blocks.sizeBytes[free] };
}
