/**
 * How far a column grows when it is full. Where the size of the file is known, what has been read of
 * it says how much is to come: 65,536 events in the first 6 MB of 513 MB make 5.6 million, so one step
 * is enough, nothing is copied twice, and what is not used of it is never touched by the system.
 */
export class GrowthPlan {
  #factor = 2;

  /** Tells that `readBytes` of `totalBytes` have been read. */
  progress(readBytes: number, totalBytes: number): void {
    if (readBytes > 0)
      this.#factor = Math.min(Math.max((totalBytes / readBytes) * 1.04, 1.1), 4096);
  }

  /** Capacity to grow to from `length` full rows. */
  next(length: number): number {
    return Math.ceil(length * this.#factor) + 1024;
  }
}
