/**
 * Rows as text. Allocations and call sites are tab-separated, for pasting into a spreadsheet; events are CSV (RFC
 * 4180), for files.
 */

import { NEVER } from '../../allocator/replay/types.ts';
import { csvField, csvLine, csvNumber } from '../../base/csv.ts';
import { frameLocation, fullPlace, functionText } from '../model/frame-text.ts';
import type { FrameView } from '../model/types.ts';
import type { AllocationRow } from './allocation-rows.ts';
import type { CallSiteRow } from './call-site-table.ts';
import type { EventList } from './event-list.ts';
import type { EventReader, EventRow } from './event-reader.ts';

export type Cell = string | number | undefined;

export const ALLOCATION_COLUMNS: Readonly<Record<string, (row: AllocationRow) => Cell>> = {
  allocation: ({ label }) => label,
  block_bytes: ({ blockBytes }) => blockBytes,
  requested_bytes: ({ requestedBytes }) => requestedBytes,
  waste_bytes: ({ wasteBytes }) => wasteBytes,
  start_event: ({ startEvent }) => known(startEvent),
  end_event: ({ endEvent }) => known(endEvent),
  start_us: ({ startUs }) => startUs,
  end_us: ({ endUs }) => endUs,
  life_events: ({ lifeEvents }) => lifeEvents,
  life_us: ({ lifeUs }) => lifeUs,
  lived_longer: ({ isLifeLonger }) => (isLifeLonger ? 'yes' : 'no'),
  state: ({ state }) => state,
  stream: ({ stream }) => stream,
  pool: ({ pool }) => pool,
  class: (row) => row.class,
  holder: ({ holder }) => holder,
  function: ({ line }) => functionOf(line.topFrame),
  file: ({ line }) => placeOf(line.topFrame),
  calls: ({ line }) => functionOf(line.leafFrame),
};

const CALL_SITE_COLUMNS: Readonly<Record<string, (row: CallSiteRow) => Cell>> = {
  function: ({ line }) => functionOf(line.topFrame),
  file: ({ line }) => placeOf(line.topFrame),
  calls: ({ line }) => functionOf(line.leafFrame),
  allocations: ({ allocations }) => allocations,
  peak_bytes: ({ peakBytes }) => peakBytes,
  end_bytes: ({ endBytes }) => endBytes,
  end_allocations: ({ endCount }) => endCount,
  total_bytes: ({ totalBytes }) => totalBytes,
  largest_bytes: ({ largestBytes }) => largestBytes,
  first_event: ({ firstEvent }) => known(firstEvent),
  last_event: ({ lastEvent }) => known(lastEvent),
  largest_allocation: ({ label }) => label,
  holder: ({ holder }) => holder,
};

/** With a header line. Values that are unknown or outside the trace are empty. */
export function allocationsTsv(rows: readonly AllocationRow[]): string {
  return tsv(ALLOCATION_COLUMNS, rows);
}

export function callSitesTsv(rows: readonly CallSiteRow[]): string {
  return tsv(CALL_SITE_COLUMNS, rows);
}

function tsv<R>(columns: Readonly<Record<string, (row: R) => Cell>>, rows: readonly R[]): string {
  const cells = Object.values(columns);
  const lines = rows.map((row) => cells.map((cell) => cellText(cell(row))).join('\t'));
  return `${[Object.keys(columns).join('\t'), ...lines].join('\n')}\n`;
}

function cellText(cell: Cell): string {
  if (cell === undefined || Number.isNaN(cell)) return '';
  return String(cell).replace(/[\t\r\n]+/g, ' ');
}

const known = (event: number): number | undefined =>
  event < 0 || event === NEVER ? undefined : event;

const functionOf = (frame: FrameView | undefined): string | undefined =>
  frame && functionText(frame);

/** Undefined for C++ without a known file. */
const placeOf = (frame: FrameView | undefined): string | undefined =>
  frame && frameLocation(frame) && fullPlace(frame);

/** Raw numbers; empty if unknown. */
const EVENT_COLUMNS: Readonly<Record<string, (row: EventRow) => string>> = {
  event: ({ event }) => String(event),
  action: ({ action }) => action,
  time_us: ({ timeUs }) => csvNumber(timeUs),
  address: ({ address }) => address,
  size_bytes: ({ sizeBytes }) => csvNumber(sizeBytes),
  stream: ({ stream }) => stream,
  pool: ({ pool }) => pool ?? '',
  private_pool: ({ privatePool }) => privatePool ?? '',
  allocated_bytes: ({ allocatedBytes }) => csvNumber(allocatedBytes),
  reserved_bytes: ({ reservedBytes }) => csvNumber(reservedBytes),
  paired_event: ({ pair }) => (pair.kind === 'event' ? String(pair.event) : ''),
  function: ({ frame }) => frame?.name ?? '',
  file: ({ frame }) => frame?.filename ?? '',
  // The unwinder writes 0 for an unknown line.
  line: ({ frame }) => (frame === undefined || frame.line === 0 ? '' : String(frame.line)),
};

/** What is read at once: a few milliseconds of work. */
const PIECE_ROWS = 5000;

/**
 * A CSV file of events, in pieces: a heading, and a line per event, each ending in CR LF.
 * @param onRows called with the number of events written so far
 */
export function* eventsCsv(
  reader: EventReader,
  list: Pick<EventList, 'length' | 'slice'>,
  onRows?: (rows: number) => void,
): Generator<string> {
  yield csvLine(Object.keys(EVENT_COLUMNS));
  const cells = Object.values(EVENT_COLUMNS);
  for (let from = 0; from < list.length; from += PIECE_ROWS) {
    let text = '';
    for (const row of reader.rows(list.slice(from, from + PIECE_ROWS))) {
      text += csvLine(cells.map((cell) => csvField(cell(row))));
    }
    yield text;
    onRows?.(Math.min(list.length, from + PIECE_ROWS));
  }
}
