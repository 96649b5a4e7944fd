/**
 * Turns values of the file into numbers for the tables: addresses, sizes, streams, pools, stacks. Defines what each
 * field accepts; anything else is counted as a bad value.
 */
import { AddressSpace } from '../../base/address.ts';
import type { CapacityPolicy } from '../../base/growable.ts';
import { LoadError } from '../../base/load-error.ts';
import { CORRUPT_ADVICE, corrupt } from '../pickle/errors.ts';
import type { RetainedValues } from '../pickle/retained-values.ts';
import { ROWS_PER_SINK, Tag } from '../pickle/types.ts';
import { EMPTY_STACK, NO_STACK, type Pool, type Stream } from './tables.ts';

/** Numbers of the sinks: they tell what kind of row a list holds. */
export const Sink = {
  Frame: 0,
  Event: 1,
  Block: 2,
  Segment: 3,
  History: 4,
  Annotation: 5,
} as const;

/** Streams and pools are uint16 columns. */
const MAX_DISTINCT = 65_535;
/** A generous limit: PyTorch stores a device's number in a signed byte. */
export const MAX_DEVICES = 1024;

export class FieldReader {
  readonly addresses = new AddressSpace();
  readonly streams: Stream[] = [];
  readonly pools: Pool[] = [{ id: [0, 0] }];
  /** Values of the wrong kind by field, with the position of the first. They read as 0 or none. */
  readonly badValues = new Map<string, { count: number; readonly byte: number | undefined }>();

  readonly #kept: RetainedValues;
  readonly #growth: CapacityPolicy;
  readonly #byte: () => number | undefined;
  #listed = 0;
  readonly #streamIndex = new Map<bigint, number>();
  readonly #poolIndex = new Map<string, number>([['0,0', 0]]);
  readonly #poolOfTuple = new Map<number, number>();
  #lastStream = Number.NaN;
  #lastStreamIndex = 0;

  /** @param byte the current read position, for warnings */
  constructor(kept: RetainedValues, growth: CapacityPolicy, byte: () => number | undefined) {
    this.#kept = kept;
    this.#growth = growth;
    this.#byte = byte;
  }

  /** An exact whole number from 0, such as a count of bytes; anything else is bad. */
  number(tag: number, val: number, field: string): number {
    if (tag === Tag.Int || tag === Tag.Float) {
      return val >= 0 && Number.isSafeInteger(val) ? val : this.bad(field, 0);
    }
    return tag === Tag.Bool ? val : this.bad(field, 0);
  }

  /** Microseconds; NaN if missing. */
  time(tag: number, val: number): number {
    const isNumber = tag === Tag.Int || tag === Tag.Float;
    const isInRange = isNumber && Math.abs(val) <= Number.MAX_SAFE_INTEGER;
    return isInRange ? val : this.bad('time_us', Number.NaN);
  }

  /** A device ordinal, or -1 for an invalid value. @throws LoadError for an impossible one */
  device(tag: number, val: number): number {
    const device = tag === Tag.Int ? val : -1;
    this.checkDevice(device);
    return device < 0 ? this.bad('device', -1) : device;
  }

  /** @throws LoadError for a list with more traces than any machine has devices */
  checkDevice(device: number): void {
    if (device < MAX_DEVICES) return;
    throw new LoadError({
      code: 'too-many-devices',
      message: `The file names device ${device}, but no machine has more than ${MAX_DEVICES}.`,
      advice: CORRUPT_ADVICE,
    });
  }

  address(tag: number, val: number): number {
    if (tag === Tag.Int) return this.addresses.fromNumber(val);
    const address = this.#integer(tag, val);
    return address === undefined ? this.bad('addr', 0) : this.addresses.fromBigInt(address);
  }

