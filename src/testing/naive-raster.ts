/**
 * Draws a frame the plain way, as an oracle: no index, no sweep, no chunks. Every column looks at every event it
 * covers and every allocation, every pixel at every live allocation. Shares nothing with the raster but its
 * definitions.
 */

import type { Replay } from '../allocator/replay/types.ts';
import {
  BACKGROUND_CODE,
  colorTable,
  EDGE_FLAG,
  FADED,
  PENDING_CODE,
  THIN_CODE,
} from '../draw/timeline/colors.ts';
import type { Palette, Viewport } from '../draw/timeline/types.ts';

const NAIVE_BACKGROUND = 'background';
const NAIVE_THIN = 'thin';
const NAIVE_PENDING = 'pending';

/** 'background', 'thin', 'pending' or a class, then ' edge' and ' faded' where they apply. */
export type NaivePixel = string;

export interface NaiveColumn {
  readonly state: number;
  readonly maxBytes: number;
  /** Row 0 at the bottom. */
  readonly pixels: readonly NaivePixel[];
}

interface Band {
  readonly bottom: number;
  readonly top: number;
  readonly label: string;
}

/** The live stack at a state, bottom first. */
export function naiveBands(replay: Replay, state: number, classOf: Uint8Array): Band[] {
  const { length, start, end, freeRequested, sizeBytes } = replay.allocations;
  const bands: Band[] = [];
  let bottom = 0;
  for (let id = 0; id < length; id++) {
    if (start[id] > state || end[id] <= state) continue;
    const isStep = end[id] - freeRequested[id] === 1;
    const label = freeRequested[id] <= state && !isStep ? NAIVE_PENDING : `${classOf[id]}`;
    bands.push({ bottom, top: bottom + sizeBytes[id], label });
    bottom += sizeBytes[id];
  }
  return bands;
}

/** Draws the column that covers the states in `covered`; they are consecutive, in order. */
export function naiveColumn(
  replay: Replay,
  view: Viewport,
  classOf: Uint8Array,
  covered: readonly number[],
): NaiveColumn {
  const empty = new Array<string>(view.height).fill(NAIVE_BACKGROUND);
  if (covered.length === 0) return { state: -1, maxBytes: NaN, pixels: empty };
  const totals = covered.map((state) => naiveBands(replay, state, classOf).at(-1)?.top ?? 0);
  const maxBytes = Math.max(...totals);
  const minBytes = Math.min(...totals);
  const state = covered[totals.indexOf(maxBytes)];
  return { state, maxBytes, pixels: naivePixels(replay, view, classOf, state, minBytes) };
}

/** One state's pixels, row 0 at the bottom; those above `minBytes` are faded, unless all is below. */
export function naivePixels(
  replay: Replay,
  view: Viewport,
  classOf: Uint8Array,
  state: number,
  minBytes: number,
): NaivePixel[] {
  const bands = naiveBands(replay, state, classOf);
  const rowBytes = (view.y1 - view.y0) / view.height;
  return Array.from({ length: view.height }, (_, row) => {
    const center = view.y0 + (row + 0.5) * rowBytes;
    const pixel = naivePixel(bands, center, rowBytes);
    return pixel !== NAIVE_BACKGROUND && center >= minBytes ? `${pixel} faded` : pixel;
  });
}

function naivePixel(bands: readonly Band[], center: number, rowBytes: number): NaivePixel {
  const low = center - rowBytes / 2;
  const high = center + rowBytes / 2;
  const owner = bands.find((band) => band.bottom <= center && center < band.top);
  if (owner === undefined) return NAIVE_BACKGROUND;
  const covered = Math.min(owner.top, high) - Math.max(owner.bottom, low);
  if (covered >= rowBytes / 2) {
    const isTopRow = owner.top <= center + rowBytes;
    return isTopRow && rowsOwned(owner, low, rowBytes) >= 4 ? `${owner.label} edge` : owner.label;
  }
  const labels = new Set<string>();
  for (const { bottom, top, label } of bands) {
    if (top > bottom && top > low && bottom < high) labels.add(label);
  }
  return labels.size === 1 ? owner.label : NAIVE_THIN;
}

/** Number of pixel centers in a layer, counted by walking from a pixel's lower edge. */
function rowsOwned(band: Band, low: number, rowBytes: number): number {
  let rows = 0;
  const holds = (center: number): boolean => band.bottom <= center && center < band.top;
  for (let center = low + rowBytes / 2; holds(center); center -= rowBytes) rows++;
  for (let center = low + rowBytes * 1.5; holds(center); center += rowBytes) rows++;
  return rows;
}

/** Twelve distinct colors, so that every code in a test has its own. */
export const TEST_PALETTE: Palette = {
  classes: Uint32Array.from(
    { length: 12 },
    (_, i) => (0xff000000 | (0x203a51 + i * 0x0e1b07)) >>> 0,
  ),
  background: 0xffffffff,
  pending: 0xff10d0f0,
  thin: 0xff909090,
};

/** Color to label, the inverse of the palette's table, so that pixels can be compared with the oracle's. */
export function pixelLabel(palette: Palette): Map<number, NaivePixel> {
  const table = colorTable(palette);
  const labels = new Map<number, NaivePixel>();
  const names: [number, string][] = [
    [THIN_CODE, NAIVE_THIN],
    [PENDING_CODE, NAIVE_PENDING],
    ...Array.from(palette.classes, (_, i): [number, string] => [i, `${i}`]),
  ];
  for (const [code, name] of names) {
    labels.set(table[code], name);
    labels.set(table[code | EDGE_FLAG], `${name} edge`);
    labels.set(table[code | FADED], `${name} faded`);
    labels.set(table[code | EDGE_FLAG | FADED], `${name} edge faded`);
  }
  labels.set(table[BACKGROUND_CODE], NAIVE_BACKGROUND);
  return labels;
}
