import { assert } from '../../base/assert.ts';

/** Columns done between two questions whether to stop. */
const COLUMNS_PER_SLICE = 16;

/** Work that goes column by column and can stop between columns, such as a frame that is painted. */
export abstract class ColumnJob<Result> {
  readonly #width: number;
  readonly #columnsPerSlice: number;
  #nextColumn = 0;

  constructor(width: number, columnsPerSlice = COLUMNS_PER_SLICE) {
    this.#width = width;
    this.#columnsPerSlice = columnsPerSlice;
  }

  /**
   * Goes on until all columns are done, and returns the result; or until `shouldStop` says so (asked
   * after every slice), and returns undefined: run again to go on. A run does one slice at least.
   */
  run(shouldStop: () => boolean = () => false): Result | undefined {
    while (this.#nextColumn < this.#width) {
      const stop = Math.min(this.#width, this.#nextColumn + this.#columnsPerSlice);
      for (; this.#nextColumn < stop; this.#nextColumn++) this.doColumn(this.#nextColumn);
      if (this.#nextColumn < this.#width && shouldStop()) return undefined;
    }
    return this.finish();
  }

  /** All columns at once. */
  runToEnd(): Result {
    const result = this.run();
    assert(result !== undefined, 'a job that nothing stops ends');
    return result;
  }

  protected abstract doColumn(column: number): void;
  protected abstract finish(): Result;
}