  /** Undefined beyond 64 bits, and for a fraction. */
  #integer(tag: number, val: number): bigint | undefined {
    if (tag === Tag.Int) return BigInt(val);
    if (tag === Tag.Float) return Number.isSafeInteger(val) ? BigInt(val) : undefined;
    const value = tag === Tag.BigInt ? this.#kept.bigInt(val) : undefined;
    return value !== undefined && value >= -(2n ** 63n) && value < 2n ** 64n ? value : undefined;
  }

  stream(tag: number, val: number): number {
    if (tag === Tag.Int && val === this.#lastStream) return this.#lastStreamIndex;
    const handle = this.#integer(tag, val) ?? BigInt(this.bad('stream', 0));
    const index = this.#indexOfStream(BigInt.asUintN(64, handle));
    if (tag === Tag.Int) {
      this.#lastStream = val;
      this.#lastStreamIndex = index;
    }
    return index;
  }

  /** Index of a stream seen in an earlier event, or -1. */
  knownStream(handle: number): number {
    return this.#streamIndex.get(BigInt(handle)) ?? -1;
  }

  #indexOfStream(handle: bigint): number {
    let index = this.#streamIndex.get(handle);
    if (index === undefined) {
      if (this.streams.length === MAX_DISTINCT) return this.bad('stream', 0);
      index = this.streams.push({ handle }) - 1;
      this.#streamIndex.set(handle, index);
    }
    return index;
  }

  /** pool_id is a pair (capture id, handle id): a tuple or, in JSON, a list. */
  pool(tag: number, val: number): number {
    const cacheKey = tag === Tag.Tuple ? val : -1 - val;
    let index = this.#poolOfTuple.get(cacheKey);
    if (index === undefined) {
      index = this.#indexOfPool(this.#kept.toValue(tag as Tag, val));
      if (tag === Tag.Tuple || tag === Tag.List) this.#poolOfTuple.set(cacheKey, index);
    }
    return index;
  }

  /** Pool index of a tuple seen in an earlier event, or -1. */
  knownPool(tuple: number): number {
    return this.#poolOfTuple.get(tuple) ?? -1;
  }

  #indexOfPool(value: unknown): number {
    if (!Array.isArray(value) || value.length !== 2) return this.bad('pool_id', 0);
    const id: [number, number] = [Number(value[0]), Number(value[1])];
    if (!id.every(Number.isSafeInteger)) return this.bad('pool_id', 0);
    let index = this.#poolIndex.get(id.join());
    if (index === undefined) {
      if (this.pools.length === MAX_DISTINCT) return this.bad('pool_id', 0);
      index = this.pools.push({ id }) - 1;
      this.#poolIndex.set(id.join(), index);
    }
    return index;
  }

  /** `frames`: a node of the stack tree, or an empty list for "no Python stack on that thread". */
  stack(tag: number, val: number): number {
    if (tag === Tag.Node) return val;
    if (tag === Tag.List && val === 0) return EMPTY_STACK;
    return this.bad('frames', NO_STACK);
  }

  /** Counts an invalid value of a field and returns the one to use instead. */
  bad(field: string, instead: number, values = 1): number {
    const known = this.badValues.get(field);
    if (known === undefined) this.badValues.set(field, { count: values, byte: this.#byte() });
    else known.count += values;
    return instead;
  }

  /**
   * The rows of one kind in a list. Other items are left out and counted. A list shared by several values counts once
   * for each of them, because all lists together may hold no more rows than the file has bytes.
   */
  rows(tag: number, val: number, sink: number, field: string): { first: number; count: number }[] {
    const items = this.#kept.items(tag, val);
    if (items === undefined) {
      this.bad(field, 0);
      return [];
    }
    const runs: { first: number; count: number }[] = [];
    for (const { tag: each, first, count } of items) {
      if (each === Tag.Row && Math.floor(first / ROWS_PER_SINK) === sink) {
        runs.push({ first: first % ROWS_PER_SINK, count });
        this.countListed(count, field);
      } else this.bad(field, 0, count);
    }
    return runs;
  }

  /** @throws LoadError if shared lists stand for more rows than the file has bytes */
  countListed(rows: number, field: string): void {
    this.#listed += rows;
    if (!this.#growth.allows(this.#listed, 1))
      throw corrupt(`lists of '${field}' stand for more than the file has bytes`);
  }
}
