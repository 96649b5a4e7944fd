/**
 * 64-bit device addresses as exact float64 keys.
 *
 * CUDA addresses lie below 2^53 and are their own key. XPU and HIP hand out addresses up to 2^64
 * that a float64 would round. Those are cut in regions of 2^47 bytes; the n-th region met gets the
 * keys from 2^52 + n * 2^47. So keys stay exact integers, sort and add like addresses within a
 * region, and go back to the exact address. Example: 0xff00_0000_0000_0200 is offset 0x200 of the
 * first region met, its key is 2^52 + 0x200, and `toBigInt` of that key gives it back.
 */
import { LoadError } from './load-error.ts';

const REGION = 2 ** 47;
const REGION_BITS = 47n;
const FIRST_REGION_KEY = 2 ** 52;
export const MAX_REGIONS = 32;

/** Float64 that stands for a 64-bit address; see {@link AddressSpace}. */
export type AddressKey = number;

export class AddressSpace {
  /** Upper bits (address >> 47) of the regions met, in order of first meeting. */
  readonly regions: bigint[] = [];

  /** Key of an address below 2^52 is the address itself; others go by {@link fromBigInt}. */
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

  /** Key of an address if it lies in a region met so far; unlike {@link fromBigInt} it adds none. */
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

  /** Lower-case hex without prefix, as PyTorch's viewer writes addresses: `7f064c000000`. */
  toHex(key: AddressKey): string {
    return this.toBigInt(key).toString(16);
  }
}
