import { LoadError } from '../base/load-error.ts';
import { DeclinedError, Tag } from './types.ts';

/** The bytes break the rules of the pickle format. `what` completes "The pickle is damaged: …". */
export function corrupt(what: string, byte?: number): LoadError {
  return new LoadError({
    code: 'corrupt',
    message: `The pickle is damaged: ${what}.`,
    advice: 'Copy the file again from its source, or dump a new snapshot.',
    ...(byte === undefined ? {} : { byte }),
  });
}

export function tooManyMarks(): LoadError {
  return corrupt('it opens tens of thousands of values inside each other');
}

export function tooMuchPending(): LoadError {
  return corrupt('it begins millions of values that it does not end');
}

/** A container that is no longer open gets an item: legal in a pickle, though PyTorch writes none such. */
export function lateItem(tag: number | undefined): Error {
  const wasContainer = tag === Tag.List || tag === Tag.Dict || tag === Tag.Row || tag === Tag.Node;
  return wasContainer
    ? new DeclinedError('a list or dictionary gets items after it was used', 0)
    : corrupt('items are added to something that holds none');
}
