import type { Viewport } from './types.ts';

/** Turns column-major codes (row 0 at the bottom) into row-major colours (row 0 on top). */
export function writeAddressPixels(
  codes: Uint16Array,
  { width, height }: Viewport,
  colors: Uint32Array,
  out: Uint32Array,
): void {
  const inFours = width & ~3;
  for (let column = 0; column < inFours; column += 4) {
    writeFour(codes, column, width, height, colors, out);
  }
  for (let column = inFours; column < width; column++) {
    for (let row = 0; row < height; row++) {
      out[(height - 1 - row) * width + column] = colors[codes[column * height + row]];
    }
  }
}

/** Four columns side by side: as in write-rows.ts, one write of 16 bytes a row. */
function writeFour(
  codes: Uint16Array,
  column: number,
  width: number,
  height: number,
  colors: Uint32Array,
  out: Uint32Array,
): void {
  let i = column * height;
  let at = (height - 1) * width + column;
  for (let row = 0; row < height; row++, i++, at -= width) {
    out[at] = colors[codes[i]];
    out[at + 1] = colors[codes[i + height]];
    out[at + 2] = colors[codes[i + 2 * height]];
    out[at + 3] = colors[codes[i + 3 * height]];
  }
}
