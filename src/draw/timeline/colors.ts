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
export const FADED = 1 << 9;
const CODES = 2 * FADED;

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
    table[code | FADED] = mix(color, palette.background, FADE_SHARE);
    table[code | EDGE_FLAG | FADED] = mix(edge, palette.background, FADE_SHARE);
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

/**
 * Turns columns of codes (row 0 at the bottom) into row-major colors (row 0 at the top).
 * @param slots column c's codes start at slots[c] * height, see column-cache.ts
 * @param fadesFrom column c is faded from row fadesFrom[c] up, counted from the bottom; nowhere if left out
 */
export function writeColumns(
  codes: Uint16Array,
  slots: Int32Array,
  { width, height }: Viewport,
  colors: Uint32Array,
  out: Uint32Array,
  fadesFrom: Int32Array = new Int32Array(width).fill(height),
): void {
  const inFours = width & ~3;
  for (let column = 0; column < inFours; column += 4)
    writeFour(codes, slots, column, width, height, colors, out, fadesFrom);
  for (let column = inFours; column < width; column++) {
    for (let row = 0; row < height; row++) {
      const fade = row < fadesFrom[column] ? 0 : FADED;
      out[(height - 1 - row) * width + column] = colors[codes[slots[column] * height + row] + fade];
    }
  }
}

/**
 * Four columns side by side: four reads in a row each, one write of 16 bytes. All from one table: with a table for
 * each column it takes twice as long.
 */
function writeFour(
  codes: Uint16Array,
  slots: Int32Array,
  column: number,
  width: number,
  height: number,
  colors: Uint32Array,
  out: Uint32Array,
  fadesFrom: Int32Array,
): void {
  const base0 = slots[column] * height;
  const base1 = slots[column + 1] * height;
  const base2 = slots[column + 2] * height;
  const base3 = slots[column + 3] * height;
  const fade0 = fadesFrom[column];
  const fade1 = fadesFrom[column + 1];
  const fade2 = fadesFrom[column + 2];
  const fade3 = fadesFrom[column + 3];
  let at = (height - 1) * width + column;
  for (let row = 0; row < height; row++, at -= width) {
    out[at] = colors[codes[base0 + row] + (row < fade0 ? 0 : FADED)];
    out[at + 1] = colors[codes[base1 + row] + (row < fade1 ? 0 : FADED)];
    out[at + 2] = colors[codes[base2 + row] + (row < fade2 ? 0 : FADED)];
    out[at + 3] = colors[codes[base3 + row] + (row < fade3 ? 0 : FADED)];
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
