const FREE_ROWS = 2 ** 20;

/**
 * How far a column grows when it is full. Where the size of the file is known, what has been read of
 * it says how much is to come: 65,536 events in the first 6 MB of 513 MB make 5.6 million, so one step
 * is enough, nothing is copied twice, and what is not used of it is never touched by the system.
 */
export class GrowthPlan {
  #factor = 2;
  #readBytes = 0;

  /** Tells that `readBytes` of `totalBytes` have been read; undefined where the size is not known. */
  progress(readBytes: number, totalBytes: number | undefined): void {
    this.#readBytes = readBytes;
    if (readBytes > 0 && totalBytes !== undefined)
      this.#factor = Math.min(Math.max((totalBytes / readBytes) * 1.04, 1.1), 4096);
  }

  /**
   * Whether `rows` are no more than what was read can hold, at `bytesPerRow` each: a few bytes of a
   * hostile file may stand for gigabytes. The first million is free, so that nobody need say at each
   * byte how far reading is.
   */
  allows(rows: number, bytesPerRow: number): boolean {
    return rows <= FREE_ROWS || rows * bytesPerRow <= this.#readBytes;
  }

  /** Capacity to grow to from `length` full rows. */
  next(length: number): number {
    return Math.ceil(length * this.#factor) + 1024;
  }
}
