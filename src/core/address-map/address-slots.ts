/** The slots of the address map in words: what was reserved there over time. */

import type { AddressSpace } from '../base/address.ts';
import { upperBound } from '../base/binary-search.ts';
import type { AddressIndex } from './address-index.ts';
import { SEGMENT_CLASSES, type SegmentClass } from './segment-index.ts';

export interface AddressSlot {
  readonly address: bigint;
  readonly sizeBytes: number;
  /** Where it begins in the packed order. */
  readonly offset: number;
  /** Segments and mapped pieces that were here, one after the other or side by side. */
  readonly segments: number;
  /** What all of them were; 'several' where they differ, 'unknown' where the file tells of none. */
  readonly kind: SegmentClass | 'several' | 'unknown';
}

export interface AddressSlots {
  /** By address. */
  readonly slots: readonly AddressSlot[];
  readonly totalBytes: number;
  /** Segments and mapped pieces over the whole trace. */
  readonly segments: number;
  /** Allocations outside of every segment that the file tells of. */
  readonly strays: number;
}

/** @param classOf see classesOfSegments */
export function addressSlots(
  { layout, segments }: AddressIndex,
  classOf: Uint8Array,
  addresses: AddressSpace,
): AddressSlots {
  const { slotAddress, slotBytes, slotOffset, segmentOffset } = layout;
  const counts = new Int32Array(slotAddress.length);
  const kinds: AddressSlot['kind'][] = Array.from(slotAddress, () => 'unknown');
  for (let row = 0; row < segments.length; row++) {
    const slot = upperBound(slotOffset, segmentOffset[row]) - 1;
    const kind = SEGMENT_CLASSES[classOf[row]];
    kinds[slot] = counts[slot]++ === 0 || kinds[slot] === kind ? kind : 'several';
  }
  return {
    slots: kinds.map((kind, slot) => ({
      address: addresses.toBigInt(slotAddress[slot]),
      sizeBytes: slotBytes[slot],
      offset: slotOffset[slot],
      segments: counts[slot],
      kind,
    })),
    totalBytes: layout.totalBytes,
    segments: segments.length,
    strays: layout.strays,
  };
}
