/**
 * 64 bits that tell sets of small integers from each other: equal for equal sets, and for two that
 * differ equal once in 2^64. A number that comes or goes costs a few multiplications.
 */
export class Fingerprint {
  /** Sums of two hashes of each number, modulo 2^32. */
  low = 0;
  high = 0;

  reset(): void {
    this.low = 0;
    this.high = 0;
  }

  add(value: number): void {
    this.low = (this.low + hash(value)) | 0;
    this.high = (this.high + hash(~value)) | 0;
  }

  remove(value: number): void {
    this.low = (this.low - hash(value)) | 0;
    this.high = (this.high - hash(~value)) | 0;
  }
}

/** The finish of MurmurHash3: each bit of the value changes half of those of the hash. */
function hash(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
