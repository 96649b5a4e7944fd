/** A frame that is painted column by column, and can stop between them. */
import { assert } from '../base/assert.ts';

/** Columns painted between two questions whether to stop. */
const COLUMNS_A_SLICE = 16;

export abstract class SlicedColumns<F> {
  readonly #width: number;
  #nextColumn = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /**
   * Paints on until the frame is whole, and returns it; or until `shouldStop` says so (asked every
   * 16 columns), and returns undefined: run again to go on. At least 16 columns are painted a run.
   */
  run(shouldStop: () => boolean = () => false): F | undefined {
    while (this.#nextColumn < this.#width) {
      const stop = Math.min(this.#width, this.#nextColumn + COLUMNS_A_SLICE);
      for (; this.#nextColumn < stop; this.#nextColumn++) this.paintColumn(this.#nextColumn);
      if (this.#nextColumn < this.#width && shouldStop()) return undefined;
    }
    return this.finish();
  }

  /** The whole frame at once. */
  runToEnd(): F {
    const frame = this.run();
    assert(frame !== undefined, 'a job that nothing stops ends');
    return frame;
  }

  protected abstract paintColumn(column: number): void;
  protected abstract finish(): F;
}
