/** The export formats of a device: how the page and the command line describe each, and what makes it. */

import { COUNTER_NAMES, type CounterName } from '../../allocator/replay/types.ts';
import { csvField, csvLine, csvNumber } from '../../base/csv.ts';
import {
  FlameContext,
  type FlameStack,
  flameStacks,
} from '../../device/flame-graph/flame-context.ts';
import { allocationRow } from '../../device/lists/allocation-rows.ts';
import { EventList } from '../../device/lists/event-list.ts';
import { EventReader } from '../../device/lists/event-reader.ts';
import { upTo } from '../../device/lists/order-by-keys.ts';
import { ALLOCATION_COLUMNS, type Cell, eventsCsv } from '../../device/lists/rows-text.ts';
import { cardHistory, rowLabel } from '../../device/model/card.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { crosshairAt } from '../../device/model/events.ts';
import { allocationsArrow, eventsArrow } from './arrow-tables.ts';
import { foldedStacks, speedscopeFile } from './flame-files.ts';
import { perfettoTrace } from './perfetto-trace.ts';

export interface ExportChoice {
  readonly label: string;
  readonly about: string;
  readonly extension: string;
  readonly mime: string;
  /** The recording must have timestamps. */
  readonly needsTime?: true;
}

interface Export extends ExportChoice {
  /** The file in pieces. @throws RangeError with a message for the user if the snapshot lacks what the file needs */
  readonly make: (device: DeviceModel) => Iterable<string | Uint8Array<ArrayBuffer>>;
}

const CSV = 'text/csv';
const ARROW = 'application/vnd.apache.arrow.file';
const JSON_MIME = 'application/json';

export const EXPORTS = {
  'counters-csv': {
    label: 'Counters, CSV',
    about: 'five counters after each event',
    extension: 'counters.csv',
    mime: CSV,
    make: countersCsv,
  },
  'allocations-csv': {
    label: 'Allocations, CSV',
    about: 'one line per allocation',
    extension: 'allocations.csv',
    mime: CSV,
    make: allocationsCsv,
  },
  'allocations-arrow': {
    label: 'Allocations, Arrow',
    about: 'with whole stacks',
    extension: 'allocations.arrow',
    mime: ARROW,
    make: (device) => [allocationsArrow(device)],
  },
  'events-csv': {
    label: 'Events, CSV',
    about: 'one line per event',
    extension: 'events.csv',
    mime: CSV,
    make: (device) => eventsCsv(new EventReader(device), allEvents(device)),
  },
  'events-arrow': {
    label: 'Events, Arrow',
    about: 'with whole stacks',
    extension: 'events.arrow',
    mime: ARROW,
    make: (device) => [eventsArrow(device)],
  },
  'card-csv': {
    label: 'The whole card, CSV',
    about: 'one line per sample and row, if a ledger was recorded',
    extension: 'card.csv',
    mime: CSV,
    make: cardCsv,
  },
  perfetto: {
    label: 'Trace for Perfetto',
    about: 'counters and annotations, on the clock of a Kineto trace',
    extension: 'perfetto.json',
    mime: JSON_MIME,
    needsTime: true,
    make: perfettoTrace,
  },
  folded: {
    label: 'Folded stacks',
    about: 'what is active at the peak',
    extension: 'folded.txt',
    mime: 'text/plain',
    make: (device) => [foldedStacks(stacksAtPeak(device), false)],
  },
  speedscope: {
    label: 'speedscope',
    about: 'what is active at the peak',
    extension: 'speedscope.json',
    mime: JSON_MIME,
    make: (device) => [JSON.stringify(speedscopeFile(stacksAtPeak(device), AT_PEAK))],
  },
} as const satisfies Readonly<Record<string, Export>>;

export type ExportKind = keyof typeof EXPORTS;
export const EXPORT_KINDS = Object.keys(EXPORTS) as readonly ExportKind[];

const AT_PEAK = { name: 'active at the peak', weight: 'bytes', isDifference: false } as const;

/** The allocations at the peak of active memory; their bytes add up to it. */
function stacksAtPeak(device: DeviceModel): Iterable<FlameStack> {
  const { event } = device.replay.peaks.activeBytes;
  const set = { kind: 'live', event } as const;
  const shape = { groupBy: 'line', frames: 'known' } as const;
  return flameStacks(new FlameContext(device).flame(shape, { set, weight: 'bytes' }));
}

const allEvents = ({ trace }: DeviceModel): EventList =>
  new EventList(upTo(trace.events.length), []);

/** A few milliseconds of work. */
const ROWS_A_PIECE = 4000;

function* csvPieces(
  head: readonly (readonly string[])[],
  length: number,
  linesOf: (rows: Int32Array) => readonly string[],
): Generator<string> {
  yield head.map(csvLine).join('');
  for (let from = 0; from < length; from += ROWS_A_PIECE) {
    const count = Math.min(ROWS_A_PIECE, length - from);
    yield linesOf(Int32Array.from({ length: count }, (_, i) => from + i)).join('');
  }
}

/** All allocations by start, as CSV in pieces; states are those at the end. */
function allocationsCsv(context: DeviceModel): Generator<string> {
  const cells = Object.values(ALLOCATION_COLUMNS);
  const { allocations } = context.replay;
  const lineOf = (id: number): string => {
    const row = allocationRow(context, id, undefined);
    return csvLine(cells.map((of) => text(of(row))));
  };
  return csvPieces([Object.keys(ALLOCATION_COLUMNS)], allocations.length, (ids) =>
    Array.from(ids, lineOf),
  );
}

function text(cell: Cell): string {
  if (cell === undefined) return '';
  return typeof cell === 'number' ? csvNumber(cell) : csvField(cell);
}

/**
 * The five counters after each event, as CSV in pieces. The first line names the columns; row -1 is the state before
 * the trace.
 */
function countersCsv(context: DeviceModel): Iterable<string> {
  const { replay, trace } = context;
  const before = ['-1', '', '', ...COUNTER_NAMES.map((name) => csvNumber(replay.start[name]))];
  const header = ['event', 'time_us', 'action', ...COUNTER_NAMES.map(columnName)];
  return csvPieces([header, before], trace.events.length, (events) => {
    const columns = COUNTER_NAMES.map((name) => {
      const column = new Float64Array(events.length);
      replay.fillCounter(name, events[0], column);
      return column;
    });
    return Array.from(events, (event, i) => {
      const { action, timeUs } = crosshairAt(context, event);
      const values = columns.map((column) => csvNumber(column[i]));
      return csvLine([String(event), csvNumber(timeUs), csvField(action), ...values]);
    });
  });
}

/** Every row of every sample; the rows of a sample add up to the card. Only the heading without a ledger. */
function* cardCsv(context: DeviceModel): Generator<string> {
  yield csvLine(['event', 'time_us', 'moment', 'step', 'row', 'bytes']);
  for (const { event, timeUs, moment, step, rows } of cardHistory(context)?.samples ?? []) {
    const when = [String(event), csvNumber(timeUs), moment, step === undefined ? '' : String(step)];
    yield rows
      .map((row) => csvLine([...when, csvField(rowLabel(row)), csvNumber(row.bytes)]))
      .join('');
  }
}

/** 'inactiveSplitBytes' becomes 'inactive_split_bytes'. */
function columnName(name: CounterName): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
