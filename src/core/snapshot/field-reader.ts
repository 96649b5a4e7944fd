/**
 * Turns the values of the file into the tables' numbers: addresses, sizes, streams, pools, stacks.
 * One place says what each field accepts; what it does not accept is counted as a bad value.
 */
import { AddressSpace } from '../base/address.ts';
import type { RetainedValues } from '../pickle/retained-values.ts';
import { Tag } from '../pickle/types.ts';
import { EMPTY_STACK, NO_STACK, type Pool, type Stream } from './tables.ts';

/** Streams and pools are uint16 columns. */
const MAX_DISTINCT = 65_535;

export class FieldReader {
  readonly addresses = new AddressSpace();
  readonly streams: Stream[] = [];
  readonly pools: Pool[] = [{ id: [0, 0] }];
  /** Values of the wrong kind, by field; they read as 0 or none. */
  readonly badValues = new Map<string, number>();

  readonly #kept: RetainedValues;
  readonly #streamIndex = new Map<bigint, number>();
  readonly #poolIndex = new Map<string, number>([['0,0', 0]]);
  readonly #poolOfTuple = new Map<number, number>();
  #lastStream = Number.NaN;
  #lastStreamIndex = 0;

  constructor(kept: RetainedValues) {
    this.#kept = kept;
  }

  number(tag: number, val: number, field: string): number {
    if (tag === Tag.Int || tag === Tag.Float) return val;
    if (tag === Tag.BigInt) return Number(this.#kept.bigInt(val));
    if (tag === Tag.Bool) return val;
    return tag === Tag.None ? 0 : this.#bad(field, 0);
  }

  address(tag: number, val: number): number {
    if (tag === Tag.Int || tag === Tag.Float) {
      return Number.isFinite(val)
        ? this.addresses.fromNumber(Math.trunc(val))
        : this.#bad('addr', 0);
    }
    if (tag === Tag.BigInt) return this.addresses.fromBigInt(this.#kept.bigInt(val));
    return tag === Tag.None ? 0 : this.#bad('addr', 0);
  }

  stream(tag: number, val: number): number {
    if (tag === Tag.Int && val === this.#lastStream) return this.#lastStreamIndex;
    let handle = 0n;
    if (tag === Tag.Int) handle = BigInt(val);
    else if (tag === Tag.BigInt) handle = this.#kept.bigInt(val);
    else if (tag === Tag.Float && Number.isInteger(val)) handle = BigInt(val);
    else if (tag !== Tag.None) this.#bad('stream', 0);
    const index = this.#indexOfStream(BigInt.asUintN(64, handle));
    if (tag === Tag.Int) {
      this.#lastStream = val;
      this.#lastStreamIndex = index;
    }
    return index;
  }

  #indexOfStream(handle: bigint): number {
    let index = this.#streamIndex.get(handle);
    if (index === undefined) {
      if (this.streams.length === MAX_DISTINCT) return this.#bad('stream', 0);
      index = this.streams.push({ handle }) - 1;
      this.#streamIndex.set(handle, index);
    }
    return index;
  }

  /** pool_id is a pair (capture id, handle id), as a tuple or, in JSON, a list. */
  pool(tag: number, val: number): number {
    if (tag === Tag.None) return 0;
    const cacheKey = tag === Tag.Tuple ? val : -1 - val;
    let index = this.#poolOfTuple.get(cacheKey);
    if (index === undefined) {
      index = this.#indexOfPool(this.#kept.toValue(tag as Tag, val));
      if (tag === Tag.Tuple || tag === Tag.List) this.#poolOfTuple.set(cacheKey, index);
    }
    return index;
  }

  #indexOfPool(value: unknown): number {
    if (!Array.isArray(value) || value.length !== 2) return this.#bad('pool_id', 0);
    const id: [number, number] = [Number(value[0]), Number(value[1])];
    if (!id.every(Number.isInteger)) return this.#bad('pool_id', 0);
    let index = this.#poolIndex.get(id.join());
    if (index === undefined) {
      if (this.pools.length === MAX_DISTINCT) return this.#bad('pool_id', 0);
      index = this.pools.push({ id }) - 1;
      this.#poolIndex.set(id.join(), index);
    }
    return index;
  }

  /** `frames`: a node of the stack tree, or an empty list for "no Python stack on that thread". */
  stack(tag: number, val: number): number {
    if (tag === Tag.Node) return val;
    if (tag === Tag.List && val === 0) return EMPTY_STACK;
    return tag === Tag.None ? NO_STACK : this.#bad('frames', NO_STACK);
  }

  #bad(field: string, instead: number): number {
    this.badValues.set(field, (this.badValues.get(field) ?? 0) + 1);
    return instead;
  }
}
