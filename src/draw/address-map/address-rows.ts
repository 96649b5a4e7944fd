/**
 * The pixel rows of one column of the address map, updated as blocks come and go.
 *
 * A row sums its reserved bytes, and its block bytes by class. Sums do not depend on order, so a change costs only the
 * rows it touches. They are exact: row edges are rounded to 1/256 byte, and sums of such numbers stay below 2^45 bytes
 * (35 TB).
 *
 *   row r      edge[r] ≤ bytes < edge[r + 1]
 *   held       reserved bytes of the row (or of its blocks, where the file has no segment)
 *   color      the class with more than half of the blocks' bytes; else MIXED
 *              with no block: GAP where reserved, BARE where not
 *   edge       the top row of a block or native segment of 4 rows or more
 *
 * Codes and colors of the address map. A pixel covers many bytes, and its code describes them:
 *
 *   bits 0-7   a class 0 to 251, or one of the four below
 *   bits 8-10  how much of what is reserved is free, in eighths rounded up: any free byte shows
 *   bits 11-12 how much of the pixel is not reserved, in quarters rounded down
 *   bit 13     darker: the top row of a block, or of a segment
 */

import { mix } from '../timeline/colors.ts';
import type { Palette, Viewport } from '../timeline/types.ts';
import type { AddressIndex, Places } from './address-index.ts';
import type { HighlightColors } from './highlights.ts';

/** Allocation classes are 0 to MAX_ADDRESS_CLASSES - 1. */
const MAX_ADDRESS_CLASSES = 252;
/** Blocks of several classes, none with more than half of their bytes. */
export const MIXED_CODE = 252;
/** Blocks whose free was requested but not completed. */
export const AWAITING_CODE = 253;
/** Reserved, without blocks. */
export const GAP_CODE = 254;
/** Not reserved. */
export const BARE_CODE = 255;

export const FREE_SHIFT = 8;
const FREE_STEPS = 8;
export const BARE_SHIFT = 11;
const BARE_STEPS = 4;
export const EDGE_BIT = 1 << 13;
const CODES = 1 << 14;

/** How far an edge goes towards black, or towards white on a dark gap, so that it is visible on both. */
const EDGE_SHARE = 0.3;

export interface AddressPalette extends Palette {
  readonly gap: number;
  /** Between segments. */
  readonly separator: number;
  /** What does not match a search. */
  readonly dim: number;
  /** Around what a finding refers to. */
  readonly highlight?: HighlightColors;
}

/**
 * The color of every code.
 * @throws RangeError for a palette with no classes or more than 252
 */
export function addressColorTable(palette: AddressPalette): Uint32Array {
  const { length } = palette.classes;
  if (length < 1 || length > MAX_ADDRESS_CLASSES) {
    throw new RangeError(`A palette has 1 to ${MAX_ADDRESS_CLASSES} classes, not ${length}`);
  }
  const table = new Uint32Array(CODES);
  const colors: [code: number, color: number][] = [
    [MIXED_CODE, palette.thin],
    [AWAITING_CODE, palette.pending],
    [GAP_CODE, palette.gap],
    ...Array.from(palette.classes, (color, code): [number, number] => [code, color]),
  ];
  for (const [code, color] of colors) fillShades(table, code, color, palette);
  table[BARE_CODE] = palette.background;
  return table;
}

function fillShades(table: Uint32Array, code: number, color: number, palette: AddressPalette) {
  for (let free = 0; free < FREE_STEPS; free++) {
    const held = mix(color, palette.gap, free / FREE_STEPS);
    for (let bare = 0; bare < BARE_STEPS; bare++) {
      const shade = mix(held, palette.background, bare / BARE_STEPS);
      const at = code | (free << FREE_SHIFT) | (bare << BARE_SHIFT);
      table[at] = shade;
      table[at | EDGE_BIT] = code === GAP_CODE ? palette.separator : mix(shade, BLACK, EDGE_SHARE);
    }
  }
}

const BLACK = 0xff000000;

const EDGE_MIN_ROWS = 4;
const GRAIN = 256;

/** Columns of the sums by kind: see `#sums`. A row that no single range covers has the owner 0. */
const FIRST_CLASS = 1;

export class AddressRows {
  readonly #blocks: Places;
  readonly #segments: Places;
  readonly #height: number;
  readonly #stride: number;
  /** Column of pending blocks in the sums. */
  readonly #pending: number;
  readonly #rowsPerByte: number;
  readonly #edges: Float64Array;
  readonly #reserved: Float64Array;
  readonly #used: Float64Array;
  /** A row's bytes by class, side by side: an unused entry, the classes, pending blocks. */
  readonly #sums: Float64Array;
  /** Number of blocks and segments of 4 rows or more that end in the row. */
  readonly #tops: Int32Array;
  /** Column of the class with the most bytes when the row was last examined. */
  readonly #main: Uint8Array;
  readonly #isDirty: Uint8Array;
  /** The same bytes, read four rows at once: most rows of a column are unchanged. */
  readonly #areDirty: Uint32Array;
  /** Column of the class of the one block that covers the row, and whether one segment does; or 0. */
  readonly #blockRows: Uint8Array;
  readonly #reservedRows: Uint8Array;

