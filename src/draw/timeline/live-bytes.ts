/**
 * Bytes of live blocks after any event, in layers: totals before every 64th event, plus the changes since. Memory: 8 B per
 * layer for every 64 events, and 5 B per allocation.
 */

import { NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { StackedAllocations } from './timeline-index.ts';

const BLOCK_BITS = 6;
const BLOCK = 1 << BLOCK_BITS;
/** For allocations in no layer. */
export const NO_LAYER = 255;

export class LiveBytes {
  /** Layer of each allocation, from the bottom up. */
  readonly layerOf: Uint8Array;
  readonly count: number;
  readonly #allocations: StackedAllocations;
  /** Row b holds the layers before event 64 b. */
  readonly #before: Float64Array;
  /** Allocations by the block of 64 events in which they end; block b's are at #firstEnd[b] to #firstEnd[b + 1]. */
  readonly #ending: Int32Array;
  readonly #firstEnd: Int32Array;
  readonly #changes = new Float64Array(BLOCK);

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
    for (let block = 1; block <= blocks; block++) {
      this.#firstEnd[block] += this.#firstEnd[block - 1];
    }
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
    for (let id = lowerBound(start, block << BLOCK_BITS); id < length && start[id] <= event; id++) {
      if (layerOf[id] !== NO_LAYER) out[layerOf[id]] += sizeBytes[id];
    }
    for (let i = this.#firstEnd[block]; i < this.#firstEnd[block + 1]; i++) {
      const id = this.#ending[i];
      if (end[id] <= event) out[layerOf[id]] -= sizeBytes[id];
    }
  }

  /** Where each layer begins after the event: the bytes of those below. */
  bottomsAt(event: EventIndex): Float64Array {
    const bytes = new Float64Array(this.count);
    this.at(event, bytes);
    let below = 0;
    return bytes.map((own) => {
      below += own;
      return below - own;
    });
  }

  /** Of the lowest layer: sets out[i] to its bytes after event from + i. */
  fill(from: EventIndex, out: Float64Array): void {
    const to = from + out.length;
    for (let block = from >> BLOCK_BITS; block << BLOCK_BITS < to; block++) {
      const changes = this.#changesIn(block);
      const first = block << BLOCK_BITS;
      let bytes = this.#before[block * this.count];
      for (let i = 0; i < BLOCK && first + i < to; i++) {
        bytes += changes[i];
        if (first + i >= from) out[first + i - from] = bytes;
      }
    }
  }

  #changesIn(block: number): Float64Array {
    const { start, end, sizeBytes, length } = this.#allocations;
    const { layerOf } = this;
    const first = block << BLOCK_BITS;
    const changes = this.#changes.fill(0);
    for (let id = lowerBound(start, first); id < length && start[id] < first + BLOCK; id++) {
      if (layerOf[id] === 0) changes[start[id] - first] += sizeBytes[id];
    }
    for (let i = this.#firstEnd[block]; i < this.#firstEnd[block + 1]; i++) {
      const id = this.#ending[i];
      if (layerOf[id] === 0) changes[end[id] - first] -= sizeBytes[id];
    }
    return changes;
  }
}
