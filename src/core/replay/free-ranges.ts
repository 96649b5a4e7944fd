/**
 * The allocator's free memory: ranges of addresses inside segments, found by either edge.
 *
 * A range belongs to a group, and merges only with neighbours of its group: a native segment is a
 * group of its own (two cudaMallocs may touch and stay apart), all expandable memory of one stream and
 * pool is one group. Example: [0, 512) is free, [512, 1024) is freed: one range [0, 1024).
 */
import { AddressMap } from '../base/address-map.ts';
import { enlarged } from '../base/string-interner.ts';

/** Row of a range; -1 is none. */
export type RangeRow = number;

export class FreeRanges {
  #start = new Float64Array(256);
  #bytes = new Float64Array(256);
  #group = new Int32Array(256);
  #length = 0;
  readonly #unused: RangeRow[] = [];
  readonly #byStart = new AddressMap();
  readonly #byEnd = new AddressMap();
  /** Bytes of the segment that is the group, 0 for expandable groups. */
  readonly #segmentBytes: (group: number) => number;
  /** Bytes of free ranges that are not a whole segment; expandable segments count as 0. */
  inactiveSplitBytes = 0;

  constructor(segmentBytes: (group: number) => number) {
    this.#segmentBytes = segmentBytes;
  }

  startingAt(address: number): RangeRow {
    return this.#byStart.get(address);
  }

  start(range: RangeRow): number {
    return this.#start[range];
  }

  bytes(range: RangeRow): number {
    return this.#bytes[range];
  }

  group(range: RangeRow): number {
    return this.#group[range];
  }

  /** The range that holds an address; looks at all of them, so only for what is rare. */
  containing(address: number): RangeRow {
    const at = this.#byStart.get(address);
    if (at >= 0) return at;
    for (const range of this.#byStart.rows()) {
      if (this.#start[range] <= address && address < this.#start[range] + this.#bytes[range])
        return range;
    }
    return -1;
  }

  /** Adds free memory and merges it with its neighbours of the same group. */
  add(address: number, bytes: number, group: number): void {
    if (bytes <= 0) return;
    const before = this.#byEnd.get(address);
    const after = this.#byStart.get(address + bytes);
    const joinsBefore = before >= 0 && this.#group[before] === group;
    const joinsAfter = after >= 0 && this.#group[after] === group;
    if (joinsBefore) {
      let total = bytes;
      if (joinsAfter) {
        total += this.#bytes[after];
        this.remove(after);
      }
      this.#moveEnd(before, this.#bytes[before] + total);
    } else if (joinsAfter) {
      this.#moveStart(after, address);
    } else {
      this.insert(address, bytes, group);
    }
  }

  /** Takes `bytes` off the front of a range. */
  takeFront(range: RangeRow, bytes: number): void {
    if (bytes === this.#bytes[range]) this.remove(range);
    else this.#moveStart(range, this.#start[range] + bytes);
  }

  #moveStart(range: RangeRow, start: number): void {
    this.inactiveSplitBytes -= this.#splitBytes(range);
    this.#byStart.delete(this.#start[range]);
    this.#bytes[range] += this.#start[range] - start;
    this.#start[range] = start;
    this.#byStart.set(start, range);
    this.inactiveSplitBytes += this.#splitBytes(range);
  }

  #moveEnd(range: RangeRow, bytes: number): void {
    this.inactiveSplitBytes -= this.#splitBytes(range);
    this.#byEnd.delete(this.#start[range] + this.#bytes[range]);
    this.#bytes[range] = bytes;
    this.#byEnd.set(this.#start[range] + bytes, range);
    this.inactiveSplitBytes += this.#splitBytes(range);
  }

  /** Takes [address, address + bytes) out of a range; what lies beside stays free. */
  cut(range: RangeRow, address: number, bytes: number): void {
    const start = this.#start[range];
    const end = start + this.#bytes[range];
    const group = this.#group[range];
    this.remove(range);
    if (address > start) this.insert(start, address - start, group);
    if (address + bytes < end) this.insert(address + bytes, end - address - bytes, group);
  }

  /** Removes what a segment that goes away had free; walks its ranges when it is not one whole. */
  removeSegment(group: number, address: number, bytes: number): void {
    const whole = this.startingAt(address);
    if (whole >= 0 && this.#group[whole] === group && this.#bytes[whole] === bytes) {
      this.remove(whole);
      return;
    }
    for (const range of this.#byStart.rows()) {
      if (this.#group[range] === group) this.remove(range);
    }
  }

  remove(range: RangeRow): void {
    this.inactiveSplitBytes -= this.#splitBytes(range);
    this.#byStart.delete(this.#start[range]);
    this.#byEnd.delete(this.#start[range] + this.#bytes[range]);
    this.#unused.push(range);
  }

  /** Adds a range as it is, without merging. */
  insert(start: number, bytes: number, group: number): void {
    if (bytes <= 0) return;
    const range = this.#unused.pop() ?? this.#length++;
    if (range === this.#start.length) {
      this.#start = enlarged(this.#start, Float64Array);
      this.#bytes = enlarged(this.#bytes, Float64Array);
      this.#group = enlarged(this.#group, Int32Array);
    }
    this.#start[range] = start;
    this.#bytes[range] = bytes;
    this.#group[range] = group;
    this.#byStart.set(start, range);
    this.#byEnd.set(start + bytes, range);
    this.inactiveSplitBytes += this.#splitBytes(range);
  }

  #splitBytes(range: RangeRow): number {
    const segment = this.#segmentBytes(this.#group[range]);
    return this.#bytes[range] < segment ? this.#bytes[range] : 0;
  }
}
