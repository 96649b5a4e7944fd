/** Long enough for any browser to have begun reading. */
const KEEP_MS = 10_000;

/**
 * Saves a text, whole or in parts, as a file on the user's machine. `mime` without charset: the text
 * is UTF-8.
 */
export function downloadText(name: string, mime: string, text: string | readonly Blob[]): void {
  const parts = typeof text === 'string' ? [text] : [...text];
  const url = URL.createObjectURL(new Blob(parts, { type: `${mime};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}
