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

/** @param doing what failed, should the error be none that we expect: 'The analysis failed' */
export function failureOf(
  error: unknown,
  doing: string,
  advice = '',
  code = 'unexpected',
): LoadFailure {
  if (error instanceof LoadError) return error.failure;
  const message = `${doing}: ${errorText(error)}`;
  return isOutOfMemory(error) ? OUT_OF_MEMORY : new LoadError({ code, message, advice }).failure;
}

/** Matches the messages of V8, SpiderMonkey and JavaScriptCore when a typed array or a Map cannot grow. */
const NO_MEMORY = /allocation failed|invalid array length|out of memory|maximum size exceeded/i;
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof RangeError && NO_MEMORY.test(error.message);

const OUT_OF_MEMORY = new LoadError({
  code: 'out-of-memory',
  message: 'This snapshot needs more memory than one tab or thread is allowed.',
  advice: 'Close other tabs, or read the file with the command line: vramscope stats FILE.',
}).failure;
