/**
 * Draws a column of the address map the plain way, as an oracle: every pixel looks at every block and segment. It
 * knows only addresses, and of slots only where each one begins.
 */

import type { AllocationTable, SegmentSpanTable } from '../allocator/replay/types.ts';
import type { NarrowColumn } from '../base/table.ts';
import type { AddressLayout } from '../draw/address-map/address-layout.ts';
import type { Viewport } from '../draw/timeline/types.ts';

/** Where an address is in the packed order. */
export type OffsetOf = (address: number) => number;

/** Undefined if nothing was ever reserved there. */
export function offsetOfAddress(layout: AddressLayout, address: number): number | undefined {
  const slot = layout.slotAddress.findIndex(
    (from, i) => address >= from && address < from + layout.slotBytes[i],
  );
  return slot < 0 ? undefined : layout.slotOffset[slot] + address - layout.slotAddress[slot];
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

export interface NaiveMemory {
  readonly blocks: readonly Piece[];
  readonly segments: readonly Piece[];
}

export function naiveMemory(
  allocations: AllocationTable,
  segments: SegmentSpanTable,
  offsetOf: OffsetOf,
  classOf: Uint8Array,
  state: number,
): NaiveMemory {
  const blocks: Piece[] = [];
  for (let id = 0; id < allocations.length; id++) {
    if (allocations.start[id] > state || allocations.end[id] <= state) continue;
    const isStep = allocations.end[id] - allocations.freeRequested[id] === 1;
    const label = allocations.freeRequested[id] <= state && !isStep ? 'pending' : `${classOf[id]}`;
    blocks.push(pieceOf(allocations, id, offsetOf, label));
  }
  const reserved: Piece[] = [];
  for (let row = 0; row < segments.length; row++) {
    if (segments.start[row] > state || segments.end[row] <= state) continue;
    const label = segments.isExpandable[row] === 1 ? 'piece' : 'segment';
    reserved.push(pieceOf(segments, row, offsetOf, label));
  }
  return { blocks, segments: reserved };
}

/** 'bare', or the label or 'mixed' or 'gap', then the free eighths, the bare quarters and 'edge'. */
export function naiveAddressPixel(memory: NaiveMemory, view: Viewport, row: number): string {
  const rowBytes = (view.y1 - view.y0) / view.height;
  const low = view.y0 + row * rowBytes;
  const high = low + rowBytes;
  const inside = ({ from, to }: Piece) => Math.max(0, Math.min(to, high) - Math.max(from, low));
  const sum = (pieces: readonly Piece[]) =>
    pieces.reduce((total, piece) => total + inside(piece), 0);
  const used = sum(memory.blocks);
  const held = Math.max(used, sum(memory.segments));
  if (held === 0) return 'bare';
  const isTop = ({ from, to }: Piece) =>
    to > low && to <= high && Math.round((to - from) / rowBytes) >= 4;
  const native = memory.segments.filter(({ label }) => label === 'segment');
  const edge = [...memory.blocks, ...native].some(isTop) ? ' edge' : '';
  const bare = ` bare ${Math.max(0, Math.floor((4 * (rowBytes - held)) / rowBytes))}`;
  if (used === 0) return `gap${bare}${edge}`;
  const labels = new Set(memory.blocks.map(({ label }) => label));
  const main = [...labels].find(
    (label) => 2 * sum(memory.blocks.filter((block) => block.label === label)) > used,
  );
  const free = ` free ${Math.min(7, Math.ceil((8 * (held - used)) / held))}`;
  return `${main ?? 'mixed'}${free}${bare}${edge}`;
}

function pieceOf(
  table: { readonly address: Float64Array; readonly sizeBytes: NarrowColumn },
  row: number,
  offsetOf: OffsetOf,
  label: string,
): Piece {
  const from = offsetOf(table.address[row]);
  return { from, to: from + table.sizeBytes[row], label };
}
