import { colorTable, FADE_BIT } from './colors.ts';
import type { Palette, Viewport } from './types.ts';

/** Columns gone through together: their 16 read positions stay in the first cache. */
const BLOCK = 16;

/**
 * Turns column-major codes (row 0 at the bottom) into row-major colours (row 0 on top).
 * @param fadeRows for each column the row, counted from the bottom, from which on colours are faded
 */
export function writeRows(
  codes: Uint16Array,
  fadeRows: Int32Array,
  viewport: Viewport,
  palette: Palette,
  out: Uint32Array,
): void {
  const { width, height } = viewport;
  const colors = colorTable(palette);
  for (let from = 0; from < width; from += BLOCK) {
    const to = Math.min(width, from + BLOCK);
    for (let row = 0; row < height; row++) {
      let at = (height - 1 - row) * width + from;
      let code = from * height + row;
      for (let column = from; column < to; column++) {
        // Bit FADE_BIT is 1 where row >= fadeRows[column].
        const faded = ((fadeRows[column] - row - 1) >>> 31) << FADE_BIT;
        out[at++] = colors[codes[code] | faded];
        code += height;
      }
    }
  }
}
