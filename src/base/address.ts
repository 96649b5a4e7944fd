/**
 * 64-bit device addresses as exact float64 keys.
 *
 * CUDA addresses lie below 2^53 and are their own keys. XPU and HIP use addresses up to 2^64, which a float64 would
 * round. These are divided into regions of 2^47 bytes. The n-th region seen gets the keys from 2^52 + n * 2^47, so keys
 * are exact integers that sort and add like addresses within a region. Example: 0xff00_0000_0000_0200 is offset 0x200
 * of the first region seen. Its key is 2^52 + 0x200, and `toBigInt` restores it.
 */
import { LoadError } from './load-error.ts';

const REGION = 2 ** 47;
const REGION_BITS = 47n;
const FIRST_REGION_KEY = 2 ** 52;
export const MAX_REGIONS = 32;

export type AddressKey = number;

export class AddressSpace {
  /** Upper bits (address >> 47) of the regions, in the order they were first seen. */
  readonly regions: bigint[] = [];

  /** An address below 2^52 is its own key. */
  fromNumber(address: number): AddressKey {
    return address >= 0 && address < FIRST_REGION_KEY ? address : this.fromBigInt(BigInt(address));
  }

  /** Negative numbers are read as two's complement: -4096n is 0xffff_ffff_ffff_f000. */
  fromBigInt(address: bigint): AddressKey {
    const unsigned = BigInt.asUintN(64, address);
    if (unsigned < BigInt(FIRST_REGION_KEY)) return Number(unsigned);
    const region = unsigned >> REGION_BITS;
    let index = this.regions.indexOf(region);
    if (index < 0) {
      if (this.regions.length === MAX_REGIONS) {
        throw new LoadError({
          code: 'too-many-regions',
          message: `The file holds impossible addresses: they span more than ${MAX_REGIONS} regions of 128 TiB.`,
          advice: 'Copy the file again from its source, or dump a new snapshot.',
        });
      }
      index = this.regions.push(region) - 1;
    }
    return FIRST_REGION_KEY + index * REGION + Number(unsigned & (BigInt(REGION) - 1n));
  }

  /** The key of an address in a region seen before. Unlike {@link fromBigInt}, this never adds a region. */
  find(address: bigint): AddressKey | undefined {
    const isKnown =
      address < BigInt(FIRST_REGION_KEY) || this.regions.includes(address >> REGION_BITS);
    return isKnown ? this.fromBigInt(address) : undefined;
  }

  toBigInt(key: AddressKey): bigint {
    if (key < FIRST_REGION_KEY) return BigInt(key);
    const index = Math.floor((key - FIRST_REGION_KEY) / REGION);
    const offset = (key - FIRST_REGION_KEY) % REGION;
    return (this.regions[index] << REGION_BITS) + BigInt(offset);
  }

  /** Lower-case hex without a prefix, as PyTorch's viewer writes addresses: `7f064c000000`. */
  toHex(key: AddressKey): string {
    return this.toBigInt(key).toString(16);
  }
}

const MULTIPLIER = 0x9e3779b1;

/**
 * A hash map from addresses to rows: open addressing over typed arrays. A trace of 5.7 million events makes ten million
 * look-ups, and a Map of floats takes 100 ns for each.
 */
export class AddressMap {
  #keys = new Float64Array(1 << 10).fill(-1);
  #values = new Int32Array(1 << 10);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** The row of an address, or -1. */
  get(address: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    for (let slot = hash(address) & mask; ; slot = (slot + 1) & mask) {
      if (keys[slot] === address) return this.#values[slot];
      if (keys[slot] === -1) return -1;
    }
  }

  /** Returns the row stored before, or -1. */
  set(address: number, row: number): number {
    if (this.#count * 2 >= this.#keys.length) this.#grow();
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = hash(address) & mask;
    while (keys[slot] !== -1 && keys[slot] !== address) slot = (slot + 1) & mask;
    const before = keys[slot] === -1 ? -1 : this.#values[slot];
    if (before === -1) this.#count++;
    keys[slot] = address;
    this.#values[slot] = row;
    return before;
  }

  /** Moves later entries up into the hole, so look-ups need no tombstones. */
  delete(address: number): void {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let hole = hash(address) & mask;
    while (keys[hole] !== address) {
      if (keys[hole] === -1) return;
      hole = (hole + 1) & mask;
    }
    this.#count--;
    for (let slot = (hole + 1) & mask; keys[slot] !== -1; slot = (slot + 1) & mask) {
      const home = hash(keys[slot]) & mask;
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        keys[hole] = keys[slot];
        this.#values[hole] = this.#values[slot];
        hole = slot;
      }
    }
    keys[hole] = -1;
  }

  rows(): number[] {
    const rows: number[] = [];
    for (let slot = 0; slot < this.#keys.length; slot++) {
      if (this.#keys[slot] !== -1) rows.push(this.#values[slot]);
    }
    return rows;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Float64Array(keys.length * 2).fill(-1);
    this.#values = new Int32Array(keys.length * 2);
    this.#count = 0;
    for (let slot = 0; slot < keys.length; slot++) {
      if (keys[slot] !== -1) this.set(keys[slot], values[slot]);
    }
  }
}

/** Addresses have up to 53 bits and are multiples of 512, so their low bits carry no information. */
function hash(address: number): number {
  const low = (address / 512) | 0;
  const mixed = Math.imul(low ^ ((address / 2 ** 41) | 0), MULTIPLIER);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
