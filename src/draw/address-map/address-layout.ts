/**
 * Packs addresses together: addresses that were never reserved take no room.
 *
 *   addresses   ····▓▓▓▓▓▓······················▓▓▓▓▓▓▓▓▓▓·····▓▓▓······
 *   packed          ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓            slot 0, slot 1, slot 2
 *
 * A slot is a range of addresses without holes; each of its bytes was reserved at some time. Memory that reuses
 * addresses, wholly or in part, shares a slot, and an expandable segment grows inside its own. Offsets are bytes from
 * the start of the lowest slot, so a gap has its true height.
 */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import type { AddressSpace } from '../../base/address.ts';
import { upperBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { SegmentLives } from './segment-lives.ts';
import { SEGMENT_CLASSES, type SegmentClass } from './segment-timeline.ts';

export type AddressLayout = ReturnType<typeof addressLayout>;

interface Ranges {
  readonly length: number;
  readonly address: Float64Array;
  readonly sizeBytes: NarrowColumn;
}

export function addressLayout(segments: SegmentLives, allocations: AllocationTable) {
  const reserved = new Slots([segments]);
  const placed = reserved.place(allocations);
  const strays = placed.outside;
  const slots = strays.length === 0 ? reserved : new Slots([segments, strays]);
  return {
    /** One entry per slot, by address. */
    slotAddress: slots.address,
    slotBytes: slots.sizeBytes,
    /** Where the slot begins in the packed order: the bytes of the slots below. */
    slotOffset: slots.offset,
    totalBytes: slots.totalBytes,
    /** Where each segment life and each allocation begins in the packed order. */
    segmentOffset: slots.place(segments).offsets,
    allocationOffset: strays.length === 0 ? placed.offsets : slots.place(allocations).offsets,
    /** Number of allocations outside of every segment in the file, drawn in slots of their own. */
    strays: strays.length,
  };
}

/** The union of ranges, as disjoint ranges that don't touch. */
class Slots {
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  readonly offset: Float64Array;
  readonly totalBytes: number;

  constructor(tables: readonly Ranges[]) {
    const from: number[] = [];
    const to: number[] = [];
    for (const [address, end] of byAddress(tables)) {
      const last = to.length - 1;
      if (last >= 0 && address <= to[last]) {
        to[last] = Math.max(to[last], end);
      } else {
        from.push(address);
        to.push(end);
      }
    }
    this.address = Float64Array.from(from);
    this.sizeBytes = Float64Array.from(from, (address, slot) => to[slot] - address);
    this.offset = new Float64Array(from.length);
    let offset = 0;
    for (let slot = 0; slot < from.length; slot++) {
      this.offset[slot] = offset;
      offset += this.sizeBytes[slot];
    }
    this.totalBytes = offset;
  }

  /** Offsets of ranges. Returns separately those that don't fit in one slot. */
  place({ length, address, sizeBytes }: Ranges) {
    const offsets = new Float64Array(length);
    const rows: number[] = [];
    let slot = 0;
    for (let row = 0; row < length; row++) {
      const from = address[row];
      if (!this.#begins(slot, from)) slot = Math.max(0, upperBound(this.address, from) - 1);
      const into = from - this.address[slot];
      // A range that begins below the first slot is also outside.
      if (into >= 0 && into + sizeBytes[row] <= this.sizeBytes[slot]) {
        offsets[row] = this.offset[slot] + into;
      } else {
        rows.push(row);
      }
    }
    const outside: Ranges = {
      length: rows.length,
      address: Float64Array.from(rows, (row) => address[row]),
      sizeBytes: Float64Array.from(rows, (row) => sizeBytes[row]),
    };
    return { offsets, outside };
  }

  /** Neighbors in a table mostly lie in the same slot, which avoids the search. */
  #begins(slot: number, address: number): boolean {
    const next = slot + 1 < this.address.length ? this.address[slot + 1] : Infinity;
    return this.address[slot] <= address && address < next;
  }
}

function byAddress(tables: readonly Ranges[]): (readonly [from: number, to: number])[] {
  const ranges: [number, number][] = [];
  for (const { length, address, sizeBytes } of tables) {
    for (let row = 0; row < length; row++) {
      ranges.push([address[row], address[row] + sizeBytes[row]]);
    }
  }
  return ranges.sort((a, b) => a[0] - b[0]);
}

/** What the page shows of the map's slots. */
export type AddressSlots = ReturnType<typeof addressSlots>;
export type AddressSlot = AddressSlots['slots'][number];

/** @param classOf see SegmentTimeline */
export function addressSlots(
  { layout, segments }: { readonly layout: AddressLayout; readonly segments: SegmentLives },
  classOf: Uint8Array,
  addresses: AddressSpace,
) {
  const { slotAddress, slotBytes, slotOffset, segmentOffset } = layout;
  const counts = new Int32Array(slotAddress.length);
  /** The common kind of its segments; 'unknown' if the file has none there. */
  const kinds = Array.from(slotAddress, (): SegmentClass | 'several' | 'unknown' => 'unknown');
  for (let row = 0; row < segments.length; row++) {
    const slot = upperBound(slotOffset, segmentOffset[row]) - 1;
    const kind = SEGMENT_CLASSES[classOf[row]];
    kinds[slot] = counts[slot]++ === 0 || kinds[slot] === kind ? kind : 'several';
  }
  return {
    /** By address. */
    slots: kinds.map((kind, slot) => ({
      address: addresses.toBigInt(slotAddress[slot]),
      sizeBytes: slotBytes[slot],
      /** Where it begins in the packed order. */
      offset: slotOffset[slot],
      /** Number of segments and mapped pieces that were here, one after the other or side by side. */
      segments: counts[slot],
      kind,
    })),
    totalBytes: layout.totalBytes,
    /** Number of segments and mapped pieces over the whole trace. */
    segments: segments.length,
    /** Allocations outside of every segment in the file. */
    strays: layout.strays,
  };
}
