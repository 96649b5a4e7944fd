/**
 * Draws frames of the address map: x as in the timeline, y the packed addresses (see address-layout.ts). A column shows
 * its event with the most active bytes, the same event as in the timeline; address-rows.ts says what its pixels mean. A
 * frame is a task that may pause between columns.
 */

import { runToEnd, stepwise, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { writeColumns } from '../timeline/colors.ts';
import { ColumnCache, ColumnContentCache } from '../timeline/column-cache.ts';
import { columnRanges, highestStates } from '../timeline/columns.ts';
import { COLUMNS_PER_STEP } from '../timeline/timeline-painter.ts';
import type { Viewport } from '../timeline/types.ts';
import { type AddressBand, drawBands } from './address-bands.ts';
import { type AddressPalette, addressColorTable, BARE_CODE } from './address-colors.ts';
import type { AddressIndex } from './address-index.ts';
import { AddressRows } from './address-rows.ts';
import { AddressSweep, type Change } from './address-sweep.ts';

export interface AddressScene {
  /** y in bytes of the packed order. */
  readonly viewport: Viewport;
  /** Class of each allocation, below palette.classes.length. */
  readonly classOf: Uint8Array;
  readonly palette: AddressPalette;
  /** Allocations of this class are dimmed, even after their free is requested. */
  readonly dimmedClass?: number | undefined;
  /** Drawn highlighted, on top of each other. */
  readonly bands: readonly AddressBand[];
}

export interface AddressFrame {
  readonly viewport: Viewport;
  /** Row-major RGBA, width * height, row 0 at the top. */
  readonly pixels: Uint32Array;
  /** The event whose state each column shows; -1 outside of the trace. */
  readonly states: Int32Array;
}

/** Draws frames of one device, reusing its buffers. */
export class AddressPainter {
  readonly #index: AddressIndex;
  readonly #tools: PaintTools;

  constructor(index: AddressIndex) {
    this.#index = index;
    const { timeline, segments, segmentsMaxEnd, blockPlaces, segmentPlaces } = index;
    this.#tools = {
      blocks: new AddressSweep(timeline.allocations, blockPlaces, timeline.maxEnd),
      segments: new AddressSweep(segments, segmentPlaces, segmentsMaxEnd),
      cache: new ColumnCache(),
      contents: new ColumnContentCache(),
    };
  }

  /**
   * Starts a frame. Do not resume an unfinished earlier frame of this painter.
   * @param out pixels of an earlier frame, reused if the length fits
   */
  begin(scene: AddressScene, out?: Uint32Array): Task<AddressFrame> {
    return new Frame(this.#index, this.#tools, scene, out).paint();
  }

  draw(scene: AddressScene): AddressFrame {
    return runToEnd(this.begin(scene));
  }
}

/** What a painter keeps from frame to frame. */
interface PaintTools {
  readonly blocks: AddressSweep;
  readonly segments: AddressSweep;
  readonly cache: ColumnCache;
  readonly contents: ColumnContentCache;
}

const NONE = -1;

class Frame {
  readonly #tools: PaintTools;
  readonly #scene: AddressScene;
  readonly #pixels: Uint32Array;
  readonly #rows: AddressRows;
  readonly #changeBlock: Change;
  readonly #changeSegment: Change;
  readonly #states: Int32Array;
  /** Slot of each column; -1 until painted. */
  readonly #slots: Int32Array;
  /** How many of the states to paint are painted. */
  #swept = 0;
  /** Slot whose codes the rows currently hold. */
  #rowsSlot = NONE;

  constructor(index: AddressIndex, tools: PaintTools, scene: AddressScene, out?: Uint32Array) {
    const { viewport, classOf, palette, dimmedClass } = scene;
    const { blocks, segments, cache, contents } = tools;
    this.#tools = tools;
    this.#scene = scene;
    const size = viewport.width * viewport.height;
    this.#pixels = out?.length === size ? out : new Uint32Array(size);
    const rows = new AddressRows(index, viewport, palette.classes.length);
    this.#rows = rows;
    this.#changeBlock = (place, kind, sign) => rows.addBlock(place, kind, sign);
    this.#changeSegment = (place, kind, sign) => rows.addSegment(place, kind, sign);
    this.#states = highestStates(index.timeline, columnRanges(index.timeline, viewport));
    this.#slots = cache.begin(scene, this.#states);
    contents.begin(cache);
    const due = this.#statesToPaint();
    blocks.reset({ kindOf: classOf, pending: palette.classes.length, dimmed: dimmedClass }, due);
    // No segment is ever pending.
    segments.reset({ kindOf: index.segments.isExpandable, pending: 0 }, due);
  }

  /** Each once, in the order of the columns. */
  #statesToPaint(): Int32Array {
    const states = this.#states;
    return states.filter(
      (state, column) =>
        state >= 0 && this.#slots[column] < 0 && (column === 0 || state !== states[column - 1]),
    );
  }

  *paint(): Task<AddressFrame> {
    const { width } = this.#scene.viewport;
    yield* stepwise(width, COLUMNS_PER_STEP, (column) => this.#paintColumn(column));
    return this.#finish();
  }

  #paintColumn(column: number): void {
    const { cache } = this.#tools;
    const state = this.#states[column];
    // The previous column may have painted it.
    if (this.#slots[column] < 0) this.#slots[column] = cache.find(state);
    if (this.#slots[column] < 0) this.#slots[column] = this.#paintState(state);
  }

  #paintState(state: EventIndex): number {
    const { height } = this.#scene.viewport;
    const { blocks, segments, cache, contents } = this.#tools;
    const slot = cache.claim(state);
    const base = slot * height;
    if (state < 0) {
      cache.codes.fill(BARE_CODE, base, base + height);
      return slot;
    }
    segments.advance(this.#swept);
    blocks.advance(this.#swept++);
    const low = blocks.fingerprint.low ^ Math.imul(segments.fingerprint.low, ODD);
    const high = blocks.fingerprint.high ^ Math.imul(segments.fingerprint.high, ODD);
    const same = contents.find(low, high);
    if (same >= 0) cache.codes.copyWithin(base, same * height, (same + 1) * height);
    else this.#paintRows(slot);
    contents.set(slot, low, high);
    return slot;
  }

  #paintRows(slot: number): void {
    const { height } = this.#scene.viewport;
    const { codes } = this.#tools.cache;
    const base = slot * height;
    const from = this.#rowsSlot * height;
    if (this.#rowsSlot === NONE) codes.fill(BARE_CODE, base, base + height);
    else codes.copyWithin(base, from, from + height);
    this.#tools.segments.report(this.#changeSegment);
    this.#tools.blocks.report(this.#changeBlock);
    this.#rows.write(codes, base);
    this.#rowsSlot = slot;
  }

  #finish(): AddressFrame {
    const { viewport, palette, bands } = this.#scene;
    const pixels = this.#pixels;
    writeColumns(
      this.#tools.cache.codes,
      this.#slots,
      viewport,
      addressColorTable(palette),
      pixels,
    );
    drawBands(bands, this.#states, viewport, palette, pixels);
    return { viewport, pixels, states: this.#states };
  }
}

/** Separates the numbering of blocks and segments; without it one could be mistaken for the other. */
const ODD = 0x9e3779b1;
