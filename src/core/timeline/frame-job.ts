/**
 * Draws frames: viewport → states → live stack → pixels.
 *
 * A job can stop between columns, so that a worker can look whether a newer request has come:
 *
 *   const job = painter.begin(scene);
 *   let frame = job.run(isLate);            // undefined when isLate() said so
 *   while (frame === undefined) { await nextMessage(); frame = job.run(isLate); }
 */
import { assert } from '../base/assert.ts';
import type { AllocationIndex, CounterName } from '../replay/types.ts';
import { counterColumns, type DrawnStates, drawnStates } from './column-extremes.ts';
import { type ColumnRanges, columnRanges } from './columns.ts';
import { type ColumnSpan, KeptColumns } from './kept-columns.ts';
import { LiveSweep } from './live-sweep.ts';
import { ColumnPainter } from './paint-column.ts';
import { SelectionBand } from './selection-band.ts';
import type { TimelineIndex } from './timeline-index.ts';
import type { Palette, TimelineFrame, Viewport } from './types.ts';
import { writeRows } from './write-rows.ts';

/** All that a frame shows. */
export interface Scene {
  readonly viewport: Viewport;
  /** Class of each allocation, see classes.ts. */
  readonly classOf: Uint8Array;
  readonly palette: Palette;
  /** Allocations of this class are dimmed, also when their free is requested. */
  readonly dimmedClass?: number | undefined;
  /** Counters to give the highest value of, column by column. */
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted; -1 for none. */
  readonly selected: AllocationIndex;
}

/** Columns painted between two questions whether to stop. */
const COLUMNS_A_SLICE = 16;

/** Draws frames of one device, one after the other, in buffers that it keeps. */
export class TimelinePainter {
  readonly #index: TimelineIndex;
  readonly #sweep: LiveSweep;
  #kept = new KeptColumns();
  #codes = new Uint16Array(0);

  constructor(index: TimelineIndex) {
    this.#index = index;
    this.#sweep = new LiveSweep(index);
  }

  /**
   * Starts a frame. An unfinished job of this painter must not be run any more.
   * @param out pixels of an earlier frame to write over, if it has the right length
   * @throws RangeError for a viewport of no extent, or one by time when the trace has no times
   */
  begin(scene: Scene, out?: Uint32Array): FrameJob {
    checkViewport(scene.viewport);
    const size = scene.viewport.width * scene.viewport.height;
    if (this.#codes.length < size) {
      this.#codes = new Uint16Array(size);
      this.#kept = new KeptColumns();
    }
    const pixels = out?.length === size ? out : new Uint32Array(size);
    return new FrameJob(this.#index, this.#sweep, this.#kept, scene, this.#codes, pixels);
  }

  /** A whole frame at once. Parameters and errors as in {@link begin}. */
  draw(scene: Scene, out?: Uint32Array): TimelineFrame {
    const frame = this.begin(scene, out).run();
    assert(frame !== undefined, 'a job that nothing stops ends');
    return frame;
  }
}

/** One frame of its own. For many, keep a {@link TimelinePainter}. */
export function drawFrame(index: TimelineIndex, scene: Scene, out?: Uint32Array): TimelineFrame {
  return new TimelinePainter(index).draw(scene, out);
}

export class FrameJob {
  readonly #index: TimelineIndex;
  readonly #sweep: LiveSweep;
  readonly #kept: KeptColumns;
  /** Columns that a frame before has painted. */
  readonly #painted: ColumnSpan;
  readonly #scene: Scene;
  readonly #codes: Uint16Array;
  readonly #pixels: Uint32Array;
  readonly #painter: ColumnPainter;
  readonly #selection: SelectionBand;
  readonly #ranges: ColumnRanges;
  readonly #drawn: DrawnStates;
  #nextColumn = 0;

  constructor(
    index: TimelineIndex,
    sweep: LiveSweep,
    kept: KeptColumns,
    scene: Scene,
    codes: Uint16Array,
    pixels: Uint32Array,
  ) {
    const { height, y0, y1 } = scene.viewport;
    this.#index = index;
    this.#sweep = sweep;
    this.#kept = kept;
    this.#scene = scene;
    this.#codes = codes;
    this.#pixels = pixels;
    this.#painter = new ColumnPainter(sweep, codes, height, y0, y1);
    this.#selection = new SelectionBand(scene.viewport);
    this.#ranges = columnRanges(index, scene.viewport);
    this.#drawn = drawnStates(index, this.#ranges);
    this.#painted = kept.take(codes, scene.viewport, scene.classOf, this.#drawn.states);
    sweep.reset(scene.classOf, scene.dimmedClass);
  }

  /**
   * Paints on until the frame is whole, and returns it; or until `shouldStop` says so (asked every
   * 16 columns), and returns undefined: run again to go on. At least 16 columns are painted a run.
   */
  run(shouldStop: () => boolean = () => false): TimelineFrame | undefined {
    const { width } = this.#scene.viewport;
    while (this.#nextColumn < width) {
      const stop = Math.min(width, this.#nextColumn + COLUMNS_A_SLICE);
      for (; this.#nextColumn < stop; this.#nextColumn++) this.#paintColumn(this.#nextColumn);
      if (this.#nextColumn < width && shouldStop()) return undefined;
    }
    return this.#finish();
  }

  #paintColumn(column: number): void {
    const state = this.#drawn.states[column];
    const { from, to } = this.#painted;
    const isPainted = column >= from && column < to;
    if (state < 0) {
      if (!isPainted) this.#painter.clear(column);
      return;
    }
    const { selected } = this.#scene;
    if (isPainted && selected < 0) return;
    const previous = column > 0 ? this.#drawn.states[column - 1] : -1;
    const sweepWasAt = this.#sweep.state;
    const unchangedBelow = sweepWasAt === state ? Infinity : this.#sweep.advance(state);
    if (!isPainted) {
      const continues = previous >= 0 && previous === sweepWasAt;
      if (state === previous) this.#painter.repeat(column);
      else this.#painter.paint(column, continues ? unchangedBelow : -Infinity);
    }
    if (selected < 0) return;
    const bottom = this.#sweep.bottomOf(selected);
    if (bottom >= 0) {
      this.#selection.set(column, bottom, this.#index.allocations.sizeBytes[selected]);
    }
  }

  #finish(): TimelineFrame {
    const { viewport, classOf, palette } = this.#scene;
    this.#kept.keep(viewport, classOf, this.#drawn.states);
    writeRows(this.#codes, this.#fadeRows(), viewport, palette, this.#pixels);
    this.#selection.draw(this.#pixels, palette);
    const lines: { -readonly [K in CounterName]?: Float64Array } = {};
    for (const name of this.#scene.lines) {
      lines[name] =
        name === 'activeBytes'
          ? this.#drawn.maxBytes
          : counterColumns(this.#index, name, this.#ranges);
    }
    return {
      viewport,
      pixels: this.#pixels,
      states: this.#drawn.states,
      lines,
      stackPeakBytes: this.#index.peakBytes,
    };
  }

  /** First faded row of each column: what lies above was not there all the time that it covers. */
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
