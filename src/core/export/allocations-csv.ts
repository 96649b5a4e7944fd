import { csvField, csvLine, csvNumber } from '../base/csv.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { allocationRows } from '../lists/allocation-rows.ts';
import { earlierUses } from '../lists/earlier-uses.ts';
import { ALLOCATION_COLUMNS, type Cell } from '../lists/rows-tsv.ts';

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
