import {
  BACKGROUND_CODE,
  colorTable,
  EDGE_FLAG,
  FADE_BIT,
  PENDING_CODE,
  THIN_CODE,
} from '../core/raster/colors.ts';
import type { Palette } from '../core/raster/types.ts';
import { NAIVE_BACKGROUND, NAIVE_PENDING, NAIVE_THIN, type NaivePixel } from './naive-raster.ts';

/** Twelve well-told-apart colours, so that every code of a test has a colour of its own. */
export const TEST_PALETTE: Palette = {
  classes: Uint32Array.from(
    { length: 12 },
    (_, i) => (0xff000000 | (0x203a51 + i * 0x0e1b07)) >>> 0,
  ),
  background: 0xffffffff,
  pending: 0xff10d0f0,
  thin: 0xff909090,
};

/** Colour to word, the inverse of the palette's table: pixels can be compared with the oracle's. */
export function pixelLabel(palette: Palette): Map<number, NaivePixel> {
  const table = colorTable(palette);
  const words = new Map<number, NaivePixel>();
  const names: [number, string][] = [
    [THIN_CODE, NAIVE_THIN],
    [PENDING_CODE, NAIVE_PENDING],
    ...Array.from(palette.classes, (_, i): [number, string] => [i, `${i}`]),
  ];
  for (const [code, name] of names) {
    words.set(table[code], name);
    words.set(table[code | EDGE_FLAG], `${name} edge`);
    words.set(table[code | (1 << FADE_BIT)], `${name} faded`);
    words.set(table[code | EDGE_FLAG | (1 << FADE_BIT)], `${name} edge faded`);
  }
  words.set(table[BACKGROUND_CODE], NAIVE_BACKGROUND);
  return words;
}
