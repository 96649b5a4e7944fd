/**
 * Codes and colors of the address map. A pixel covers many bytes, and its code describes them:
 *
 *   bits 0-7   a class 0 to 251, or one of the four below
 *   bits 8-10  how much of what is reserved is free, in eighths rounded up: any free byte shows
 *   bits 11-12 how much of the pixel is not reserved, in quarters rounded down
 *   bit 13     darker: the top row of a block, or of a segment
 */

import { mix } from '../timeline/colors.ts';
import type { Palette } from '../timeline/types.ts';
import type { HighlightColors } from './highlights.ts';

/** Allocation classes are 0 to MAX_ADDRESS_CLASSES - 1. */
const MAX_ADDRESS_CLASSES = 252;
/** Blocks of several classes, none with more than half of their bytes. */
export const MIXED_CODE = 252;
/** Blocks whose free was requested but not completed. */
export const AWAITING_CODE = 253;
/** Reserved, without blocks. */
export const GAP_CODE = 254;
/** Not reserved. */
export const BARE_CODE = 255;

export const FREE_SHIFT = 8;
export const FREE_STEPS = 8;
export const BARE_SHIFT = 11;
export const BARE_STEPS = 4;
export const EDGE_BIT = 1 << 13;
const CODES = 1 << 14;

/** How far an edge goes towards black, or towards white on a dark gap, so that it is visible on both. */
const EDGE_SHARE = 0.3;

export interface AddressPalette extends Palette {
  readonly gap: number;
  /** Between segments. */
  readonly separator: number;
  /** Around what a finding refers to. */
  readonly highlight?: HighlightColors;
}

/**
 * The color of every code.
 * @throws RangeError for a palette with no classes or more than 252
 */
export function addressColorTable(palette: AddressPalette): Uint32Array {
  const { length } = palette.classes;
  if (length < 1 || length > MAX_ADDRESS_CLASSES) {
    throw new RangeError(`A palette has 1 to ${MAX_ADDRESS_CLASSES} classes, not ${length}`);
  }
  const table = new Uint32Array(CODES);
  const colors: [code: number, color: number][] = [
    [MIXED_CODE, palette.thin],
    [AWAITING_CODE, palette.pending],
    [GAP_CODE, palette.gap],
    ...Array.from(palette.classes, (color, code): [number, number] => [code, color]),
  ];
  for (const [code, color] of colors) fillShades(table, code, color, palette);
  table[BARE_CODE] = palette.background;
  return table;
}

function fillShades(table: Uint32Array, code: number, color: number, palette: AddressPalette) {
  for (let free = 0; free < FREE_STEPS; free++) {
    const held = mix(color, palette.gap, free / FREE_STEPS);
    for (let bare = 0; bare < BARE_STEPS; bare++) {
      const shade = mix(held, palette.background, bare / BARE_STEPS);
      const at = code | (free << FREE_SHIFT) | (bare << BARE_SHIFT);
      table[at] = shade;
      table[at | EDGE_BIT] = code === GAP_CODE ? palette.separator : mix(shade, BLACK, EDGE_SHARE);
    }
  }
}

const BLACK = 0xff000000;
