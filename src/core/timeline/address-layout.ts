/**
 * Addresses packed together: what was never reserved takes no room.
 *
 *   addresses   ····▓▓▓▓▓▓······················▓▓▓▓▓▓▓▓▓▓·····▓▓▓······
 *   packed          ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓            slot 0, slot 1, slot 2
 *
 * A slot is a range of addresses without a hole, each byte of which was reserved at some time. What
 * reuses addresses, wholly or in part, lies in the same slot; an expandable segment grows inside
 * its own. Offsets are bytes from the lowest slot's first byte, so a gap has its true height.
 */
import { upperBound } from '../base/binary-search.ts';
import type { AllocationIndex, AllocationTable } from '../replay/types.ts';
import type { SegmentLives } from './segment-lives.ts';

export interface AddressLayout {
  /** One entry a slot, by address. */
  readonly slotAddress: Float64Array;
  readonly slotBytes: Float64Array;
  /** Bytes of the slots below: where a slot begins in the packed order. */
  readonly slotOffset: Float64Array;
  readonly totalBytes: number;
  /** Where each segment life and each allocation begins in the packed order. */
  readonly segmentOffset: Float64Array;
  readonly allocationOffset: Float64Array;
  /** Allocations outside of every segment that the file tells of: drawn in slots of their own. */
  readonly strays: number;
}

interface Ranges {
  readonly length: number;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
}

export function addressLayout(segments: SegmentLives, allocations: AllocationTable): AddressLayout {
  const reserved = new Slots([segments]);
  const strays = outside(reserved, allocations);
  const slots = strays.length === 0 ? reserved : new Slots([segments, strays]);
  return {
    slotAddress: slots.address,
    slotBytes: slots.sizeBytes,
    slotOffset: slots.offset,
    totalBytes: slots.totalBytes,
    segmentOffset: slots.offsetsOf(segments),
    allocationOffset: slots.offsetsOf(allocations),
    strays: strays.length,
  };
}

/** Address of an offset in the packed order; undefined outside of it. */
export function addressAtOffset(layout: AddressLayout, offset: number): number | undefined {
  if (!(offset >= 0) || offset >= layout.totalBytes) return undefined;
  const slot = upperBound(layout.slotOffset, offset) - 1;
  return layout.slotAddress[slot] + Math.floor(offset) - layout.slotOffset[slot];
}

/** Offset of an address in the packed order; undefined where nothing was ever reserved. */
export function offsetOfAddress(layout: AddressLayout, address: number): number | undefined {
  const slot = upperBound(layout.slotAddress, address) - 1;
  if (slot < 0) return undefined;
  const into = address - layout.slotAddress[slot];
  return into < layout.slotBytes[slot] ? layout.slotOffset[slot] + into : undefined;
}

/** The union of ranges, as ranges that neither overlap nor touch. */
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

  /** Slot that a whole range lies in; -1 when none holds it. `near` is tried first. */
  slotOf(address: number, sizeBytes: number, near: number): number {
    const slot = this.#begins(near, address) ? near : upperBound(this.address, address) - 1;
    const isInside = slot >= 0 && address + sizeBytes <= this.address[slot] + this.sizeBytes[slot];
    return isInside ? slot : -1;
  }

  /** All of these ranges lie in slots. */
  offsetsOf({ length, address, sizeBytes }: Ranges): Float64Array {
    const offsets = new Float64Array(length);
    let slot = 0;
    for (let row = 0; row < length; row++) {
      slot = this.slotOf(address[row], sizeBytes[row], slot);
      offsets[row] = this.offset[slot] + (address[row] - this.address[slot]);
    }
    return offsets;
  }

  #begins(slot: number, address: number): boolean {
    const next = slot + 1 < this.address.length ? this.address[slot + 1] : Infinity;
    return slot >= 0 && this.address[slot] <= address && address < next;
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

function outside(slots: Slots, { length, address, sizeBytes }: AllocationTable): Ranges {
  const rows: AllocationIndex[] = [];
  let near = 0;
  for (let id = 0; id < length; id++) {
    const slot = slots.slotOf(address[id], sizeBytes[id], near);
    if (slot < 0) rows.push(id);
    else near = slot;
  }
  return {
    length: rows.length,
    address: Float64Array.from(rows, (id) => address[id]),
    sizeBytes: Float64Array.from(rows, (id) => sizeBytes[id]),
  };
}
