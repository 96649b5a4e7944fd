import type { Viewport } from './types.ts';

/** Pixels in a row of the square that is turned at once: both sides of it stay in the cache. */
const TILE = 16;

/** Turns column-major codes (row 0 at the bottom) into row-major colours (row 0 on top). */
export function writeAddressPixels(
  codes: Uint16Array,
  { width, height }: Viewport,
  colors: Uint32Array,
  out: Uint32Array,
): void {
  for (let left = 0; left < width; left += TILE) {
    const right = Math.min(width, left + TILE);
    for (let row = 0; row < height; row++) {
      const at = (height - 1 - row) * width;
      for (let column = left; column < right; column++) {
        out[at + column] = colors[codes[column * height + row]];
      }
    }
  }
}
