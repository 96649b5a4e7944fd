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
