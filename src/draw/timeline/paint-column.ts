/**
 * Paints the live stack into one pixel column, as codes (see colors.ts), row 0 at the bottom.
 *
 * Which allocation a pixel shows:
 * - the one at the pixel's center, if it covers half of the pixel or more;
 * - else the pixel is shared by slivers: their class, if they all have the same one;
 * - else "thin": several things are here that one pixel cannot show.
 * So runs of small blocks from one place keep their color, and neutral pixels mean "zoom in". An allocation of 4 rows
 * or more gets a darker top row, which separates neighbors of the same color.
 *
 * Heights are in half rows from y0: row r lies between 2 r and 2 r + 2, its center is 2 r + 1. One rounding up, `half =
 * ceil(height)`, gives both the row of a center and the row of an edge: rows below half >> 1 have their centers below
 * the height, and the row that it ends in is (half - 1) >> 1.
 */
import { BACKGROUND_CODE, EDGE_FLAG, THIN_CODE } from './colors.ts';
import { CHUNK_BITS, type LiveSetSweep, MIXED } from './live-set-sweep.ts';

const EDGE_MIN_ROWS = 4;
/** Half rows, more than 2 * EDGE_MIN_ROWS, so that an allocation clipped there still counts as tall. */
const OUTSIDE = 16;

export class ColumnPainter {
  readonly #sweep: LiveSetSweep;
  readonly #codes: Uint16Array;
  readonly #height: number;
  readonly #y0: number;
  readonly #halvesPerByte: number;
  /** Where the column begins in #codes, and the first row to write. */
  #base = 0;
  #fromRow = 0;
  /** The pixel being collected: its row, its class so far, and whether its owner is a sliver. */
  #row = -OUTSIDE;
  #rowClass = MIXED;
  #isOpen = false;

  /** Slot s has the entries s * height to (s + 1) * height of `codes`. */
  constructor(sweep: LiveSetSweep, codes: Uint16Array, height: number, y0: number, y1: number) {
    this.#sweep = sweep;
    this.#codes = codes;
    this.#height = height;
    this.#y0 = y0;
    this.#halvesPerByte = (2 * height) / (y1 - y0);
  }

