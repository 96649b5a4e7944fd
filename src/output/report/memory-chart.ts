import type { CounterName, Replay } from '../../allocator/replay/types.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/** Eighths of a character cell, from the bottom. */
const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const CACHED = '░';
const ROWS = 6;
/** Width of '1023.99 MiB'. */
const LABEL_WIDTH = 11;

/**
 * Allocated bytes over the events as solid columns, with reserved memory shaded above. Each column shows the highest
 * value of its events. A caret on the axis marks each of `ooms`:
 *
 *       1.31 GiB ┤        ░░░░░░░░░░░░░░
 *                │   ▁░░░░░░░░░▇░░░░░░▇░
 *                │ ▂█▇█▆▄█▂█▅▃█▂█▆▄█▂█▅▃
 *        0 bytes ┼──────────────^───────
 */
export function memoryChart(
  { trace, replay }: DeviceModel,
  ooms: readonly EventIndex[],
  columns: number,
): string[] {
  const { events } = trace;
  if (events.length === 0) return [];
  const width = columns - LABEL_WIDTH - 4;
  const allocated = memoryCurve(replay, 'allocatedBytes', events.length, width);
  const reserved = memoryCurve(replay, 'reservedBytes', events.length, width);
  const top = Math.max(...reserved, ...allocated);
  if (top === 0) return [];
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const row = ROWS - 1 - i;
    const cells = Array.from(allocated, (bytes, column) =>
      cell(levelOf(bytes, top), levelOf(reserved[column], top), row),
    );
    const label =
      i === 0 ? `${formatBytes(top).padStart(LABEL_WIDTH)} ┤` : `${' '.repeat(LABEL_WIDTH)} │`;
    return `${label} ${cells.join('')}`.trimEnd();
  });
  const first = '0';
  const last = `${formatCount(events.length)} events`;
  return [
    ...lines,
    `${formatBytes(0).padStart(LABEL_WIDTH)} ┼─${axisCells(ooms, events.length, width)}`,
    `${' '.repeat(LABEL_WIDTH + 3)}${first}${last.padStart(width - first.length)}`,
  ];
}

/** Height in eighths of a cell, at least one for anything above 0. */
function levelOf(bytes: number, top: number): number {
  const level = Math.round((bytes / top) * ROWS * 8);
  return bytes > 0 ? Math.max(1, level) : 0;
}

function cell(allocated: number, reserved: number, row: number): string {
  const base = row * 8;
  if (allocated > base) return EIGHTHS[Math.min(8, allocated - base)];
  return reserved > base ? CACHED : ' ';
}

function axisCells(ooms: readonly EventIndex[], events: number, width: number): string {
  const cells = Array<string>(width).fill('─');
  for (const oom of ooms) cells[columnOf(oom, events, width)] = '^';
  return cells.join('');
}

/** The last column that shows an event's state; matches the rounding in memoryCurve. */
function columnOf(event: number, events: number, columns: number): number {
  return Math.ceil(((event + 1) * columns) / events) - 1;
}

/** Events read at once, to bound memory whatever the length of the trace. */
const CHUNK = 1 << 15;

/**
 * Highest value of a counter in each of `columns` equal parts of the trace. With fewer events than columns, neighbors
 * show the same state. `events` must be positive. Example: counters 1, 5, 2, 3 in 2 columns give 5 and 3.
 */
export function memoryCurve(
  replay: Pick<Replay, 'fillCounter'>,
  name: CounterName,
  events: number,
  columns: number,
): Float64Array {
  const curve = new Float64Array(columns);
  const chunk = new Float64Array(Math.min(CHUNK, events));
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * events) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * events) / columns));
    for (let at = from; at < to; at += chunk.length) {
      const values = chunk.subarray(0, Math.min(chunk.length, to - at));
      replay.fillCounter(name, at, values);
      curve[column] = Math.max(curve[column], highest(values));
    }
  }
  return curve;
}
