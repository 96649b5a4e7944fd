import { LoadError } from '../../base/load-error.ts';

export const CORRUPT_ADVICE = 'Copy the file again from its source, or dump a new snapshot.';

/** The bytes break the rules of the pickle format. `what` completes "The pickle is damaged: …". */
export function corrupt(what: string): LoadError {
  return new LoadError({
    code: 'corrupt',
    message: `The pickle is damaged: ${what}.`,
    advice: CORRUPT_ADVICE,
  });
}

/** The bytes end before the pickle does. */
export function truncatedPickle(byte: number): LoadError {
  return new LoadError({
    code: 'truncated',
    message: `The file is truncated: the pickle breaks off after ${byte} bytes.`,
    advice: 'Writing or copying was interrupted: copy the file again, or dump a new snapshot.',
    byte,
  });
}

export const tooManyMarks = (): LoadError =>
  corrupt('it opens tens of thousands of values inside each other');
