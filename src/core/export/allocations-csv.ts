import { csvField, csvLine, csvNumber } from '../base/csv.ts';
import { allocationRows } from '../query/allocation-rows/allocation-rows.ts';
import { ALLOCATION_COLUMNS, type Cell } from '../query/allocation-rows/rows-tsv.ts';
import type { DeviceContext } from '../query/device-context.ts';
import { earlierUses } from '../query/event-rows/earlier-uses.ts';

const PIECE = 2000;

/** All allocations in order of their start, as CSV in pieces; states are those at the end. */
export function* allocationsCsv(context: DeviceContext): Generator<string> {
  const columns = Object.entries(ALLOCATION_COLUMNS);
  yield csvLine(columns.map(([name]) => name));
  const { allocations } = context.replay;
  const earlier = earlierUses(allocations);
  for (let from = 0; from < allocations.length; from += PIECE) {
    const ids = Int32Array.from(
      { length: Math.min(PIECE, allocations.length - from) },
      (_, i) => from + i,
    );
    const rows = allocationRows(context, earlier, ids, undefined);
    yield rows.map((row) => csvLine(columns.map(([, of]) => text(of(row))))).join('');
  }
}

function text(cell: Cell): string {
  if (cell === undefined) return '';
  return typeof cell === 'number' ? csvNumber(cell) : csvField(cell);
}
