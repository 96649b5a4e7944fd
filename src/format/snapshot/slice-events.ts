/** Selects events from a longer table: one device's, or those of a window. */
import { gather, slice, tableFrom } from '../../base/table.ts';
import { EVENT_COLUMNS, type EventTable } from './tables.ts';

export interface EventRun {
  readonly first: number;
  readonly count: number;
}

/** The events of the given runs, in order. A single run, as PyTorch writes, is a view and copies nothing. */
export function sliceEvents(all: EventTable, runs: readonly EventRun[]): EventTable {
  const length = runs.reduce((sum, run) => sum + run.count, 0);
  const from = runs[0]?.first ?? 0;
  const isContiguous = runs.every(
    (run, i) => i === 0 || run.first === runs[i - 1].first + runs[i - 1].count,
  );
  const unknownKeys = [...all.unknownKeys].map(
    ([key, values]) => [key, move(values, runs)] as const,
  );
  return {
    ...(isContiguous
      ? slice(EVENT_COLUMNS, all, from, from + length)
      : gather(EVENT_COLUMNS, all, rowsOf(runs, length))),
    oomDeviceFreeBytes: move(all.oomDeviceFreeBytes, runs),
    unknownActions: move(all.unknownActions, runs),
    unknownKeys: new Map(unknownKeys.filter(([, values]) => values.size > 0)),
  };
}

/** One device's events. Columns filled only by other devices of the file become undefined. */
export function withoutEmptyColumns(events: EventTable): EventTable {
  const own = tableFrom(EVENT_COLUMNS, events.length, (name, { type, pickleKey }) => {
    const column = events[name as keyof typeof EVENT_COLUMNS];
    const isSaid = (value: number) => (type === 'f64' ? !Number.isNaN(value) : value !== -1);
    if (pickleKey !== undefined) return column?.some(isSaid) ? column : undefined;
    // A device without events shows nothing, so it keeps the file's columns.
    const isTimeless = name === 'timeUs' && events.length > 0 && !column?.some(isSaid);
    return isTimeless ? undefined : column;
  });
  return { ...events, ...own };
}

function rowsOf(runs: readonly EventRun[], length: number): Int32Array {
  const rows = new Int32Array(length);
  let at = 0;
  for (const { first, count } of runs) for (let i = 0; i < count; i++) rows[at++] = first + i;
  return rows;
}

function move<V>(byEvent: ReadonlyMap<number, V>, runs: readonly EventRun[]): Map<number, V> {
  const moved = new Map<number, V>();
  for (const [event, value] of byEvent) {
    let before = 0;
    for (const { first, count } of runs) {
      if (event >= first && event < first + count) moved.set(before + event - first, value);
      before += count;
    }
  }
  return moved;
}
