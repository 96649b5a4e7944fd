/**
 * Paints the live stack into one pixel column, as codes (see colors.ts), row 0 at the bottom.
 *
 * Which allocation a pixel shows:
 * - the one at the pixel's centre, if it covers half of the pixel or more;
 * - else, so when the pixel is shared by slivers: their class, if they all have the same one;
 * - else "thin": several things are here that one pixel cannot show.
 * So runs of small blocks from one place keep their colour, and neutral pixels say "zoom in".
 * An allocation of 4 rows or more gets a darker top row: neighbours of one colour stay apart.
 *
 * All heights are in rows from y0 ("level"): row r spans levels r to r + 1, its centre is r + 0.5.
 */

import { BACKGROUND_CODE, EDGE_FLAG, THIN_CODE } from './colors.ts';
import { CHUNK_BITS, type LiveSweep, MIXED } from './live-sweep.ts';

const EDGE_MIN_ROWS = 4;

export class ColumnPainter {
  readonly #sweep: LiveSweep;
  readonly #codes: Uint16Array;
  readonly #height: number;
  readonly #y0: number;
  readonly #rowsPerByte: number;
  /** Where the column begins in #codes, and the first row to write. */
  #base = 0;
  #fromRow = 0;
  /** The pixel that is being collected: its row, the class so far, and whether its owner is a sliver. */
  #row = -1;
  #rowClass = MIXED;
  #isOpen = false;

  /** `codes` is column-major: column c has the entries c * height to (c + 1) * height. */
  constructor(sweep: LiveSweep, codes: Uint16Array, height: number, y0: number, y1: number) {
    this.#sweep = sweep;
    this.#codes = codes;
    this.#height = height;
    this.#y0 = y0;
    this.#rowsPerByte = height / (y1 - y0);
  }

  /** First row whose centre lies at or above `bytes`, within 0 to height. */
  rowAt(bytes: number): number {
    const row = Math.ceil(this.#level(bytes) - 0.5);
    return Math.min(this.#height, Math.max(0, row));
  }

  /** Fills a column that lies outside the trace. */
  clear(column: number): void {
    const base = column * this.#height;
    this.#codes.fill(BACKGROUND_CODE, base, base + this.#height);
  }

  /**
   * Paints the sweep's present state. The column to the left must hold an earlier state of the sweep
   * that is the same below `unchangedBelow` bytes: those pixels are copied. -Infinity copies nothing.
   */
  paint(column: number, unchangedBelow: number): void {
    const height = this.#height;
    const base = column * height;
    const sameRows = Math.floor(this.#level(unchangedBelow));
    this.#base = base;
    this.#fromRow = Math.min(height, Math.max(0, sameRows));
    if (this.#fromRow > 0) {
      this.#codes.copyWithin(base, base - height, base - height + this.#fromRow);
    }
    this.#codes.fill(BACKGROUND_CODE, base + this.#fromRow, base + this.rowAt(0));
    this.#paintChunks();
    const top = Math.max(this.#fromRow, this.rowAt(this.#sweep.totalBytes));
    this.#codes.fill(BACKGROUND_CODE, base + top, base + height);
  }

  /** Copies the column to the left: the same state. */
  repeat(column: number): void {
    const base = column * this.#height;
    this.#codes.copyWithin(base, base - this.#height, base);
  }

  #paintChunks(): void {
    const { chunkCount, bytes, chunkClass } = this.#sweep;
    this.#row = -1;
    this.#isOpen = false;
    let bottomBytes = 0;
    let bottom = this.#level(0);
    for (let k = 0; k < chunkCount && bottom < this.#height; k++) {
      const topBytes = bottomBytes + bytes[k];
      const top = this.#level(topBytes);
      if (top > this.#fromRow) {
        const row = Math.floor(bottom);
        if (top <= row + 1 && Math.ceil(bottom - 0.5) === Math.ceil(top - 0.5)) {
          this.#joinRow(row, chunkClass[k]);
        } else {
          this.#paintItems(k, bottomBytes);
        }
      }
      bottomBytes = topBytes;
      bottom = top;
    }
    this.#closeRow();
  }

  /** From bytes to rows. Bytes are added up as integers first, so chunks do not change the result. */
  #level(bytes: number): number {
    return (bytes - this.#y0) * this.#rowsPerByte;
  }

  /** A whole chunk inside one pixel that is not at the pixel's centre: only its class counts. */
  #joinRow(row: number, itemClass: number): void {
    if (row !== this.#row) {
      this.#closeRow();
      this.#row = row;
      this.#rowClass = itemClass;
    } else if (itemClass !== this.#rowClass) {
      this.#rowClass = MIXED;
    }
  }

  #paintItems(k: number, chunkBottomBytes: number): void {
    const { itemBytes, itemClass, slots, counts } = this.#sweep;
    const y0 = this.#y0;
    const rowsPerByte = this.#rowsPerByte;
    const from = slots[k] << CHUNK_BITS;
    const to = from + counts[k];
    let bytes = chunkBottomBytes;
    let bottom = this.#level(bytes);
    let firstRow = Math.ceil(bottom - 0.5);
    for (let i = from; i < to && bottom < this.#height; i++) {
      bytes += itemBytes[i];
      const top = (bytes - y0) * rowsPerByte;
      const endRow = Math.ceil(top - 0.5);
      if (top > this.#fromRow && top > bottom) {
        this.#paintItem(bottom, top, firstRow, endRow, itemClass[i]);
      }
      bottom = top;
      firstRow = endRow;
    }
  }

  /** One allocation from level `bottom` to `top`, owning the centres of firstRow to endRow - 1. */
  #paintItem(
    bottom: number,
    top: number,
    firstRow: number,
    endRow: number,
    itemClass: number,
  ): void {
    this.#joinRow(Math.floor(bottom), itemClass);
    if (endRow > firstRow) {
      const covered = Math.min(top, firstRow + 1) - Math.max(bottom, firstRow);
      if (covered >= 0.5 || endRow - firstRow > 1 || top - bottom >= 1) {
        this.#fillRows(firstRow, endRow, itemClass);
      } else {
        this.#isOpen = true;
      }
    }
    const lastRow = Math.ceil(top) - 1;
    if (lastRow > this.#row) {
      this.#closeRow();
      this.#row = lastRow;
      this.#rowClass = itemClass;
    }
  }

  #fillRows(firstRow: number, endRow: number, code: number): void {
    const codes = this.#codes;
    const from = Math.max(firstRow, this.#fromRow);
    const to = Math.min(endRow, this.#height);
    const stop = this.#base + to;
    for (let at = this.#base + from; at < stop; at++) codes[at] = code;
    if (endRow - firstRow >= EDGE_MIN_ROWS && endRow <= this.#height && endRow > from) {
      codes[this.#base + endRow - 1] = code | EDGE_FLAG;
    }
  }

  /** Decides the pixel whose centre belongs to a sliver, now that all that overlap it are known. */
  #closeRow(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const row = this.#row;
    if (row < this.#fromRow || row >= this.#height) return;
    this.#codes[this.#base + row] = this.#rowClass === MIXED ? THIN_CODE : this.#rowClass;
  }
}
