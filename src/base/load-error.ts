import { errorText } from './errors.ts';

/** A failure to show to the user. It is plain data, so it can be sent to another thread. */
export interface LoadFailure {
  /** Stable, for tests and the CLI: 'empty', 'png', 'truncated', 'not-a-snapshot', 'holds-code', … */
  readonly code: string;
  /** What is wrong, in one sentence: "This is a PNG image, not a memory snapshot." */
  readonly message: string;
  /** What to do, in one sentence; may be ''. */
  readonly advice: string;
  /** Offset in the decompressed pickle where the failure was noticed; undefined if there is no such place. */
  readonly byte: number | undefined;
  /** Complete events before the error, which `allowPartial` would show; undefined when there are none. */
  readonly partialEvents: number | undefined;
}

/** Thrown for a file that cannot be read. This is expected: show it to the user, don't report it as a bug. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  readonly failure: LoadFailure;

  constructor(failure: Pick<LoadFailure, 'code' | 'message'> & Partial<LoadFailure>) {
    super(failure.message);
    this.failure = { advice: '', byte: undefined, partialEvents: undefined, ...failure };
  }
}

/** @param doing what failed, for unexpected errors: 'The analysis failed' */
export function failureOf(error: unknown, doing: string, advice = ''): LoadFailure {
  if (error instanceof LoadError) return error.failure;
  const message = `${doing}: ${errorText(error)}`;
  return new LoadError({ code: 'unexpected', message, advice }).failure;
}