  /** @param classes number of block classes, excluding pending */
  constructor(
    { blockPlaces, segmentPlaces }: Pick<AddressIndex, 'blockPlaces' | 'segmentPlaces'>,
    { height, y0, y1 }: Pick<Viewport, 'height' | 'y0' | 'y1'>,
    classes: number,
  ) {
    this.#blocks = blockPlaces;
    this.#segments = segmentPlaces;
    this.#height = height;
    this.#pending = FIRST_CLASS + classes;
    this.#stride = this.#pending + 1;
    this.#rowsPerByte = height / (y1 - y0);
    this.#edges = new Float64Array(height + 1);
    for (let row = 0; row <= height; row++) {
      this.#edges[row] = Math.round((y0 + (row * (y1 - y0)) / height) * GRAIN) / GRAIN;
    }
    this.#reserved = new Float64Array(height);
    this.#used = new Float64Array(height);
    this.#sums = new Float64Array(height * this.#stride);
    this.#tops = new Int32Array(height);
    this.#main = new Uint8Array(height).fill(FIRST_CLASS);
    this.#areDirty = new Uint32Array(Math.ceil(height / 4));
    this.#isDirty = new Uint8Array(this.#areDirty.buffer);
    this.#blockRows = new Uint8Array(height);
    this.#reservedRows = new Uint8Array(height);
  }

  /**
   * Marks a segment's place as reserved (sign 1) or not (-1). A piece of an expandable segment has no edge, because its
   * free memory continues in the next piece.
   */
  addSegment(place: number, isExpandable: number, sign: 1 | -1): void {
    const top = this.#add(this.#segments, place, this.#reserved, this.#reservedRows, 0, sign);
    if (isExpandable === 0) this.#addTop(top, sign);
  }

  /** A block arrives at its place (sign 1) or leaves (-1). `blockClass` is `classes` for pending blocks. */
  addBlock(place: number, blockClass: number, sign: 1 | -1): void {
    const kind = FIRST_CLASS + blockClass;
    this.#addTop(this.#add(this.#blocks, place, this.#used, this.#blockRows, kind, sign), sign);
  }

  /** Writes the codes of the rows that changed since the last call to base, base + 1, … */
  write(codes: Uint16Array, base: number): void {
    const areDirty = this.#areDirty;
    const isDirty = this.#isDirty;
    for (let four = 0; four < areDirty.length; four++) {
      if (areDirty[four] === 0) continue;
      const row = 4 * four;
      for (let i = row; i < row + 4; i++) if (isDirty[i] !== 0) codes[base + i] = this.#codeOf(i);
      areDirty[four] = 0;
    }
  }

  #codeOf(row: number): number {
    const edge = this.#tops[row] > 0 ? EDGE_BIT : 0;
    const owner = this.#blockRows[row];
    if (owner !== 0) return this.#codeOfClass(owner) | edge;
    const used = this.#used[row];
    const bytes = this.#edges[row + 1] - this.#edges[row];
    const reserved = this.#reservedRows[row] !== 0 ? bytes : this.#reserved[row];
    const held = Math.max(used, reserved);
    if (held === 0) return BARE_CODE;
    const main = used === 0 ? GAP_CODE : this.#mainCode(row, used);
    const free = used === 0 ? 0 : freeEighths(held, used);
    return main | (free << FREE_SHIFT) | (bareQuarters(bytes, held) << BARE_SHIFT) | edge;
  }

  /**
   * Most of a frame's time is spent here. Rows that the range covers fully are filled, because nothing else can be
   * there; the first and last are summed, in `total` and by kind. Returns the top row of a range of 4 rows or more; -1
   * for lower ranges, and if the top is out of view.
   */
  #add(
    places: Places,
    place: number,
    total: Float64Array,
    owners: Uint8Array,
    kind: number,
    sign: 1 | -1,
  ): number {
    const edges = this.#edges;
    const offset = places.offset[place];
    const bytes = places.bytes[place];
    const top = offset + bytes;
    const end = edges[this.#height];
    const to = Math.min(top, end);
    const from = Math.max(offset, edges[0]);
    if (!(to > from)) return -1;
    const first = this.#rowOf(from);
    const last = to === end ? this.#height - 1 : to < edges[first + 1] ? first : this.#rowOf(to);
    if (first === last) {
      this.#addPart(first, sign * (to - from), total, kind);
    } else {
      this.#addPart(first, sign * (edges[first + 1] - from), total, kind);
      if (to > edges[last]) this.#addPart(last, sign * (to - edges[last]), total, kind);
      // Segments also own rows, and have no kind.
      const owner = sign < 0 ? 0 : kind === 0 ? 1 : kind;
      this.#setOwner(owners, owner, first + 1, last);
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

  /** Usually a few rows, for which calling `fill` would cost more. */
  #setOwner(owners: Uint8Array, owner: number, from: number, to: number): void {
    const isDirty = this.#isDirty;
    for (let row = from; row < to; row++) {
      owners[row] = owner;
      isDirty[row] = 1;
    }
  }

  #addPart(row: number, bytes: number, total: Float64Array, kind: number): void {
    total[row] += bytes;
    this.#sums[row * this.#stride + kind] += bytes;
    this.#isDirty[row] = 1;
  }

  /** Row of a byte inside the column; rounding may be one off, so the edges decide. */
  #rowOf(offset: number): number {
    const edges = this.#edges;
    let row = ((offset - edges[0]) * this.#rowsPerByte) | 0;
    if (row >= this.#height) row = this.#height - 1;
    while (edges[row] > offset) row--;
    while (edges[row + 1] <= offset) row++;
    return row;
  }

  /** The class with more than half of the blocks' bytes, usually the same as before. */
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

/** Both are usually 0, and a division would cost as much as the rest of the row. */
function bareQuarters(bytes: number, held: number): number {
  return held >= bytes ? 0 : Math.floor((BARE_STEPS * (bytes - held)) / bytes);
}

function freeEighths(held: number, used: number): number {
  if (used === held) return 0;
  return Math.min(FREE_STEPS - 1, Math.ceil((FREE_STEPS * (held - used)) / held));
}
