/** Errors that are no failure of a file: what was cancelled, and the text of whatever was thrown. */

/** What cancelled work rejects with. */
export function abortError(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}

/** Whoever catches one shows nothing. */
export function isAbortError(error: unknown): boolean {
  // A DOMException, which is no Error everywhere.
  return (
    typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError'
  );
}

/** What was thrown, as text: anything may be, and libraries do throw strings. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
