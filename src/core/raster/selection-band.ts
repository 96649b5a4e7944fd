/**
 * The selected allocation, drawn over the finished pixels: a contrasting outline (black on light
 * backgrounds, white on dark ones) and a fill half way to it. Never thinner than one pixel.
 *
 * Per column it is a span of rows; where the spans of neighbouring columns differ, the part that
 * has no selected pixel beside it is outline too, so the band stays closed when it steps down.
 */
import { contrastColor, halfway } from './colors.ts';
import type { Palette, Viewport } from './types.ts';

export class SelectionBand {
  readonly #view: Viewport;
  /** Rows from the bottom, `to` excluded; equal where the allocation is not drawn. Not clipped. */
  readonly #from: Float64Array;
  readonly #to: Float64Array;

  constructor(view: Viewport) {
    this.#view = view;
    this.#from = new Float64Array(view.width);
    this.#to = new Float64Array(view.width);
  }

  /** The allocation lies from bottomBytes up in this column. */
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

  draw(pixels: Uint32Array, palette: Palette): void {
    const { width, height } = this.#view;
    const line = contrastColor(palette.background);
    for (let column = 0; column < width; column++) {
      const from = Math.max(0, this.#from[column]);
      const to = Math.min(height, this.#to[column]);
      for (let row = from; row < to; row++) {
        const at = (height - 1 - row) * width + column;
        pixels[at] = this.#isOutline(column, row) ? line : halfway(pixels[at], line);
      }
    }
  }

  #isOutline(column: number, row: number): boolean {
    if (row === this.#from[column] || row === this.#to[column] - 1) return true;
    return !this.#covers(column - 1, row) || !this.#covers(column + 1, row);
  }

  /** Beyond the frame's sides the band goes on. */
  #covers(column: number, row: number): boolean {
    if (column < 0 || column >= this.#view.width) return true;
    return row >= this.#from[column] && row < this.#to[column];
  }
}
