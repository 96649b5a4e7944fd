/**
 * The pixel rows of one column of the address map, kept up to date as blocks come and go.
 *
 * A row adds up how many of its bytes are reserved, and how many belong to blocks of each class.
 * Sums do not care for order, so a change costs the rows that it touches and nothing else. They are
 * exact: row edges are rounded to 1/256 byte, and sums of such numbers are below 2^45 bytes (35 TB).
 *
 *   row r      edge[r] ≤ bytes < edge[r + 1]
 *   held       reserved bytes of the row (or of its blocks, where the file tells of no segment)
 *   colour     of the class that more than half of the blocks' bytes have; else MIXED
 *              with no block: GAP where reserved, BARE where not
 *   edge       the top row of a block or native segment of 4 rows or more
 */
import {
  AWAITING_CODE,
  BARE_CODE,
  BARE_SHIFT,
  BARE_STEPS,
  EDGE_BIT,
  FREE_SHIFT,
  FREE_STEPS,
  GAP_CODE,
  MIXED_CODE,
} from './address-colors.ts';

const EDGE_MIN_ROWS = 4;
const GRAIN = 256;

/** A row's sums lie side by side: reserved, used by blocks, by class, by pending blocks, unused. */
const RESERVED = 0;
const USED = 1;
const FIRST_CLASS = 2;

export class AddressRows {
  readonly #height: number;
  readonly #stride: number;
  /** Column of pending blocks in the sums, and one that nobody reads. */
  readonly #pending: number;
  readonly #unused: number;
  readonly #rowsPerByte: number;
  readonly #edges: Float64Array;
  readonly #sums: Float64Array;
  /** Blocks and segments of 4 rows or more that end in the row. */
  readonly #tops: Int32Array;
  /** Column of the class that a row had most of when it was last looked at. */
  readonly #main: Uint8Array;
  readonly #isDirty: Uint8Array;
  /** Column of the class of the one block that covers the row, and whether one segment does; or 0. */
  readonly #blockRows: Uint8Array;
  readonly #reservedRows: Uint8Array;

  /** @param classes how many classes blocks have, pending ones not counted */
  constructor(height: number, y0: number, y1: number, classes: number) {
    this.#height = height;
    this.#pending = FIRST_CLASS + classes;
    this.#unused = this.#pending + 1;
    this.#stride = this.#unused + 1;
    this.#rowsPerByte = height / (y1 - y0);
    this.#edges = new Float64Array(height + 1);
    for (let row = 0; row <= height; row++) {
      this.#edges[row] = Math.round((y0 + (row * (y1 - y0)) / height) * GRAIN) / GRAIN;
    }
    this.#sums = new Float64Array(height * this.#stride);
    this.#tops = new Int32Array(height);
    this.#main = new Uint8Array(height).fill(FIRST_CLASS);
    this.#isDirty = new Uint8Array(height);
    this.#blockRows = new Uint8Array(height);
    this.#reservedRows = new Uint8Array(height);
  }

  /**
   * Memory from `offset` on is reserved (sign 1) or is not any more (-1). A piece of an expandable
   * segment has no edge: what is free in it goes on in the next piece.
   */
  addSegment(offset: number, bytes: number, isExpandable: boolean, sign: 1 | -1): void {
    const top = this.#add(offset, bytes, RESERVED, this.#unused, sign);
    if (!isExpandable) this.#addTop(top, sign);
  }

  /** A block comes (sign 1) or goes (-1). `blockClass` is `classes` for pending ones. */
  addBlock(offset: number, bytes: number, blockClass: number, sign: 1 | -1): void {
    this.#addTop(this.#add(offset, bytes, USED, FIRST_CLASS + blockClass, sign), sign);
  }

