/**
 * Where a cell can begin: at the start, and behind what separates cells in other countries' spreadsheets, for a field's
 * quotes count only where it is a cell of its own there. Blanks are skipped. Full-width letters are read alike by some.
 */
const FORMULA =
  /(^|[;\t\r\n])([ \v\f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\p{Cf}]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;
/** All of it, or it is none: '-2+3+cmd' begins like one. */
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * One field of CSV (RFC 4180), quoted where it needs it. Names come from a file that somebody else
 * may have made: what a spreadsheet would run as a formula ('=cmd()') is given a leading apostrophe.
 */
export function csvField(text: string): string {
  const safe = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'$2");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Nothing for what is not known. */
export function csvNumber(value: number): string {
  return Number.isNaN(value) ? '' : String(value);
}

/** A line with its end. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}
