/** Keys of events that most files leave at their default, kept as they are written. */
import { type GrowableColumn, growableFloat64, growableInt32 } from '../../base/growable.ts';
import type { Column, ColumnSpec, ColumnType } from '../../base/table.ts';
import { EVENT_COLUMNS } from './tables.ts';

/** Letters of one text: a list of texts may name a long one a thousand times. */
const MAX_TEXT = 1 << 16;

/** The carried columns of {@link EVENT_COLUMNS}, by their key in the file. */
export function carriedColumns(): ReadonlyMap<string, CarriedColumn> {
  const columns = new Map<string, CarriedColumn>();
  for (const spec of Object.values<ColumnSpec>(EVENT_COLUMNS)) {
    if (spec.pickleKey !== undefined) columns.set(spec.pickleKey, new CarriedColumn(spec.type));
  }
  return columns;
}

/**
 * A column that most files leave at its default (no text, no number): costs nothing until the first
 * event that differs.
 */
export class CarriedColumn {
  readonly type: ColumnType;
  readonly #default: number;
  #column: GrowableColumn<Int32Array> | GrowableColumn<Float64Array> | undefined;

  /** @param type 'f64' for counts, 'i32' for rows of strings */
  constructor(type: ColumnType) {
    this.type = type;
    this.#default = type === 'f64' ? Number.NaN : -1;
  }

  set(row: number, value: number): void {
    this.#column ??= this.type === 'f64' ? growableFloat64() : growableInt32();
    while (this.#column.length < row) this.#column.push(this.#default);
    this.#column.push(value);
  }

  /** Undefined when every row has the default. */
  finish(length: number): Column | undefined {
    if (this.#column === undefined) return undefined;
    while (this.#column.length < length) this.#column.push(this.#default);
    return this.#column.finish();
  }
}

/** A value as text: lists of strings by line, dictionaries as JSON. */
export function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return joinLines(value);
  if (value instanceof Map) return JSON.stringify(Object.fromEntries(value), bigIntAsText);
  return typeof value === 'object' ? JSON.stringify(value, bigIntAsText) : String(value ?? '');
}

function joinLines(lines: readonly string[]): string {
  let letters = 0;
  for (const [i, line] of lines.entries()) {
    letters += line.length;
    if (letters > MAX_TEXT) return `${lines.slice(0, i).join('\n')}\n…`;
  }
  return lines.join('\n');
}

function bigIntAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
