import type { Column } from './columns.ts';
import { damagedAt } from './failures.ts';

/** Rows of another table that a column may name. */
export interface Limit {
  readonly least: number;
  readonly below: number;
}

/** The columns of one table: all there, of one length, and naming rows that exist. */
export class TableReader {
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #table: string;
  /** Of the first column read; those after it must be as long. */
  #length: number | undefined;

  constructor(columns: ReadonlyMap<string, Column>, table: string) {
    this.#columns = columns;
    this.#table = table;
  }

  has(name: string): boolean {
    return this.#columns.has(`${this.#table}.${name}`);
  }

  f64(name: string): Float64Array {
    return this.#typed(name, Float64Array, undefined, 0);
  }

  /** @param extra rows more than the table has: 1 for a column of edges */
  i32(name: string, limit?: Limit, extra = 0): Int32Array {
    return this.#typed(name, Int32Array, limit, extra);
  }

  optionalI32(name: string, limit: Limit): Int32Array | undefined {
    return this.has(name) ? this.i32(name, limit) : undefined;
  }

  u16(name: string, limit?: Limit): Uint16Array {
    return this.#typed(name, Uint16Array, limit, 0);
  }

  u8(name: string, limit?: Limit): Uint8Array {
    return this.#typed(name, Uint8Array, limit, 0);
  }

  #typed<T extends Column>(
    name: string,
    type: new (length: number) => T,
    limit: Limit | undefined,
    extra: number,
  ): T {
    const column = this.#columns.get(`${this.#table}.${name}`);
    if (!(column instanceof type)) throw damagedAt(0);
    this.#length ??= column.length - extra;
    if (column.length !== this.#length + extra) throw damagedAt(0);
    if (limit !== undefined && !isWithin(column, limit)) throw damagedAt(0);
    return column;
  }
}

function isWithin(column: Column, { least, below }: Limit): boolean {
  for (const value of column) {
    if (!(value >= least && value < below)) return false;
  }
  return true;
}
