/**
 * An outlined area over a finished picture, such as the selected allocation: in each column a span of rows, at least one.
 * Where the spans of neighboring columns differ, the part without a neighbor is outline too, so the outline stays closed
 * where it steps down. There is no line along the frame's sides, because the area may continue beyond them.
 */
import { halfway } from './colors.ts';
import type { Viewport } from './types.ts';

/** How far the inside goes to the outline's color. */
export type OutlineFill = 'half' | 'quarter' | 'none';

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

  draw(pixels: Uint32Array, color: number, fill: OutlineFill): void {
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
