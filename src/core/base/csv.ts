/** Also as the full-width letters that some spreadsheets read alike. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** All of it, or it is none: '-2+3+cmd' begins like one. */
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * One field of CSV (RFC 4180), quoted where it needs it. Names come from a file that somebody else
 * may have made: what a spreadsheet would run as a formula ('=cmd()') is given a leading apostrophe.
 */
export function csvField(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Nothing for what is not known. */
export function csvNumber(value: number): string {
  return Number.isNaN(value) ? '' : String(value);
}

/** A line with its end. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}
