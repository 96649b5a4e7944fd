/**
 * From codes to colors and pixels. The raster works on two-byte codes: copying and filling columns moves half the
 * memory, and edges and fading are lookups:
 *
 *   bits 0-7  class 0 to 252, or one of the three below       bit 8  darker top row
 *   bit 9     faded: above the column's minimum (added while the rows are written out)
 */
import type { Palette, Viewport } from './types.ts';

/** Allocation classes are 0 to MAX_CLASSES - 1. */
export const MAX_CLASSES = 253;
export const THIN_CODE = 253;
export const PENDING_CODE = 254;
export const BACKGROUND_CODE = 255;
export const EDGE_FLAG = 1 << 8;
export const FADE_BIT = 9;
const CODES = 1 << (FADE_BIT + 1);

/** How far the top row goes towards black, and faded colors towards the background. */
const EDGE_SHARE = 0.3;
const FADE_SHARE = 0.35;

/**
 * The color of every code; classes beyond the palette start again at its first color.
 * @throws RangeError for a palette with no classes or more than 253
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

const BLACK = 0xff000000;
const WHITE = 0xffffffff;

function colorOf(code: number, palette: Palette): number {
  if (code === BACKGROUND_CODE) return palette.background;
  if (code === PENDING_CODE) return palette.pending;
  if (code === THIN_CODE) return palette.thin;
  return palette.classes[code % palette.classes.length];
}

/** A color that stands out from everything drawn on `background`: black on light, white on dark. */
export function contrastColor(background: number): number {
  const red = background & 0xff;
  const green = (background >>> 8) & 0xff;
  const blue = (background >>> 16) & 0xff;
  return 0.299 * red + 0.587 * green + 0.114 * blue > 127 ? BLACK : WHITE;
}

/** `share` 0 gives `color`, 1 gives `other`; per channel, with the alpha of `color`. */
export function mix(color: number, other: number, share: number): number {
  let mixed = color & 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const from = (color >>> shift) & 0xff;
    const to = (other >>> shift) & 0xff;
    mixed |= Math.round(from + (to - from) * share) << shift;
  }
  return mixed >>> 0;
}

/** Mean of two colors per channel, rounded down; without a loop, for large areas. */
function halfway(color: number, other: number): number {
  return ((((color ^ other) & 0xfefefefe) >>> 1) + (color & other)) >>> 0;
}

/** Per-column color tables from a given row up, counted from the bottom. */
export interface Fading {
  readonly fromRows: Int32Array;
  readonly colors: Uint32Array;
}

/**
 * Turns columns of codes (row 0 at the bottom) into row-major colors (row 0 at the top).
 * @param slots column c's codes start at slots[c] * height, see column-cache.ts
 */
export function writeColumns(
  codes: Uint16Array,
  slots: Int32Array,
  { width, height }: Viewport,
  colors: Uint32Array,
  out: Uint32Array,
  fading?: Fading,
): void {
  const faded = fading?.colors ?? colors;
  const fadeOf = (column: number) => fading?.fromRows[column] ?? height;
  const tables = [colors, colors, colors, colors];
  const inFours = width & ~3;
  for (let column = 0; column < inFours; column += 4) {
    // Between the rows where columns begin to fade, each column's table stays the same.
    for (let from = 0, to = height; from < height; from = to, to = height) {
      for (let i = 0; i < 4; i++) {
        const fade = fadeOf(column + i);
        tables[i] = fade <= from ? faded : colors;
        if (fade > from && fade < to) to = fade;
      }
      writeFour(codes, slots, column, from, to, width, height, tables, out);
    }
  }
  for (let column = inFours; column < width; column++) {
    const fade = fadeOf(column);
    for (let row = 0; row < height; row++) {
      const table = row < fade ? colors : faded;
      out[(height - 1 - row) * width + column] = table[codes[slots[column] * height + row]];
    }
  }
}

/** Four columns side by side: four reads in a row each, one write of 16 bytes; 1.6 times as fast. */
function writeFour(
  codes: Uint16Array,
  slots: Int32Array,
  column: number,
  from: number,
  to: number,
  width: number,
  height: number,
  [colors0, colors1, colors2, colors3]: readonly Uint32Array[],
  out: Uint32Array,
): void {
  const base0 = slots[column] * height;
  const base1 = slots[column + 1] * height;
  const base2 = slots[column + 2] * height;
  const base3 = slots[column + 3] * height;
  let at = (height - 1 - from) * width + column;
  for (let row = from; row < to; row++, at -= width) {
    out[at] = colors0[codes[base0 + row]];
    out[at + 1] = colors1[codes[base1 + row]];
    out[at + 2] = colors2[codes[base2 + row]];
    out[at + 3] = colors3[codes[base3 + row]];
  }
}

/**
 * An outlined area over a finished picture, such as the selected allocation: in each column a span of rows, at least one.
 * Where the spans of neighboring columns differ, the part without a neighbor is outline too, so the outline stays closed
 * where it steps down. There is no line along the frame's sides, because the area may continue beyond them.
 */
export class Outline {
  readonly #view: Viewport;
  /** Rows from the bottom, `to` excluded; equal where there is nothing. Not clipped. */
  readonly #from: Float64Array;
  readonly #to: Float64Array;

  constructor(view: Viewport) {
    this.#view = view;
    this.#from = new Float64Array(view.width);
    this.#to = new Float64Array(view.width);
  }

  /** In this column the area starts at bottomBytes. */
  set(column: number, bottomBytes: number, sizeBytes: number): void {
    const { y0, y1, height } = this.#view;
    const rowsPerByte = height / (y1 - y0);
    const bottom = (bottomBytes - y0) * rowsPerByte;
    const top = (bottomBytes + sizeBytes - y0) * rowsPerByte;
    const from = Math.ceil(bottom - 0.5);
    const to = Math.ceil(top - 0.5);
    const isThin = from === to;
    this.#from[column] = isThin ? Math.floor((bottom + top) / 2) : from;
    this.#to[column] = isThin ? this.#from[column] + 1 : to;
  }

  /** `fill`: how far the inside goes to the outline's color. */
  draw(pixels: Uint32Array, color: number, fill: 'half' | 'quarter' | 'none'): void {
    const { width, height } = this.#view;
    for (let column = 0; column < width; column++) {
      const to = Math.min(height, this.#to[column]);
      for (let row = Math.max(0, this.#from[column]); row < to; row++) {
        const at = (height - 1 - row) * width + column;
        if (this.#isOutline(column, row)) pixels[at] = color;
        else if (fill === 'half') pixels[at] = halfway(pixels[at], color);
        else if (fill === 'quarter') pixels[at] = halfway(pixels[at], halfway(pixels[at], color));
      }
    }
  }

  #isOutline(column: number, row: number): boolean {
    if (row === this.#from[column] || row === this.#to[column] - 1) return true;
    return !this.#covers(column - 1, row) || !this.#covers(column + 1, row);
  }

  #covers(column: number, row: number): boolean {
    if (column < 0 || column >= this.#view.width) return true;
    return row >= this.#from[column] && row < this.#to[column];
  }
}
