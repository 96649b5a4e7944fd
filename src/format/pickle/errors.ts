import { LoadError } from '../../base/load-error.ts';
import { DeclinedError, Tag } from './types.ts';

export const CORRUPT_ADVICE = 'Copy the file again from its source, or dump a new snapshot.';

/** The bytes break the rules of the pickle format. `what` completes "The pickle is damaged: …". */
export function corrupt(what: string, byte?: number): LoadError {
  return new LoadError({
    code: 'corrupt',
    message: `The pickle is damaged: ${what}.`,
    advice: CORRUPT_ADVICE,
    ...(byte === undefined ? {} : { byte }),
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

export function tooManyMarks(): LoadError {
  return corrupt('it opens tens of thousands of values inside each other');
}

/** A container that is no longer open gets an item: legal in a pickle, though PyTorch never writes it. */
export function lateItem(tag: number | undefined): Error {
  const wasContainer = tag === Tag.List || tag === Tag.Dict || tag === Tag.Row || tag === Tag.Node;
  return wasContainer
    ? new DeclinedError('a list or dictionary gets items after it was used', 0)
    : corrupt('items are added to something that holds none');
}
