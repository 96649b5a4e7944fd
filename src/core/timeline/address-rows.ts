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
 *   edge       the top row of a block or segment of 4 rows or more
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
/** In the place of a class. */
const RESERVED = -1;

export class AddressRows {
  readonly #height: number;
  /** Classes of blocks, and one more for those that are pending. */
  readonly #classes: number;
  readonly #rowsPerByte: number;
  readonly #edges: Float64Array;
  readonly #reserved: Float64Array;
  readonly #used: Float64Array;
  /** Bytes of class k in row r at r * classes + k. */
  readonly #byClass: Float64Array;
  /** Blocks and segments of 4 rows or more that end in the row. */
  readonly #tops: Int32Array;
  /** Class that a row had most of when it was last looked at. */
  readonly #mainClass: Uint8Array;
  readonly #dirty: Int32Array;
  readonly #isDirty: Uint8Array;
  #dirtyCount = 0;

  /** @param classes how many classes blocks have; pending ones are counted apart */
  constructor(height: number, y0: number, y1: number, classes: number) {
    this.#height = height;
    this.#classes = classes + 1;
    this.#rowsPerByte = height / (y1 - y0);
    this.#edges = new Float64Array(height + 1);
    for (let row = 0; row <= height; row++) {
      this.#edges[row] = Math.round((y0 + (row * (y1 - y0)) / height) * GRAIN) / GRAIN;
    }
    this.#reserved = new Float64Array(height);
    this.#used = new Float64Array(height);
    this.#byClass = new Float64Array(height * this.#classes);
    this.#tops = new Int32Array(height);
    this.#mainClass = new Uint8Array(height);
    this.#dirty = new Int32Array(height);
    this.#isDirty = new Uint8Array(height);
  }

  /** Memory from `offset` on is reserved (sign 1) or is not any more (-1). */
  addSegment(offset: number, bytes: number, sign: 1 | -1): void {
    this.#add(offset, bytes, RESERVED, sign);
  }

  /** A block comes (sign 1) or goes (-1). `blockClass` is `classes` for pending ones. */
  addBlock(offset: number, bytes: number, blockClass: number, sign: 1 | -1): void {
    this.#add(offset, bytes, blockClass, sign);
  }

  /** Writes the codes of the rows that changed since the last call to base, base + 1, … */
  write(codes: Uint16Array, base: number): void {
    for (let i = 0; i < this.#dirtyCount; i++) {
      const row = this.#dirty[i];
      this.#isDirty[row] = 0;
      codes[base + row] = this.#codeOf(row);
    }
    this.#dirtyCount = 0;
  }

  /** Adds a range's bytes row by row: what a frame costs is mostly here. */
  #add(offset: number, bytes: number, kind: number, sign: 1 | -1): void {
    const edges = this.#edges;
    const top = offset + bytes;
    const to = Math.min(top, edges[this.#height]);
    let low = Math.max(offset, edges[0]);
    if (!(to > low)) return;
    let row = this.#rowOf(low);
    for (; low < to; row++) {
      const high = Math.min(to, edges[row + 1]);
      const share = sign * (high - low);
      if (kind === RESERVED) {
        this.#reserved[row] += share;
      } else {
        this.#used[row] += share;
        this.#byClass[row * this.#classes + kind] += share;
      }
      if (this.#isDirty[row] === 0) {
        this.#isDirty[row] = 1;
        this.#dirty[this.#dirtyCount++] = row;
      }
      low = high;
    }
    const isHigh = Math.round(bytes * this.#rowsPerByte) >= EDGE_MIN_ROWS;
    if (isHigh && top <= edges[this.#height]) this.#tops[row - 1] += sign;
  }

  /** Row that holds a byte inside of the column; rounding may be one off, the edges decide. */
  #rowOf(offset: number): number {
    const edges = this.#edges;
    let row = Math.floor((offset - edges[0]) * this.#rowsPerByte);
    row = Math.max(0, Math.min(this.#height - 1, row));
    while (edges[row] > offset) row--;
    while (edges[row + 1] <= offset) row++;
    return row;
  }

  #codeOf(row: number): number {
    const used = this.#used[row];
    const held = Math.max(this.#reserved[row], used);
    if (held === 0) return BARE_CODE;
    const bytes = this.#edges[row + 1] - this.#edges[row];
    const bare = Math.max(0, Math.floor((BARE_STEPS * (bytes - held)) / bytes));
    const shade = (bare << BARE_SHIFT) | (this.#tops[row] > 0 ? EDGE_BIT : 0);
    if (used === 0) return GAP_CODE | shade;
    const free = Math.min(FREE_STEPS - 1, Math.ceil((FREE_STEPS * (held - used)) / held));
    return this.#blockCode(row, used) | (free << FREE_SHIFT) | shade;
  }

  /** The class that more than half of the blocks' bytes have: mostly the one it was before. */
  #blockCode(row: number, used: number): number {
    const byClass = this.#byClass;
    const pending = this.#classes - 1;
    const base = row * this.#classes;
    let main = this.#mainClass[row];
    if (2 * byClass[base + main] <= used) {
      main = 0;
      while (main <= pending && 2 * byClass[base + main] <= used) main++;
      if (main > pending) return MIXED_CODE;
      this.#mainClass[row] = main;
    }
    return main === pending ? AWAITING_CODE : main;
  }
}
