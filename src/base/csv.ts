/**
 * Finds formulas at the start of a field, and after characters that separate cells in some countries' spreadsheets:
 * quotes around the field do not protect those. Spaces are skipped. Some programs also accept full-width operators.
 */
const FORMULA =
  /(^|[;\t\r\n])([ \v\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\p{Cf}]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;
/** The whole text must match: '-2+3+cmd' starts like a number. */
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * One field of CSV (RFC 4180), quoted where needed. Names come from untrusted files, so text that a spreadsheet would
 * run as a formula ('=cmd()') gets a leading apostrophe.
 */
export function csvField(text: string): string {
  const safe = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'$2");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** NaN (unknown) becomes an empty field. */
export function csvNumber(value: number): string {
  return Number.isNaN(value) ? '' : String(value);
}

export function csvLine(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}
