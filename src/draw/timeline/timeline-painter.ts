/** Draws frames: viewport → states → live stack → pixels. A frame is a task that may pause between columns. */
import type { AllocationIndex, CounterName } from '../../allocator/replay/types.ts';
import { runToEnd, stepwise, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { colorTable, contrastColor, FADE_BIT, halfway, writeColumns } from './colors.ts';
import { ColumnCache } from './column-cache.ts';
import {
  type ColumnRanges,
  columnRanges,
  counterLines,
  type DrawnStates,
  drawnStates,
} from './columns.ts';
import { LiveSetSweep } from './live-set-sweep.ts';
import { ColumnPainter } from './paint-column.ts';
import type { TimelineIndex } from './timeline-index.ts';
import type { Palette, TimelineFrame, Viewport } from './types.ts';

export interface Scene {
  readonly viewport: Viewport;
  /** Class of each allocation, see classes.ts. */
  readonly classOf: Uint8Array;
  readonly palette: Palette;
  /** Allocations of this class are dimmed, even after their free is requested. */
  readonly dimmedClass?: number | undefined;
  /** Counters whose highest value is wanted for each column. */
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted; -1 for none. */
  readonly selected: AllocationIndex;
}

/** Draws frames of one device, reusing its buffers. */
export class TimelinePainter {
  readonly #index: TimelineIndex;
  readonly #sweep: LiveSetSweep;
  readonly #cache = new ColumnCache();

  constructor(index: TimelineIndex) {
    this.#index = index;
    this.#sweep = new LiveSetSweep(index);
  }

  /**
   * Starts a frame. Do not resume an unfinished earlier frame of this painter.
   * @param out pixels of an earlier frame, reused if the length fits
   * @throws RangeError for an empty viewport, or a time axis if the trace has no times
   */
  begin(scene: Scene, out?: Uint32Array): Task<TimelineFrame> {
    checkViewport(scene.viewport);
    const size = scene.viewport.width * scene.viewport.height;
    const pixels = out?.length === size ? out : new Uint32Array(size);
    return new Frame(this.#index, this.#sweep, this.#cache, scene, pixels).paint();
  }

  /** A whole frame at once. Parameters and errors as in {@link begin}. */
  draw(scene: Scene, out?: Uint32Array): TimelineFrame {
    return runToEnd(this.begin(scene, out));
  }
}

/** A single frame. For many, keep a {@link TimelinePainter}. */
export function drawFrame(index: TimelineIndex, scene: Scene, out?: Uint32Array): TimelineFrame {
  return new TimelinePainter(index).draw(scene, out);
}

const NONE = -1;
/** Columns painted between two checks of the clock. */
export const COLUMNS_PER_STEP = 16;

class Frame {
  readonly #index: TimelineIndex;
  readonly #sweep: LiveSetSweep;
  readonly #cache: ColumnCache;
  readonly #scene: Scene;
  readonly #pixels: Uint32Array;
  readonly #painter: ColumnPainter;
  readonly #selection: SelectionBand;
  readonly #ranges: ColumnRanges;
  readonly #drawn: DrawnStates;
  /** Slot of each column; -1 until painted. */
  readonly #slots: Int32Array;
  /** Slot that shows the sweep's state. */
  #sweptSlot = NONE;

  constructor(
    index: TimelineIndex,
    sweep: LiveSetSweep,
    cache: ColumnCache,
    scene: Scene,
    pixels: Uint32Array,
  ) {
    const { height, y0, y1 } = scene.viewport;
    this.#index = index;
    this.#sweep = sweep;
    this.#cache = cache;
    this.#scene = scene;
    this.#pixels = pixels;
    this.#selection = new SelectionBand(scene.viewport);
    this.#ranges = columnRanges(index, scene.viewport);
    this.#drawn = drawnStates(index, this.#ranges);
    this.#slots = cache.begin(scene, this.#drawn.states);
    this.#painter = new ColumnPainter(sweep, cache.codes, height, y0, y1);
    sweep.reset(scene.classOf, scene.dimmedClass);
  }

  *paint(): Task<TimelineFrame> {
    const { width } = this.#scene.viewport;
    yield* stepwise(width, COLUMNS_PER_STEP, (column) => this.#paintColumn(column));
    return this.#finish();
  }

  #paintColumn(column: number): void {
    const { selected } = this.#scene;
    const state = this.#drawn.states[column];
    // The previous column may have painted it.
    if (this.#slots[column] < 0) this.#slots[column] = this.#cache.find(state);
    if (this.#slots[column] < 0) this.#slots[column] = this.#paintState(state);
    if (selected < 0 || state < 0) return;
    this.#sweepTo(state);
    this.#sweptSlot = this.#slots[column];
    const bottom = this.#sweep.bottomOf(selected);
    if (bottom >= 0) {
      this.#selection.set(column, bottom, this.#index.allocations.sizeBytes[selected]);
    }
  }

  #paintState(state: EventIndex): number {
    const slot = this.#cache.claim(state);
    if (state < 0) {
      this.#painter.clear(slot);
      return slot;
    }
    const unchangedBelow = this.#sweepTo(state);
    const isFirst = this.#sweptSlot === NONE;
    this.#painter.paint(slot, this.#sweptSlot, isFirst ? -Infinity : unchangedBelow);
    this.#sweptSlot = slot;
    return slot;
  }

  /** Bytes from the bottom below which nothing changed. */
  #sweepTo(state: EventIndex): number {
    return this.#sweep.state === state ? Infinity : this.#sweep.advance(state);
  }

  #finish(): TimelineFrame {
    const { viewport, palette } = this.#scene;
    const colors = colorTable(palette);
    const fading = { fromRows: this.#fadeRows(), colors: colors.subarray(1 << FADE_BIT) };
    writeColumns(this.#cache.codes, this.#slots, viewport, colors, this.#pixels, fading);
    this.#selection.draw(this.#pixels, palette);
    return {
      viewport,
      pixels: this.#pixels,
      states: this.#drawn.states,
      lines: counterLines(this.#index, this.#scene.lines, this.#ranges, this.#drawn),
      stackPeakBytes: this.#index.peakBytes,
    };
  }

  /** First faded row of each column: memory above it was not live for the column's whole time. */
  #fadeRows(): Int32Array {
    const { width, height } = this.#scene.viewport;
    const rows = new Int32Array(width).fill(height);
    for (let column = 0; column < width; column++) {
      const min = this.#drawn.minBytes[column];
      if (min < this.#drawn.maxBytes[column]) rows[column] = this.#painter.rowAt(min);
    }
    return rows;
  }
}

function checkViewport(view: Viewport): void {
  const isWhole = Number.isInteger(view.width) && Number.isInteger(view.height);
  if (
    !isWhole ||
    view.width < 1 ||
    view.height < 1 ||
    !(view.x1 > view.x0) ||
    !(view.y1 > view.y0)
  ) {
    throw new RangeError(`No such viewport: ${JSON.stringify(view)}`);
  }
}

/**
 * The selected allocation, drawn over the finished pixels: a contrasting outline (black on light backgrounds, white on
 * dark ones) and a fill half way to it, at least one pixel high.
 *
 * In each column it is a span of rows. Where the spans of neighboring columns differ, the part without a selected
 * neighbor is outline too, so the outline stays closed where it steps down.
 */
class SelectionBand {
  readonly #view: Viewport;
  /** Rows from the bottom, `to` excluded; equal if the allocation is not drawn. Not clipped. */
  readonly #from: Float64Array;
  readonly #to: Float64Array;

  constructor(view: Viewport) {
    this.#view = view;
    this.#from = new Float64Array(view.width);
    this.#to = new Float64Array(view.width);
  }

  /** In this column the allocation starts at bottomBytes. */
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

  /** The band continues beyond the frame's sides. */
  #covers(column: number, row: number): boolean {
    if (column < 0 || column >= this.#view.width) return true;
    return row >= this.#from[column] && row < this.#to[column];
  }
}
