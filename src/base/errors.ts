/** The error that cancelled work rejects with. */
export function abortError(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}

/** Whether work was cancelled: nothing needs to be shown. */
export function isAbortError(error: unknown): boolean {
  // A DOMException is not an Error on every platform.
  return (
    typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError'
  );
}

/** Anything may be thrown, and some libraries throw strings. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The default of every switch: the types guarantee that it is never reached. */
export function assertUnreachable(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}

/** Throws when an invariant of our own code is broken. Not for checking user input. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}
