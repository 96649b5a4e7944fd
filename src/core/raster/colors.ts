/**
 * From codes to colours. The raster works on codes of two bytes, so that copying and filling
 * columns moves half the memory, and edges and fading are a look-up:
 *
 *   bits 0-7  class 0 to 252, or one of the three below       bit 8  darker top row
 *   bit 9     faded: above the column's minimum (added while the rows are written out)
 */
import type { Palette } from './types.ts';

/** Allocations can have the classes 0 to MAX_CLASSES - 1. */
export const MAX_CLASSES = 253;
export const THIN_CODE = 253;
export const PENDING_CODE = 254;
export const BACKGROUND_CODE = 255;
export const EDGE_FLAG = 1 << 8;
export const FADE_BIT = 9;
const CODES = 1 << (FADE_BIT + 1);

/** How far the top row goes towards black, and faded colours towards the background. */
const EDGE_SHARE = 0.3;
const FADE_SHARE = 0.35;
/** What does not match a search: how far "thin" goes towards the background. */
const DIMMED_SHARE = 0.55;

/**
 * Colour of every code; classes beyond the palette begin again at its first colour.
 * Throws RangeError for a palette of no or more than 253 classes.
 */
export function colorTable(palette: Palette): Uint32Array {
  const classes = palette.classes.length;
  if (classes < 1 || classes > MAX_CLASSES) {
    throw new RangeError(`A palette has 1 to ${MAX_CLASSES} classes, not ${classes}`);
  }
  const table = new Uint32Array(CODES);
  for (let code = 0; code < EDGE_FLAG; code++) {
    const color = colorOf(code, palette);
    const edge = code === BACKGROUND_CODE ? color : mix(color, BLACK, EDGE_SHARE);
    table[code] = color;
    table[code | EDGE_FLAG] = edge;
    table[code | (1 << FADE_BIT)] = mix(color, palette.background, FADE_SHARE);
    table[code | EDGE_FLAG | (1 << FADE_BIT)] = mix(edge, palette.background, FADE_SHARE);
  }
  return table;
}

/** The palette with one class more, the last: what stays in sight without being meant. */
export function withDimmedClass<P extends Palette>(palette: P): P {
  const classes = new Uint32Array(palette.classes.length + 1);
  classes.set(palette.classes);
  classes[palette.classes.length] = mix(palette.thin, palette.background, DIMMED_SHARE);
  return { ...palette, classes };
}

const BLACK = 0xff000000;
const WHITE = 0xffffffff;

function colorOf(code: number, palette: Palette): number {
  if (code === BACKGROUND_CODE) return palette.background;
  if (code === PENDING_CODE) return palette.pending;
  if (code === THIN_CODE) return palette.thin;
  return palette.classes[code % palette.classes.length];
}

/** Colour that stands out from everything drawn on `background`: black on light, white on dark. */
export function contrastColor(background: number): number {
  const red = background & 0xff;
  const green = (background >>> 8) & 0xff;
  const blue = (background >>> 16) & 0xff;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 127 ? BLACK : WHITE;
}

/** `share` 0 gives `color`, 1 gives `other`; each channel by itself, alpha of `color`. */
export function mix(color: number, other: number, share: number): number {
  let mixed = color & 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const from = (color >>> shift) & 0xff;
    const to = (other >>> shift) & 0xff;
    mixed |= Math.round(from + (to - from) * share) << shift;
  }
  return mixed >>> 0;
}

/** Mean of two colours, channel by channel, rounded down; without a loop, for whole areas. */
export function halfway(color: number, other: number): number {
  return ((((color ^ other) & 0xfefefefe) >>> 1) + (color & other)) >>> 0;
}
