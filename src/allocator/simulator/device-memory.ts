/** The simulated process's device memory: reserved bytes against the limit, and their curve over the trace. */
import { lowerBound } from '../../base/binary-search.ts';

/** One segment_alloc, segment_map (positive bytes), segment_free or segment_unmap (negative). */
export interface SegmentChange {
  /** The recorded event that was being run. */
  readonly event: number;
  readonly bytes: number;
  readonly isExpandable: boolean;
}

export type SegmentListener = (change: SegmentChange, reservedBytes: number) => void;

export class DeviceMemory {
  readonly addresses = new DeviceAddresses();
  readonly limitBytes: number;
  reservedBytes = 0;
  /** Before the first event. */
  startReservedBytes = 0;
  peakReservedBytes = 0;
  /** cudaMalloc and cuMemMap, cudaFree and cuMemUnmap. */
  deviceAllocs = 0;
  deviceFrees = 0;
  event = -1;
  readonly #onChange: SegmentListener;

  /** @param onChange called after each change, with the resulting reserved bytes */
  constructor(limitBytes: number, onChange: SegmentListener) {
    this.limitBytes = limitBytes;
    this.#onChange = onChange;
  }

  fits(bytes: number): boolean {
    return this.reservedBytes + bytes <= this.limitBytes;
  }

  seed(bytes: number): void {
    this.reservedBytes += bytes;
  }

  startCounting(): void {
    this.startReservedBytes = this.reservedBytes;
    this.peakReservedBytes = this.reservedBytes;
    this.deviceAllocs = 0;
    this.deviceFrees = 0;
  }

  add(bytes: number, isExpandable: boolean): void {
    this.deviceAllocs++;
    this.reservedBytes += bytes;
    if (this.reservedBytes > this.peakReservedBytes) this.peakReservedBytes = this.reservedBytes;
    this.#onChange({ event: this.event, bytes, isExpandable }, this.reservedBytes);
  }

  remove(bytes: number, isExpandable: boolean): void {
    this.deviceFrees++;
    this.reservedBytes -= bytes;
    this.#onChange({ event: this.event, bytes: -bytes, isExpandable }, this.reservedBytes);
  }
}

/**
 * Guesses where cudaMalloc puts segments. This matters for ties only: of two free blocks of the same size the allocator
 * takes the lower address. In recordings, the driver takes address space in chunks of 32 MiB from the top down, in the
 * highest gap that fits. It fills the rest of a chunk with what fits, newest chunk first. Example: 20 MiB at …38000000,
 * then 2 MiB at …39400000 behind it, then 20 MiB at …36000000. The driver may choose other chunks; this is the most
 * likely choice.
 */
const CHUNK_BYTES = 32 * 2 ** 20;
/** There is room below this address for any request. */
const TOP_ADDRESS = 2 ** 46;
/** Most chunk rests to remember: a run with thousands of segments would search all of them each time. */
const MOST_OPEN = 256;

class DeviceAddresses {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  /** Starts of the newest places with possible room after them in their last chunk, newest last. */
  #open: number[] = [];
  /** By size in bytes: no gap from this address on is large enough, until a place there is released. */
  readonly #searchedTo = new Map<number, number>();

  /** Occupies a place: the first free one of the likely ones, or else where the driver would look. */
  take(sizeBytes: number, likely: Iterable<number>): number {
    for (const address of likely) {
      if (this.#isFree(address, sizeBytes)) return this.#insert(address, sizeBytes);
    }
    return this.#insert(this.#rest(sizeBytes) ?? this.#gap(sizeBytes), sizeBytes);
  }

  release(address: number): void {
    const at = lowerBound(this.#starts, address);
    this.#starts.splice(at, 1);
    this.#ends.splice(at, 1);
    for (const [bytes, from] of this.#searchedTo) {
      if (address >= from) this.#searchedTo.delete(bytes);
    }
    this.#open = this.#open.filter((start) => start !== address);
    if (at > 0 && !this.#open.includes(this.#starts[at - 1])) this.#addOpen(at - 1);
  }

  #isFree(address: number, sizeBytes: number): boolean {
    const at = lowerBound(this.#starts, address);
    return (
      (this.#ends[at - 1] ?? -Infinity) <= address &&
      (this.#starts[at] ?? Infinity) >= address + sizeBytes
    );
  }

  #rest(sizeBytes: number): number | undefined {
    if (sizeBytes >= CHUNK_BYTES) return undefined;
    const at = (start: number) => lowerBound(this.#starts, start);
    const open = this.#open.findLast((start) => this.#room(at(start)) >= sizeBytes);
    return open === undefined ? undefined : this.#ends[at(open)];
  }

  /** Free bytes between a place and the end of its last chunk. */
  #room(at: number): number {
    const end = this.#ends[at];
    return Math.min(this.#starts[at + 1] ?? Infinity, chunkEnd(end)) - end;
  }

  #gap(sizeBytes: number): number {
    const bytes = chunkEnd(sizeBytes);
    const last = this.#starts.at(-1);
    const highest = last === undefined ? TOP_ADDRESS : chunkStart(last);
    let top = this.#searchedTo.get(bytes) ?? highest;
    for (let at = lowerBound(this.#starts, top) - 1; at >= 0; at--) {
      if (top - chunkEnd(this.#ends[at]) >= bytes) break;
      top = Math.min(top, chunkStart(this.#starts[at]));
    }
    this.#searchedTo.set(bytes, top);
    return top - bytes;
  }

  #insert(start: number, sizeBytes: number): number {
    const at = lowerBound(this.#starts, start);
    if (at === this.#starts.length) this.#searchedTo.clear();
    this.#starts.splice(at, 0, start);
    this.#ends.splice(at, 0, start + sizeBytes);
    this.#open = this.#open.filter((other) => other !== this.#starts[at - 1]);
    this.#addOpen(at);
    return start;
  }

  #addOpen(at: number): void {
    if (this.#room(at) <= 0) return;
    this.#open.push(this.#starts[at]);
    if (this.#open.length > MOST_OPEN) this.#open.shift();
  }
}

const chunkStart = (address: number): number => Math.floor(address / CHUNK_BYTES) * CHUNK_BYTES;
const chunkEnd = (address: number): number => Math.ceil(address / CHUNK_BYTES) * CHUNK_BYTES;
