/**
 * Extremes of one counter over any range of events, exact at every zoom.
 *
 * Each block of 64 events stores its lowest value, its highest value, and the first event with the highest. A range is
 * some whole blocks (read from these columns) and two partial ones (filled from the replay). Whole blocks are scanned
 * linearly: all 89,063 of 5.7 M events take 0.1 ms, once per frame, so levels above the blocks would gain nothing. 17 B
 * per block: 1.5 MB for 5.7 M events; plus 1 MB for values of filled blocks, which the next frame usually needs.
 */

import type { CounterName, Replay } from '../../allocator/replay/types.ts';
import { enlarged } from '../../base/growable.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

const BLOCK_BITS = 6;
const BLOCK = 1 << BLOCK_BITS;
/** 131,072 events, 1 MB: windows up to this size are redrawn without filling a block. */
const CACHED_BLOCKS = 1 << 11;
/** Events filled at a time while building. */
const FILL = BLOCK * 64;

/** The result of {@link CounterBlocks.scan}, valid until the next scan. */
export interface RangeExtremes {
  readonly max: number;
  readonly min: number;
  /** First event of the range with the highest value. */
  readonly argmax: EventIndex;
}

/** The block data of {@link CounterBlocks}, as plain data. */
export interface BlockExtremes {
  readonly max: Float64Array;
  readonly min: Float64Array;
  readonly argmax: Uint8Array;
}

export class CounterBlocks implements RangeExtremes {
  max = 0;
  min = 0;
  argmax: EventIndex = -1;

  readonly #replay: Pick<Replay, 'fillCounter'>;
  readonly #name: CounterName;
  #eventCount = 0;
  #blockMax: Float64Array = new Float64Array(0);
  #blockMin: Float64Array = new Float64Array(0);
  #blockArgmax: Uint8Array = new Uint8Array(0);
  /**
   * Values of filled blocks: neighboring columns and frames share them. Block b is in entry b modulo the number of
   * entries, if #cachedBlock says so.
   */
  #cached = new Float64Array(0);
  #cachedBlock = new Int32Array(0);
  readonly #filled = new Float64Array(BLOCK);

  /** @param known the extremes of these blocks, if computed elsewhere */
  constructor(
    replay: Pick<Replay, 'fillCounter'>,
    name: CounterName,
    eventCount: number,
    known?: BlockExtremes,
  ) {
    this.#replay = replay;
    this.#name = name;
    if (known === undefined) {
      this.extend(eventCount);
      return;
    }
    this.#eventCount = eventCount;
    this.#blockMax = known.max;
    this.#blockMin = known.min;
    this.#blockArgmax = known.argmax;
    this.#forget();
  }

  /** Adds the events up to before `eventCount`, after the replay has received more. */
  extend(eventCount: number): void {
    const firstBlock = this.#eventCount >> BLOCK_BITS;
    this.#eventCount = eventCount;
    const blocks = Math.ceil(eventCount / BLOCK);
    if (blocks > this.#blockMax.length) this.#makeRoom(blocks, firstBlock > 0);
    this.#forget();
    const values = new Float64Array(FILL);
    for (let from = firstBlock * BLOCK; from < eventCount; from += FILL) {
      const count = Math.min(FILL, eventCount - from);
      this.#replay.fillCounter(this.#name, from, values.subarray(0, count));
      this.#reduce(values, from >> BLOCK_BITS, count);
    }
  }

  get extremes(): BlockExtremes {
    const blocks = Math.ceil(this.#eventCount / BLOCK);
    return {
      max: this.#blockMax.subarray(0, blocks),
      min: this.#blockMin.subarray(0, blocks),
      argmax: this.#blockArgmax.subarray(0, blocks),
    };
  }

  /** Highest, lowest and first highest of events first to last, inclusive, which must be inside the trace. */
  scan(first: EventIndex, last: EventIndex): RangeExtremes {
    this.min = Infinity;
    this.#scan(first, last, true);
    return this;
  }

  /** Only the highest; cheaper, because most partial blocks can be skipped. */
  highest(first: EventIndex, last: EventIndex): number {
    this.min = -Infinity;
    this.#scan(first, last, false);
    return this.max;
  }

  /** First event with the highest value; ignores the lowest. */
  highestAt(first: EventIndex, last: EventIndex): EventIndex {
    this.min = -Infinity;
    this.#scan(first, last, true);
    return this.argmax;
  }

  /**
   * Scans whole blocks first: they usually show that the partial ones at the ends have no extreme. On a tie only an
   * earlier event matters, and only if the caller wants argmax.
   */
  #scan(first: EventIndex, last: EventIndex, wantsArgmax: boolean): void {
    this.max = -Infinity;
    const firstBlock = first >> BLOCK_BITS;
    const lastBlock = last >> BLOCK_BITS;
    if (firstBlock === lastBlock) {
      this.#scanPart(firstBlock, first & (BLOCK - 1), last & (BLOCK - 1), false);
      return;
    }
    this.#scanWhole(firstBlock + 1, lastBlock);
    this.#scanPart(firstBlock, first & (BLOCK - 1), BLOCK - 1, wantsArgmax);
    this.#scanPart(lastBlock, 0, last & (BLOCK - 1), false);
  }

  /** Reserves exactly what is needed at first, and twice that when growing. */
  #makeRoom(blocks: number, isGrowing: boolean): void {
    const room = isGrowing ? blocks * 2 : blocks;
    this.#blockMax = enlarged(this.#blockMax, room);
    this.#blockMin = enlarged(this.#blockMin, room);
    this.#blockArgmax = enlarged(this.#blockArgmax, room);
  }

