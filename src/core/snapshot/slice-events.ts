/** One device's events out of all events of the file. */
import type { EventTable } from './tables.ts';

type Run = { readonly first: number; readonly count: number };

/**
 * The events of the given runs, in order. One run, which is what PyTorch writes, is a view on the
 * columns and copies nothing.
 */
export function sliceEvents(all: EventTable, runs: readonly Run[]): EventTable {
  const length = runs.reduce((sum, run) => sum + run.count, 0);
  const from = runs[0]?.first ?? 0;
  const isContiguous = runs.every(
    (run, i) => i === 0 || run.first === runs[i - 1].first + runs[i - 1].count,
  );
  const cut = <T extends Float64Array | Int32Array | Uint16Array | Uint8Array>(column: T): T =>
    (isContiguous ? column.subarray(from, from + length) : gather(column, runs, length)) as T;
  const cutOptional = (column: Int32Array | undefined) => {
    const own = column === undefined ? undefined : cut(column);
    return own?.some((value) => value !== -1) ? own : undefined;
  };
  const move = <V>(byEvent: ReadonlyMap<number, V>) => moveKeys(byEvent, runs);
  return {
    length,
    action: cut(all.action),
    address: cut(all.address),
    sizeBytes: cut(all.sizeBytes),
    stream: cut(all.stream),
    stack: cut(all.stack),
    timeUs: all.timeUs === undefined ? undefined : withTimes(cut(all.timeUs)),
    pool: all.pool === undefined ? undefined : cut(all.pool),
    compileContext: cutOptional(all.compileContext),
    userMetadata: cutOptional(all.userMetadata),
    category: cutOptional(all.category),
    forwardFrames: cutOptional(all.forwardFrames),
    oomDeviceFreeBytes: move(all.oomDeviceFreeBytes),
    unknownActions: move(all.unknownActions),
    unknownKeys: new Map(
      [...all.unknownKeys]
        .map(([key, values]) => [key, move(values)] as const)
        .filter(([, v]) => v.size > 0),
    ),
  };
}

/** Undefined when no event has a time. */
function withTimes(timeUs: Float64Array): Float64Array | undefined {
  return timeUs.length === 0 || timeUs.some((time) => !Number.isNaN(time)) ? timeUs : undefined;
}

function gather<T extends Float64Array | Int32Array | Uint16Array | Uint8Array>(
  column: T,
  runs: readonly Run[],
  length: number,
): T {
  const gathered = column.slice(0, 0).constructor as new (length: number) => T;
  const out = new gathered(length);
  let at = 0;
  for (const { first, count } of runs) {
    out.set(column.subarray(first, first + count) as never, at);
    at += count;
  }
  return out;
}

function moveKeys<V>(byEvent: ReadonlyMap<number, V>, runs: readonly Run[]): Map<number, V> {
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
