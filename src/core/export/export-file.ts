/** One way to ask for a file that other programs read, in pieces. */
import { assertUnreachable } from '../base/assert.ts';
import type { DeviceContext } from '../query/device-context.ts';
import { EventReader } from '../query/event-rows/event-reader.ts';
import { CSV_HEADER, eventsCsv } from '../query/event-rows/events-csv.ts';
import { allocationsCsv } from './allocations-csv.ts';
import { allocationsArrow, eventsArrow } from './arrow-tables.ts';
import { countersCsv } from './counters-csv.ts';
import type { ExportKind } from './export-kinds.ts';
import { perfettoTrace } from './perfetto-trace.ts';

const PIECE = 5000;

/** @throws RangeError in words for the user where the snapshot has not what the file is made of */
export function* exportFile(
  context: DeviceContext,
  kind: ExportKind,
): Generator<string | Uint8Array<ArrayBuffer>> {
  switch (kind) {
    case 'counters-csv':
      return yield* countersCsv(context);
    case 'allocations-csv':
      return yield* allocationsCsv(context);
    case 'events-csv':
      return yield* allEventsCsv(context);
    case 'allocations-arrow':
      return yield allocationsArrow(context);
    case 'events-arrow':
      return yield eventsArrow(context);
    case 'perfetto':
      return yield* perfettoTrace(context);
    default:
      return assertUnreachable(kind);
  }
}

function* allEventsCsv(context: DeviceContext): Generator<string> {
  yield CSV_HEADER;
  const reader = new EventReader(context);
  const { length } = context.trace.events;
  for (let from = 0; from < length; from += PIECE) {
    const events = Array.from({ length: Math.min(PIECE, length - from) }, (_, i) => from + i);
    yield eventsCsv(reader.rows(events));
  }
}
