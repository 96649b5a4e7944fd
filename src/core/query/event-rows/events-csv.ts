/** Rows of events as CSV (RFC 4180), for spreadsheets and scripts: raw numbers, nothing for unknown. */
import type { EventRow } from './types.ts';

const COLUMNS: readonly { readonly name: string; readonly of: (row: EventRow) => string }[] = [
  { name: 'event', of: ({ event }) => String(event) },
  { name: 'action', of: ({ action }) => action },
  { name: 'time_us', of: ({ timeUs }) => number(timeUs) },
  { name: 'address', of: ({ address }) => address },
  { name: 'size_bytes', of: ({ sizeBytes }) => number(sizeBytes) },
  { name: 'stream', of: ({ stream }) => stream },
  { name: 'pool', of: ({ pool }) => pool ?? '' },
  { name: 'private_pool', of: ({ privatePool }) => privatePool ?? '' },
  { name: 'allocated_bytes', of: ({ allocatedBytes }) => number(allocatedBytes) },
  { name: 'reserved_bytes', of: ({ reservedBytes }) => number(reservedBytes) },
  { name: 'paired_event', of: ({ pair }) => (pair.kind === 'event' ? String(pair.event) : '') },
  { name: 'function', of: ({ frame }) => frame?.name ?? '' },
  { name: 'file', of: ({ frame }) => frame?.filename ?? '' },
  // 0 is the unwinder's way of saying that it knew none.
  {
    name: 'line',
    of: ({ frame }) => (frame === undefined || frame.line === 0 ? '' : String(frame.line)),
  },
];

export const CSV_HEADER = `${COLUMNS.map(({ name }) => name).join(',')}\r\n`;

/** One line an event, each ended by CR LF; `''` for no rows. */
export function eventsCsv(rows: readonly EventRow[]): string {
  let text = '';
  for (const row of rows) text += `${COLUMNS.map(({ of }) => field(of(row))).join(',')}\r\n`;
  return text;
}

function number(value: number): string {
  return Number.isNaN(value) ? '' : String(value);
}

/**
 * Quoted where CSV needs it. Names come from a file that somebody else may have made: what a
 * spreadsheet would run as a formula ('=cmd()') is given a leading apostrophe.
 */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