  /** Clears cached values, because the last block may have grown. */
  #forget(): void {
    const cached = Math.min(CACHED_BLOCKS, Math.ceil(this.#eventCount / BLOCK));
    if (cached > this.#cachedBlock.length) this.#cached = new Float64Array(cached * BLOCK);
    this.#cachedBlock = new Int32Array(cached).fill(-1);
  }

  #reduce(values: Float64Array, firstBlock: number, count: number): void {
    for (let from = 0, block = firstBlock; from < count; from += BLOCK, block++) {
      const stop = Math.min(count, from + BLOCK);
      let max = values[from];
      let min = max;
      let argmax = from;
      for (let i = from + 1; i < stop; i++) {
        const value = values[i];
        if (value > max) {
          max = value;
          argmax = i;
        } else if (value < min) min = value;
      }
      this.#blockMax[block] = max;
      this.#blockMin[block] = min;
      this.#blockArgmax[block] = argmax - from;
    }
  }

  #scanWhole(fromBlock: number, toBlock: number): void {
    const blockMax = this.#blockMax;
    const blockMin = this.#blockMin;
    let { max, min } = this;
    let best = -1;
    for (let block = fromBlock; block < toBlock; block++) {
      if (blockMax[block] > max) {
        max = blockMax[block];
        best = block;
      }
      if (blockMin[block] < min) min = blockMin[block];
    }
    this.max = max;
    this.min = min;
    if (best >= 0) this.argmax = best * BLOCK + this.#blockArgmax[best];
  }

  #scanPart(block: number, from: number, to: number, wantsEqual: boolean): void {
    const highest = this.#blockMax[block];
    const canRaise = highest > this.max || (wantsEqual && highest === this.max);
    if (!canRaise && this.#blockMin[block] >= this.min) return;
    const offset = this.#fill(block);
    const values = this.#cached;
    let max = -Infinity;
    let argmax = -1;
    let min = this.min;
    for (let i = from; i <= to; i++) {
      const value = values[offset + i];
      if (value > max) {
        max = value;
        argmax = block * BLOCK + i;
      }
      if (value < min) min = value;
    }
    this.min = min;
    // The first of equal events wins, and the first part is scanned after the whole blocks.
    if (max > this.max || (max === this.max && argmax < this.argmax)) {
      this.max = max;
      this.argmax = argmax;
    }
  }

  /** Returns the block's offset in the cached values. */
  #fill(block: number): number {
    const entry = block % this.#cachedBlock.length;
    const offset = entry * BLOCK;
    if (this.#cachedBlock[entry] === block) return offset;
    const count = Math.min(BLOCK, this.#eventCount - block * BLOCK);
    const out = count === BLOCK ? this.#filled : this.#filled.subarray(0, count);
    this.#replay.fillCounter(this.#name, block * BLOCK, out);
    this.#cached.set(out, offset);
    this.#cachedBlock[entry] = block;
    return offset;
  }
}