  /**
   * Writes the codes of the rows that changed since the last call to base, base + 1, …
   * One loop on local variables: half of what a frame costs is here, the other half in `#add`.
   */
  write(codes: Uint16Array, base: number): void {
    const isDirty = this.#isDirty;
    const tops = this.#tops;
    const blockRows = this.#blockRows;
    const reservedRows = this.#reservedRows;
    const sums = this.#sums;
    const edges = this.#edges;
    const stride = this.#stride;
    for (let row = 0; row < isDirty.length; row++) {
      if (isDirty[row] === 0) continue;
      isDirty[row] = 0;
      const edge = tops[row] > 0 ? EDGE_BIT : 0;
      if (blockRows[row] !== 0) {
        codes[base + row] = this.#codeOfClass(blockRows[row]) | edge;
        continue;
      }
      const used = sums[row * stride + USED];
      const bytes = edges[row + 1] - edges[row];
      const reserved = reservedRows[row] !== 0 ? bytes : sums[row * stride + RESERVED];
      const held = Math.max(used, reserved);
      if (held === 0) {
        codes[base + row] = BARE_CODE;
        continue;
      }
      const main = used === 0 ? GAP_CODE : this.#mainCode(row, used);
      const free = used === 0 ? 0 : freeEighths(held, used);
      codes[base + row] =
        main | (free << FREE_SHIFT) | (bareQuarters(bytes, held) << BARE_SHIFT) | edge;
    }
  }

  /**
   * What a frame costs is mostly here. Rows that the range covers wholly are filled, as nothing else
   * can lie there; the first and the last are added up. Gives the row of the top of a range of 4
   * rows or more; -1 for lower ones, and where the top is out of view.
   */
  #add(offset: number, bytes: number, one: number, other: number, sign: 1 | -1): number {
    const edges = this.#edges;
    const top = offset + bytes;
    const end = edges[this.#height];
    const to = Math.min(top, end);
    const from = Math.max(offset, edges[0]);
    if (!(to > from)) return -1;
    const first = this.#rowOf(from);
    const last = to === end ? this.#height - 1 : this.#rowOf(to);
    if (first === last) {
      this.#addPart(first, sign * (to - from), one, other);
    } else {
      this.#addPart(first, sign * (edges[first + 1] - from), one, other);
      this.#addPart(last, sign * (to - edges[last]), one, other);
      const owners = one === RESERVED ? this.#reservedRows : this.#blockRows;
      this.#setOwner(owners, sign > 0 ? other : 0, first + 1, last);
    }
    const rows = bytes * this.#rowsPerByte;
    if (rows < EDGE_MIN_ROWS - 0.5 || top > end) return -1;
    return top > edges[last] ? last : last - 1;
  }

  #addTop(row: number, sign: 1 | -1): void {
    if (row < 0) return;
    this.#tops[row] += sign;
    this.#isDirty[row] = 1;
  }

  /** Mostly a few rows: a call of `fill` would cost more than they do. */
  #setOwner(owners: Uint8Array, owner: number, from: number, to: number): void {
    const isDirty = this.#isDirty;
    for (let row = from; row < to; row++) {
      owners[row] = owner;
      isDirty[row] = 1;
    }
  }

  #addPart(row: number, bytes: number, one: number, other: number): void {
    const at = row * this.#stride;
    this.#sums[at + one] += bytes;
    this.#sums[at + other] += bytes;
    this.#isDirty[row] = 1;
  }

  /** Row that holds a byte inside of the column; rounding may be one off, the edges decide. */
  #rowOf(offset: number): number {
    const edges = this.#edges;
    let row = ((offset - edges[0]) * this.#rowsPerByte) | 0;
    if (row >= this.#height) row = this.#height - 1;
    while (edges[row] > offset) row--;
    while (edges[row + 1] <= offset) row++;
    return row;
  }

  /** The class that more than half of the blocks' bytes have: mostly the one it was before. */
  #mainCode(row: number, used: number): number {
    const sums = this.#sums;
    const at = row * this.#stride;
    let main = this.#main[row];
    if (2 * sums[at + main] <= used) {
      main = FIRST_CLASS;
      while (main <= this.#pending && 2 * sums[at + main] <= used) main++;
      if (main > this.#pending) return MIXED_CODE;
      this.#main[row] = main;
    }
    return this.#codeOfClass(main);
  }

  #codeOfClass(column: number): number {
    return column === this.#pending ? AWAITING_CODE : column - FIRST_CLASS;
  }
}

/** Both mostly are 0, and a division costs as much as all else about a row. */
function bareQuarters(bytes: number, held: number): number {
  return held >= bytes ? 0 : Math.floor((BARE_STEPS * (bytes - held)) / bytes);
}

function freeEighths(held: number, used: number): number {
  if (used === held) return 0;
  return Math.min(FREE_STEPS - 1, Math.ceil((FREE_STEPS * (held - used)) / held));
}
