/** Draws frames: viewport → states → live stack → pixels. A frame is a task that may pause between columns. */
import type { AllocationIndex, CounterName } from '../../allocator/replay/types.ts';
import { runToEnd, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { colorTable, contrastColor, Outline, writeColumns } from './colors.ts';
import { ColumnCache } from './column-cache.ts';
import { columnRanges, counterLines, drawnStates } from './columns.ts';
import { LiveSetSweep } from './live-set-sweep.ts';
import { ColumnPainter } from './paint-column.ts';
import type { TimelineIndex } from './timeline-index.ts';
import type { Palette, TimelineFrame, Viewport } from './types.ts';

export interface Scene {
  readonly viewport: Viewport;
  /** Class of each allocation, see first-colorings.ts. */
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
   * Draws a frame. Do not resume an unfinished earlier frame of this painter.
   * @param out pixels of an earlier frame, reused if the length fits
   * @throws RangeError for an empty viewport, or a time axis if the trace has no times
   */
  *begin(scene: Scene, out?: Uint32Array): Task<TimelineFrame> {
    const { viewport, classOf, palette, dimmedClass, lines, selected } = scene;
    checkViewport(viewport);
    const { width, height, y0, y1 } = viewport;
    const index = this.#index;
    const sweep = this.#sweep;
    const cache = this.#cache;
    const pixels = out?.length === width * height ? out : new Uint32Array(width * height);
    const ranges = columnRanges(index, viewport);
    const drawn = drawnStates(index, ranges);
    const slots = cache.begin(scene, drawn.states);
    const painter = new ColumnPainter(sweep, cache.codes, height, y0, y1);
    const outline = new Outline(viewport);
    sweep.reset(classOf, dimmedClass);
    /** Slot that shows the sweep's state; -1 for none. */
    let sweptSlot = -1;
    /** Bytes from the bottom below which nothing changed. */
    const sweepTo = (state: EventIndex) =>
      sweep.state === state ? Infinity : sweep.advance(state);
    const paint = (slot: number, state: EventIndex) => {
      if (state < 0) {
        painter.clear(slot);
        return;
      }
      const unchangedBelow = sweepTo(state);
      painter.paint(slot, sweptSlot, sweptSlot < 0 ? -Infinity : unchangedBelow);
      sweptSlot = slot;
    };
    yield* cache.paintColumns(slots, drawn.states, paint, (column) => {
      const state = drawn.states[column];
      if (selected < 0 || state < 0) return;
      sweepTo(state);
      sweptSlot = slots[column];
      const bottom = sweep.bottomOf(selected);
      if (bottom >= 0) outline.set(column, bottom, index.allocations.sizeBytes[selected]);
    });
    // Memory above a column's minimum was not live for its whole time, so it is faded.
    const fadesFrom = new Int32Array(width).fill(height);
    for (let column = 0; column < width; column++) {
      const min = drawn.minBytes[column];
      if (min < drawn.maxBytes[column]) fadesFrom[column] = painter.rowAt(min);
    }
    const colors = colorTable(palette);
    writeColumns(cache.codes, slots, viewport, colors, pixels, fadesFrom);
    outline.draw(pixels, contrastColor(palette.background), 'half');
    return {
      viewport,
      pixels,
      states: drawn.states,
      lines: counterLines(index, lines, ranges, drawn),
      stackPeakBytes: index.peakBytes,
    };
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
