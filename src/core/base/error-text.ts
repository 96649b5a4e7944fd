/** What was thrown, as text: anything may be, and libraries do throw strings. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
