import type { DeviceContext } from '../device/device-context.ts';
import { describeHit } from '../device/hit.ts';
import type { HitResult } from '../device/types.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { AllocatorState, SegmentStateIndex } from './types.ts';

/** What lies in a part of a segment. */
export type SegmentHit =
  /** Live blocks: how many, and the one that covers most of the part. */
  | { readonly kind: 'blocks'; readonly hit: HitResult }
  /** Nothing but this free range, of which the part is all or some. */
  | { readonly kind: 'free'; readonly addressHex: string; readonly sizeBytes: number };

/**
 * @param from, to shares of the segment, 0 to 1: those of a pixel of its bar
 * @returns undefined for a part outside of the segment
 */
export function segmentHit(
  context: DeviceContext,
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
