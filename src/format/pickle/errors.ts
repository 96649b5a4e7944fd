import { LoadError } from '../../base/load-error.ts';
import { Tag } from './types.ts';

/** A valid pickle with content that the columnar machine does not support; the general decoder may. */
export class DeclinedError extends Error {
  override readonly name = 'DeclinedError';
  readonly byte: number;
  readonly reason: string;
  /** It names a class or function (GLOBAL, REDUCE, …): unpickling it in Python would run code. */
  readonly holdsCode: boolean;
  /** 'os.system', if known. */
  readonly callable: string | undefined;

  constructor(reason: string, byte: number, callable?: string, holdsCode = callable !== undefined) {
    super(reason);
    this.reason = reason;
    this.byte = byte;
    this.callable = callable;
    this.holdsCode = holdsCode;
  }
}

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

/** An item is added to a container that is already closed. Pickles allow this, but PyTorch never writes it. */
export function lateItem(tag: number | undefined): Error {
  const wasContainer = tag === Tag.List || tag === Tag.Dict || tag === Tag.Row || tag === Tag.Node;
  return wasContainer
    ? new DeclinedError('a list or dictionary gets items after it was used', 0)
    : corrupt('items are added to something that holds none');
}
