/**
 * The timeline ordered by class: one band for each, as high as the class's live blocks, exact at every event.
 * Within a band allocations are stacked in their own order, so that a pixel belongs to one of them.
 *
 *        ▁▂▅▇▅▂▁   temporaries
 *      ▂▅███████▂  activations        each column: the event with most active bytes in it
 *   ██████████████ parameters
 *
 * 8 B for each band and 64 events, and 5 B an allocation.
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { ColumnJob } from './column-job.ts';
import {
  type ColumnRanges,
  columnRanges,
  counterLines,
  type DrawnStates,
  drawnStates,
} from './columns.ts';
import type { StackHits } from './stack-hits.ts';
import type { StackedAllocations, TimelineIndex } from './timeline-index.ts';
import type { Scene } from './timeline-painter.ts';
import type { TimelineFrame } from './types.ts';

const BLOCK_BITS = 6;
/** Band of what is in none. */
export const NO_BAND = 255;

/** Live bytes of each band after any event: values before each 64 events, and what changes in them. */
export class ClassBands {
  /** Of each allocation, from the bottom up. */
  readonly bandOf: Uint8Array;
  readonly count: number;
  readonly #allocations: StackedAllocations;
  /** Row b holds the bands before event 64 b. */
  readonly #before: Float64Array;
  /** Allocations by the 64 events in which they end; those of block b are at #firstEnd[b] to #firstEnd[b + 1]. */
  readonly #ending: Int32Array;
  readonly #firstEnd: Int32Array;

  /** @param bandOf band of each allocation, 0 at the bottom; {@link NO_BAND} leaves it out */
  constructor(
    allocations: StackedAllocations,
    bandOf: Uint8Array,
    count: number,
    eventCount: number,
  ) {
    const { length, start, end, sizeBytes } = allocations;
    const blocks = (eventCount >> BLOCK_BITS) + 1;
    this.#allocations = allocations;
    this.bandOf = bandOf;
    this.count = count;
    this.#before = new Float64Array((blocks + 1) * count);
    this.#firstEnd = new Int32Array(blocks + 1);
    for (let id = 0; id < length; id++) {
      const band = bandOf[id];
      if (band === NO_BAND) continue;
      const began = start[id] < 0 ? 0 : (start[id] >> BLOCK_BITS) + 1;
      this.#before[began * count + band] += sizeBytes[id];
      if (end[id] === NEVER) continue;
      const ended = (end[id] >> BLOCK_BITS) + 1;
      this.#before[ended * count + band] -= sizeBytes[id];
      this.#firstEnd[ended]++;
    }
    for (let i = count; i < this.#before.length; i++) this.#before[i] += this.#before[i - count];
    for (let block = 1; block <= blocks; block++)
      this.#firstEnd[block] += this.#firstEnd[block - 1];
    this.#ending = new Int32Array(this.#firstEnd[blocks]);
    const next = this.#firstEnd.slice();
    for (let id = 0; id < length; id++) {
      if (end[id] !== NEVER && bandOf[id] !== NO_BAND) {
        this.#ending[next[end[id] >> BLOCK_BITS]++] = id;
      }
    }
  }

  /** out[band] is its bytes after the event. */
  at(event: EventIndex, out: Float64Array): void {
    const { start, end, sizeBytes, length } = this.#allocations;
    const { bandOf, count } = this;
    const block = event >> BLOCK_BITS;
    for (let band = 0; band < count; band++) out[band] = this.#before[block * count + band];
    const first = block << BLOCK_BITS;
    for (let id = lowerBound(start, first); id < length && start[id] <= event; id++) {
      if (bandOf[id] !== NO_BAND) out[bandOf[id]] += sizeBytes[id];
    }
    for (let i = this.#firstEnd[block]; i < this.#firstEnd[block + 1]; i++) {
      const id = this.#ending[i];
      if (end[id] <= event) out[bandOf[id]] -= sizeBytes[id];
    }
  }
}

/** What is drawn, and with what. */
export interface BandScene extends Pick<Scene, 'viewport' | 'palette' | 'lines'> {
  readonly bands: ClassBands;
  /** Row of the palette of each band. */
  readonly colorOf: readonly number[];
}

/** One frame. Pixels show the band at their center. */
export class BandJob extends ColumnJob<TimelineFrame> {
  readonly #index: TimelineIndex;
  readonly #scene: BandScene;
  readonly #pixels: Uint32Array;
  readonly #ranges: ColumnRanges;
  readonly #drawn: DrawnStates;
  readonly #bytes: Float64Array;

  /** @param index of what is stacked: all allocations, or those that match a search */
  constructor(index: TimelineIndex, scene: BandScene, out?: Uint32Array) {
    const { width, height } = scene.viewport;
    super(width);
    this.#index = index;
    this.#scene = scene;
    this.#pixels = out?.length === width * height ? out : new Uint32Array(width * height);
    this.#ranges = columnRanges(index, scene.viewport);
    this.#drawn = drawnStates(index, this.#ranges);
    this.#bytes = new Float64Array(scene.bands.count);
  }

  protected doColumn(column: number): void {
    const { viewport, palette, bands, colorOf } = this.#scene;
    const { width, height, y0, y1 } = viewport;
    const state = this.#drawn.states[column];
    let row = 0;
    const fillTo = (bytes: number, color: number): void => {
      const to = Math.min(height, Math.ceil(((bytes - y0) * height) / (y1 - y0) - 0.5));
      for (; row < to; row++) this.#pixels[(height - 1 - row) * width + column] = color;
    };
    if (state >= 0) {
      bands.at(state, this.#bytes);
      fillTo(0, palette.background);
      let top = 0;
      for (let band = 0; band < bands.count; band++) {
        top += this.#bytes[band];
        fillTo(top, palette.classes[colorOf[band]]);
      }
    }
    fillTo(Infinity, palette.background);
  }

  protected finish(): TimelineFrame {
    return {
      viewport: this.#scene.viewport,
      pixels: this.#pixels,
      states: this.#drawn.states,
      lines: counterLines(this.#index, this.#scene.lines, this.#ranges, this.#drawn),
      stackPeakBytes: this.#index.peakBytes,
    };
  }
}

/** As `stackHits`, of the stack that is ordered by band. Cost grows with the live allocations. */
export function bandHits(
  index: TimelineIndex,
  bands: ClassBands,
  state: EventIndex,
  bytesFrom: number,
  bytesTo: number,
): StackHits {
  const { sizeBytes } = index.allocations;
  const bottoms = new Float64Array(bands.count);
  bands.at(Math.max(0, state), bottoms);
  let below = 0;
  for (let band = 0; band < bands.count; band++) {
    const bytes = bottoms[band];
    bottoms[band] = below;
    below += bytes;
  }
  const ids: AllocationIndex[] = [];
  const found = { ids, totalBytes: 0, main: -1, mainBottomBytes: 0 };
  let most = 0;
  for (const live of index.maxEnd.live(state, state < 0 ? 0 : index.nextId(state))) {
    for (const id of live) {
      const band = bands.bandOf[id];
      if (band === NO_BAND) continue;
      const bottom = bottoms[band];
      bottoms[band] += sizeBytes[id];
      const overlap = Math.min(bottoms[band], bytesTo) - Math.max(bottom, bytesFrom);
      if (overlap <= 0) continue;
      ids.push(id);
      found.totalBytes += sizeBytes[id];
      if (overlap > most) {
        most = overlap;
        found.main = id;
        found.mainBottomBytes = bottom;
      }
    }
  }
  return found;
}
