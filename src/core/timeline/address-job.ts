/**
 * Draws frames of the address map: x as in the timeline, y the addresses packed together (see
 * address-layout.ts). A column shows the event with most active bytes in it, the very one that the
 * timeline shows there; what its pixels say is in address-rows.ts.
 *
 * Jobs can stop between columns, as those of frame-job.ts do.
 */
import { assert } from '../base/assert.ts';
import { type AddressBand, drawBands } from './address-bands.ts';
import { type AddressPalette, addressColorTable, BARE_CODE } from './address-colors.ts';
import type { AddressIndex } from './address-index.ts';
import { writeAddressPixels } from './address-pixels.ts';
import { AddressRows } from './address-rows.ts';
import { AddressSweep, type Change } from './address-sweep.ts';
import { drawnStates } from './column-extremes.ts';
import { columnRanges } from './columns.ts';
import { type ColumnSpan, KeptColumns } from './kept-columns.ts';
import type { Viewport } from './types.ts';

export interface AddressScene {
  /** y in bytes of the packed order. */
  readonly viewport: Viewport;
  /** Class of each allocation, below palette.classes.length. */
  readonly classOf: Uint8Array;
  readonly palette: AddressPalette;
  /** Allocations of this class are dimmed, also when their free is requested. */
  readonly dimmedClass?: number | undefined;
  /** Drawn highlighted, over each other. */
  readonly bands: readonly AddressBand[];
}

export interface AddressFrame {
  readonly viewport: Viewport;
  /** Row-major RGBA, width * height, row 0 on top. */
  readonly pixels: Uint32Array;
  /** For each column the event whose state is drawn; -1 outside of the trace. */
  readonly states: Int32Array;
}

const COLUMNS_A_SLICE = 16;

/** Draws frames of one device, one after the other, in buffers that it keeps. */
export class AddressPainter {
  readonly #index: AddressIndex;
  readonly #blocks: AddressSweep;
  readonly #segments: AddressSweep;
  #kept = new KeptColumns();
  #codes = new Uint16Array(0);

  constructor(index: AddressIndex) {
    this.#index = index;
    const { timeline, segments, segmentsMaxEnd, blockPlaces, segmentPlaces } = index;
    this.#blocks = new AddressSweep(timeline.allocations, blockPlaces, timeline.maxEnd);
    this.#segments = new AddressSweep(segments, segmentPlaces, segmentsMaxEnd);
  }

  /** Starts a frame. An unfinished job of this painter must not be run any more. */
  begin(scene: AddressScene): AddressJob {
    const { width, height } = scene.viewport;
    if (this.#codes.length < width * height) {
      this.#codes = new Uint16Array(width * height);
      this.#kept = new KeptColumns();
    }
    return new AddressJob(
      this.#index,
      this.#blocks,
      this.#segments,
      this.#kept,
      scene,
      this.#codes,
    );
  }

  /** A whole frame at once. */
  draw(scene: AddressScene): AddressFrame {
    const frame = this.begin(scene).run();
    assert(frame !== undefined, 'a job that nothing stops ends');
    return frame;
  }
}

export class AddressJob {
  readonly #blocks: AddressSweep;
  readonly #segments: AddressSweep;
  readonly #kept: KeptColumns;
  readonly #painted: ColumnSpan;
  readonly #scene: AddressScene;
  readonly #codes: Uint16Array;
  readonly #rows: AddressRows;
  readonly #changeBlock: Change;
  readonly #changeSegment: Change;
  readonly #states: Int32Array;
  #nextColumn = 0;
  /** Column whose codes are those of the rows now; -1 for none. */
  #lastColumn = -1;

  constructor(
    index: AddressIndex,
    blocks: AddressSweep,
    segments: AddressSweep,
    kept: KeptColumns,
    scene: AddressScene,
    codes: Uint16Array,
  ) {
    const { viewport, classOf, palette, dimmedClass } = scene;
    this.#blocks = blocks;
    this.#segments = segments;
    this.#kept = kept;
    this.#scene = scene;
    this.#codes = codes;
    this.#rows = new AddressRows(index, viewport, palette.classes.length);
    const rows = this.#rows;
    this.#changeBlock = (place, kind, sign) => rows.addBlock(place, kind, sign);
    this.#changeSegment = (place, kind, sign) => rows.addSegment(place, kind, sign);
    this.#states = drawnStates(index.timeline, columnRanges(index.timeline, viewport)).states;
    this.#painted = kept.take(codes, viewport, classOf, this.#states);
    const span = this.#spanToPaint();
    const kinds = { kindOf: classOf, pending: palette.classes.length, dimmed: dimmedClass };
    blocks.reset(kinds, this.#states, span);
    // No segment is ever pending.
    segments.reset({ kindOf: index.segments.isExpandable, pending: 0 }, this.#states, span);
  }

  /** As FrameJob.run: until the frame is whole, or `shouldStop` says so, asked every 16 columns. */
  run(shouldStop: () => boolean = () => false): AddressFrame | undefined {
    const { width } = this.#scene.viewport;
    while (this.#nextColumn < width) {
      const stop = Math.min(width, this.#nextColumn + COLUMNS_A_SLICE);
      for (; this.#nextColumn < stop; this.#nextColumn++) this.#paintColumn(this.#nextColumn);
      if (this.#nextColumn < width && shouldStop()) return undefined;
    }
    return this.#finish();
  }

  /** Columns that lie in the trace and are not painted yet; these are next to each other. */
  #spanToPaint(): ColumnSpan {
    const { width } = this.#scene.viewport;
    const isDue = (column: number) => !this.#isPainted(column) && this.#states[column] >= 0;
    let from = 0;
    while (from < width && !isDue(from)) from++;
    let to = width;
    while (to > from && !isDue(to - 1)) to--;
    return { from, to };
  }

  #isPainted(column: number): boolean {
    return column >= this.#painted.from && column < this.#painted.to;
  }

  #paintColumn(column: number): void {
    if (this.#isPainted(column)) return;
    const { height } = this.#scene.viewport;
    const codes = this.#codes;
    const base = column * height;
    const state = this.#states[column];
    const last = this.#lastColumn * height;
    if (state < 0 || last < 0) codes.fill(BARE_CODE, base, base + height);
    if (state < 0) return;
    if (last >= 0) codes.copyWithin(base, last, last + height);
    if (last < 0 || state !== this.#states[this.#lastColumn]) {
      this.#segments.advance(column, this.#changeSegment);
      this.#blocks.advance(column, this.#changeBlock);
      this.#rows.write(codes, base);
    }
    this.#lastColumn = column;
  }

  #finish(): AddressFrame {
    const { viewport, classOf, palette, bands } = this.#scene;
    const pixels = new Uint32Array(viewport.width * viewport.height);
    this.#kept.keep(viewport, classOf, this.#states);
    writeAddressPixels(this.#codes, viewport, addressColorTable(palette), pixels);
    drawBands(bands, this.#states, viewport, palette, pixels);
    return { viewport, pixels, states: this.#states };
  }
}
