/** Cancelling is no error: whoever catches one of these shows nothing. */
import { CancelledError } from '../core/base/cancelled.ts';

export function abortError(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}

/** True for the platform's AbortError and for the CancelledError that core throws. */
export function isAbortError(error: unknown): boolean {
  if (error instanceof CancelledError) return true;
  return error instanceof DOMException && error.name === 'AbortError';
}
