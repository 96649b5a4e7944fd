/**
 * The timeline ordered by class: one layer each, as high as the class's live blocks, exact at every event. Within a
 * layer allocations keep their own order, so each pixel belongs to one of them.
 *
 *        ▁▂▅▇▅▂▁   temporaries
 *      ▂▅███████▂  activations        each column: the event with most active bytes in it
 *   ██████████████ parameters
 *
 * Memory: 8 B per layer for every 64 events, and 5 B per allocation.
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { stepwise, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { columnRanges, counterLines, drawnStates } from './columns.ts';
import type { StackHits } from './stack-hits.ts';
import type { StackedAllocations, TimelineIndex } from './timeline-index.ts';
import { COLUMNS_PER_STEP, type Scene } from './timeline-painter.ts';
import type { TimelineFrame } from './types.ts';

const BLOCK_BITS = 6;
/** For allocations in no layer. */
export const NO_LAYER = 255;

/** Live bytes of each layer after any event: totals before every 64th event, plus the changes since. */
export class ClassLayers {
  /** Layer of each allocation, from the bottom up. */
  readonly layerOf: Uint8Array;
  readonly count: number;
  readonly #allocations: StackedAllocations;
  /** Row b holds the layers before event 64 b. */
  readonly #before: Float64Array;
  /** Allocations by the block of 64 events in which they end; block b's are at #firstEnd[b] to #firstEnd[b + 1]. */
  readonly #ending: Int32Array;
  readonly #firstEnd: Int32Array;

  /** @param layerOf layer of each allocation, 0 at the bottom; {@link NO_LAYER} leaves it out */
  constructor(
    allocations: StackedAllocations,
    layerOf: Uint8Array,
    count: number,
    eventCount: number,
  ) {
    const { length, start, end, sizeBytes } = allocations;
    const blocks = (eventCount >> BLOCK_BITS) + 1;
    this.#allocations = allocations;
    this.layerOf = layerOf;
    this.count = count;
    this.#before = new Float64Array((blocks + 1) * count);
    this.#firstEnd = new Int32Array(blocks + 1);
    for (let id = 0; id < length; id++) {
      const layer = layerOf[id];
      if (layer === NO_LAYER) continue;
      const began = start[id] < 0 ? 0 : (start[id] >> BLOCK_BITS) + 1;
      this.#before[began * count + layer] += sizeBytes[id];
      if (end[id] === NEVER) continue;
      const ended = (end[id] >> BLOCK_BITS) + 1;
      this.#before[ended * count + layer] -= sizeBytes[id];
      this.#firstEnd[ended]++;
    }
    for (let i = count; i < this.#before.length; i++) this.#before[i] += this.#before[i - count];
    for (let block = 1; block <= blocks; block++)
      this.#firstEnd[block] += this.#firstEnd[block - 1];
    this.#ending = new Int32Array(this.#firstEnd[blocks]);
    const next = this.#firstEnd.slice();
    for (let id = 0; id < length; id++) {
      if (end[id] !== NEVER && layerOf[id] !== NO_LAYER) {
        this.#ending[next[end[id] >> BLOCK_BITS]++] = id;
      }
    }
  }

  /** Sets out[layer] to its bytes after the event. */
  at(event: EventIndex, out: Float64Array): void {
    const { start, end, sizeBytes, length } = this.#allocations;
    const { layerOf, count } = this;
    const block = event >> BLOCK_BITS;
    for (let layer = 0; layer < count; layer++) out[layer] = this.#before[block * count + layer];
    const first = block << BLOCK_BITS;
    for (let id = lowerBound(start, first); id < length && start[id] <= event; id++) {
      if (layerOf[id] !== NO_LAYER) out[layerOf[id]] += sizeBytes[id];
    }
    for (let i = this.#firstEnd[block]; i < this.#firstEnd[block + 1]; i++) {
      const id = this.#ending[i];
      if (end[id] <= event) out[layerOf[id]] -= sizeBytes[id];
    }
  }
}

export interface LayerScene extends Pick<Scene, 'viewport' | 'palette' | 'lines'> {
  readonly layers: ClassLayers;
  /** Palette row of each layer. */
  readonly colorOf: readonly number[];
}

/**
 * One frame, as a task. Pixels show the layer at their center.
 * @param index of the stacked allocations: all, or those that match a search
 */
export function* drawLayers(
  index: TimelineIndex,
  scene: LayerScene,
  out?: Uint32Array,
): Task<TimelineFrame> {
  const { viewport, palette, layers, colorOf, lines } = scene;
  const { width, height, y0, y1 } = viewport;
  const pixels = out?.length === width * height ? out : new Uint32Array(width * height);
  const ranges = columnRanges(index, viewport);
  const drawn = drawnStates(index, ranges);
  const bytes = new Float64Array(layers.count);
  yield* stepwise(width, COLUMNS_PER_STEP, (column) => {
    const state = drawn.states[column];
    let row = 0;
    const fillTo = (bytes: number, color: number): void => {
      const to = Math.min(height, Math.ceil(((bytes - y0) * height) / (y1 - y0) - 0.5));
      for (; row < to; row++) pixels[(height - 1 - row) * width + column] = color;
    };
    if (state >= 0) {
      layers.at(state, bytes);
      fillTo(0, palette.background);
      let top = 0;
      for (let layer = 0; layer < layers.count; layer++) {
        top += bytes[layer];
        fillTo(top, palette.classes[colorOf[layer]]);
      }
    }
    fillTo(Infinity, palette.background);
  });
  const { states } = drawn;
  const counters = counterLines(index, lines, ranges, drawn);
  return { viewport, pixels, states, lines: counters, stackPeakBytes: index.peakBytes };
}

/** Like `stackHits`, for the stack ordered by layer. Cost grows with the number of live allocations. */
export function layerHits(
  index: TimelineIndex,
  layers: ClassLayers,
  state: EventIndex,
  bytesFrom: number,
  bytesTo: number,
): StackHits {
  const { sizeBytes } = index.allocations;
  const bottoms = new Float64Array(layers.count);
  layers.at(Math.max(0, state), bottoms);
  let below = 0;
  for (let layer = 0; layer < layers.count; layer++) {
    const bytes = bottoms[layer];
    bottoms[layer] = below;
    below += bytes;
  }
  const ids: AllocationIndex[] = [];
  const found = { ids, totalBytes: 0, main: -1, mainBottomBytes: 0 };
  let most = 0;
  for (const live of index.maxEnd.live(state, state < 0 ? 0 : index.nextId(state))) {
    for (const id of live) {
      const layer = layers.layerOf[id];
      if (layer === NO_LAYER) continue;
      const bottom = bottoms[layer];
      bottoms[layer] += sizeBytes[id];
      const overlap = Math.min(bottoms[layer], bytesTo) - Math.max(bottom, bytesFrom);
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
