/** A failure a user should read: plain data, so that it can cross to another thread. */
export interface LoadFailure {
  /** Stable, for tests and the CLI: 'empty', 'png', 'truncated', 'not-a-snapshot', 'holds-code', … */
  readonly code: string;
  /** What it is, in one sentence: "This is a PNG image, not a memory snapshot." */
  readonly message: string;
  /** What to do, in one sentence; may be ''. */
  readonly advice: string;
  /** Offset at which it was noticed, in the decompressed pickle; undefined where there is no such place. */
  readonly byte: number | undefined;
  /** Whole events before the fault that `allowPartial` would show; undefined when there are none. */
  readonly partialEvents: number | undefined;
}

/** Thrown for a file that cannot be read. Expected: shown to the user, never a bug report. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  readonly failure: LoadFailure;

  constructor(failure: Pick<LoadFailure, 'code' | 'message'> & Partial<LoadFailure>) {
    super(failure.message);
    this.failure = { advice: '', byte: undefined, partialEvents: undefined, ...failure };
  }
}
