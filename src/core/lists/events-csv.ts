/** Rows of events as CSV (RFC 4180), for spreadsheets and scripts: raw numbers, nothing for unknown. */
import { csvField, csvLine, csvNumber } from '../base/csv.ts';
import type { EventRow } from './event-list-types.ts';

const COLUMNS: readonly { readonly name: string; readonly of: (row: EventRow) => string }[] = [
  { name: 'event', of: ({ event }) => String(event) },
  { name: 'action', of: ({ action }) => action },
  { name: 'time_us', of: ({ timeUs }) => csvNumber(timeUs) },
  { name: 'address', of: ({ address }) => address },
  { name: 'size_bytes', of: ({ sizeBytes }) => csvNumber(sizeBytes) },
  { name: 'stream', of: ({ stream }) => stream },
  { name: 'pool', of: ({ pool }) => pool ?? '' },
  { name: 'private_pool', of: ({ privatePool }) => privatePool ?? '' },
  { name: 'allocated_bytes', of: ({ allocatedBytes }) => csvNumber(allocatedBytes) },
  { name: 'reserved_bytes', of: ({ reservedBytes }) => csvNumber(reservedBytes) },
  { name: 'paired_event', of: ({ pair }) => (pair.kind === 'event' ? String(pair.event) : '') },
  { name: 'function', of: ({ frame }) => frame?.name ?? '' },
  { name: 'file', of: ({ frame }) => frame?.filename ?? '' },
  // 0 is the unwinder's way of saying that it knew none.
  {
    name: 'line',
    of: ({ frame }) => (frame === undefined || frame.line === 0 ? '' : String(frame.line)),
  },
];

export const CSV_HEADER = csvLine(COLUMNS.map(({ name }) => name));

/** One line an event, each ended by CR LF; `''` for no rows. */
export function eventsCsv(rows: readonly EventRow[]): string {
  let text = '';
  for (const row of rows) text += csvLine(COLUMNS.map(({ of }) => csvField(of(row))));
  return text;
}
