/** One way to ask for a file that other programs read, in pieces. */
import { assertUnreachable } from '../../base/assert.ts';
import {
  FlameContext,
  type FlameStack,
  flameStacks,
} from '../../device/flame-graph/flame-context.ts';
import { EventReader } from '../../device/lists/event-reader.ts';
import { CSV_HEADER, eventsCsv } from '../../device/lists/rows-text.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { allocationsArrow, eventsArrow } from './arrow-tables.ts';
import { allocationsCsv, countersCsv } from './csv.ts';
import type { ExportKind } from './export-kinds.ts';
import { foldedStacks, speedscopeFile } from './flame-files.ts';
import { perfettoTrace } from './perfetto-trace.ts';

const PIECE = 5000;

/** @throws RangeError in words for the user where the snapshot has not what the file is made of */
export function* exportFile(
  context: DeviceModel,
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
    case 'folded':
      return yield foldedStacks(stacksAtPeak(context), false);
    case 'speedscope':
      return yield JSON.stringify(
        speedscopeFile(stacksAtPeak(context), {
          name: 'active at the peak',
          weight: 'bytes',
          isDifference: false,
        }),
      );
    default:
      return assertUnreachable(kind);
  }
}

/** What was active when most was: its bytes add up to that peak. */
function stacksAtPeak(context: DeviceModel): Iterable<FlameStack> {
  const { event } = context.replay.peaks.activeBytes;
  const set = { kind: 'live', event } as const;
  const shape = { groupBy: 'line', frames: 'known' } as const;
  return flameStacks(new FlameContext(context).flame(shape, { set, weight: 'bytes' }));
}

function* allEventsCsv(context: DeviceModel): Generator<string> {
  yield CSV_HEADER;
  const reader = new EventReader(context);
  const { length } = context.trace.events;
  for (let from = 0; from < length; from += PIECE) {
    const events = Array.from({ length: Math.min(PIECE, length - from) }, (_, i) => from + i);
    yield eventsCsv(reader.rows(events));
  }
}
