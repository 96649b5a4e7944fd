/** Thrown when the user cancelled; never shown as an error. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}