  /** First row whose center is at or above `bytes`, clamped to 0 to height. */
  rowAt(bytes: number): number {
    const row = Math.floor(Math.ceil(this.#halves(bytes)) / 2);
    return Math.min(this.#height, Math.max(0, row));
  }

  /** Fills the slot of columns outside the trace. */
  clear(slot: number): void {
    const base = slot * this.#height;
    this.#codes.fill(BACKGROUND_CODE, base, base + this.#height);
  }

  /**
   * Paints the sweep's current state. Slot `before` must hold an earlier state of the sweep that is the same below
   * `unchangedBelow` bytes; those pixels are copied. -Infinity copies nothing.
   */
  paint(slot: number, before: number, unchangedBelow: number): void {
    const height = this.#height;
    const base = slot * height;
    const sameRows = Math.floor(this.#halves(unchangedBelow) / 2);
    this.#base = base;
    this.#fromRow = Math.min(height, Math.max(0, sameRows));
    if (this.#fromRow > 0) {
      this.#codes.copyWithin(base, before * height, before * height + this.#fromRow);
    }
    this.#codes.fill(BACKGROUND_CODE, base + this.#fromRow, base + this.rowAt(0));
    this.#paintChunks();
    const top = Math.max(this.#fromRow, this.rowAt(this.#sweep.totalBytes));
    this.#codes.fill(BACKGROUND_CODE, base + top, base + height);
  }

  #paintChunks(): void {
    const { chunkCount, chunks } = this.#sweep;
    const fromHalf = 2 * this.#fromRow;
    const endHalf = 2 * this.#height;
    this.#row = -OUTSIDE;
    this.#isOpen = false;
    let bottomBytes = 0;
    let bottom = this.#halves(0);
    for (let k = 0; k < chunkCount && bottom < endHalf; k++) {
      const topBytes = bottomBytes + chunks.bytes[k];
      const top = this.#halves(topBytes);
      if (top > fromHalf) {
        // Within one half row: it contains no pixel center or edge, so only its class counts.
        if (top <= Math.floor(bottom) + 1) this.#joinRow(bottom, chunks.paintClass[k]);
        else this.#paintItems(k, bottomBytes);
      }
      bottomBytes = topBytes;
      bottom = top;
    }
    this.#closeRow(this.#rowClass);
  }

  /** Bytes → half rows. Bytes are summed as integers first, so chunks do not change results. */
  #halves(bytes: number): number {
    return (bytes - this.#y0) * this.#halvesPerByte;
  }

  /** A chunk that begins at `bottom`, inside the current pixel or the next. */
  #joinRow(bottom: number, chunkClass: number): void {
    const row = Math.floor(bottom / 2);
    if (row !== this.#row) {
      this.#closeRow(this.#rowClass);
      this.#row = row;
      this.#rowClass = chunkClass;
    } else if (chunkClass !== this.#rowClass) {
      this.#rowClass = MIXED;
    }
  }

  /** Items in a chunk, bottom up. One long loop on local variables: nearly all of a frame's time is spent here. */
  #paintItems(k: number, chunkBottomBytes: number): void {
    const { chunks, items } = this.#sweep;
    const { bytes: itemBytes, paintClass: itemClass } = items;
    const y0 = this.#y0;
    const halvesPerByte = this.#halvesPerByte;
    // Heights are clipped slightly outside the column, so half rows stay small integers at any zoom.
    const limit = 2 * this.#height + OUTSIDE;
    let i = chunks.slot[k] << CHUNK_BITS;
    const to = i + chunks.count[k];
    let bytes = chunkBottomBytes;
    while (this.#halves(bytes + itemBytes[i]) <= 2 * this.#fromRow) bytes += itemBytes[i++];
    let bottom = Math.max(-OUTSIDE, this.#halves(bytes));
    let bottomHalf = Math.ceil(bottom) | 0;
    this.#joinRow(bottom, itemClass[i]);
    let rowClass = this.#rowClass;
    for (; i < to && bottom < limit; i++) {
      bytes += itemBytes[i];
      let top = (bytes - y0) * halvesPerByte;
      if (top > limit) top = limit;
      const topHalf = Math.ceil(top) | 0;
      const code = itemClass[i];
      if (bottom === bottomHalf && (bottomHalf & 1) === 0) {
        this.#closeRow(rowClass);
        this.#row = bottomHalf >> 1;
        rowClass = code;
      } else if (code !== rowClass) {
        rowClass = MIXED;
      }
      if (topHalf > bottomHalf) {
        this.#paintItem(bottom, top, bottomHalf, topHalf, code);
        const lastRow = (topHalf - 1) >> 1;
        if (lastRow > this.#row) {
          this.#closeRow(rowClass);
          this.#row = lastRow;
          rowClass = code;
        }
      }
      bottom = top;
      bottomHalf = topHalf;
    }
    this.#rowClass = rowClass;
  }

  /** One allocation that reaches a pixel's center or edge; the halves are bottom and top rounded up. */
  #paintItem(bottom: number, top: number, bottomHalf: number, topHalf: number, code: number): void {
    const firstRow = bottomHalf >> 1;
    const endRow = topHalf >> 1;
    const rows = endRow - firstRow;
    if (rows === 0) return;
    if (rows === 1 && top - bottom < 2) {
      const covered = Math.min(top, 2 * endRow) - Math.max(bottom, 2 * firstRow);
      if (covered < 1) {
        this.#isOpen = true;
        return;
      }
    }
    const codes = this.#codes;
    const from = Math.max(firstRow, this.#fromRow);
    const stop = this.#base + Math.min(endRow, this.#height);
    for (let at = this.#base + from; at < stop; at++) codes[at] = code;
    if (rows >= EDGE_MIN_ROWS && endRow <= this.#height && endRow > from) {
      codes[this.#base + endRow - 1] = code | EDGE_FLAG;
    }
  }

  /** Decides a pixel whose center belongs to a sliver, after all allocations that overlap it are known. */
  #closeRow(rowClass: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const row = this.#row;
    if (row < this.#fromRow || row >= this.#height) return;
    this.#codes[this.#base + row] = rowClass === MIXED ? THIN_CODE : rowClass;
  }
}
