/**
 * Tables of equal-length typed columns. A schema describes the values of each column; slicing, copying, renumbering and
 * checking follow from it.
 *
 *   const FRUIT = { name: { type: 'i32', ref: 'string' }, grams: { type: 'f64', optional: true } } as const;
 *   type FruitTable = TableOf<typeof FRUIT>; // { length, name: Int32Array, grams: Float64Array | undefined }
 *
 * To add a column, add a line to the schema. Code that fills tables row by row is written by hand.
 */

interface Arrays {
  readonly f64: Float64Array;
  readonly i32: Int32Array;
  readonly u16: Uint16Array;
  readonly u8: Uint8Array;
}
export const ARRAYS = { f64: Float64Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array };

/** Sizes in bytes, or microseconds: 32 bits each if all are below 2^32, else 64. */
export type NarrowColumn = Float64Array | Uint32Array;

export type ColumnType = keyof Arrays;
export type Column = Arrays[ColumnType] | NarrowColumn;

export interface ColumnSpec {
  readonly type: ColumnType;
  /** The table that the values are rows of: 'string', 'stack'. */
  readonly ref?: string;
  /** With `ref`: -1 means no row. */
  readonly orNone?: true;
  /** Without `ref`: values are 0 to `below` - 1. */
  readonly below?: number;
  /** Values are exact whole numbers from 0: bytes, addresses. */
  readonly isCount?: true;
  /** With type 'f64': a {@link NarrowColumn}; see {@link finished}. */
  readonly mayNarrow?: true;
  /** Undefined in a table that has no such values. */
  readonly optional?: true;
  /** Row i covers rows value i to before value i + 1 of `ref`, so there is one value more than rows. */
  readonly isEdges?: true;
  /** The key in PyTorch's dictionary, for a column that is kept as it is written there. */
  readonly pickleKey?: string;
}

export type TableSchema = Readonly<Record<string, ColumnSpec>>;

export type TableOf<S extends TableSchema> = { readonly length: number } & {
  readonly [K in keyof S]:
    | Arrays[S[K]['type']]
    | (S[K] extends { readonly mayNarrow: true } ? Uint32Array : never)
    | (S[K] extends { readonly optional: true } ? undefined : never);
};

/** The same with all optional columns present. */
export type FullTableOf<S extends TableSchema> = { readonly length: number } & {
  readonly [K in keyof S]: Arrays[S[K]['type']];
};

/** Builds a table from the columns that `columnOf` returns. It may return undefined only for optional ones. */
export function tableFrom<S extends TableSchema>(
  schema: S,
  length: number,
  columnOf: (name: string, spec: ColumnSpec) => Column | undefined,
): TableOf<S> {
  const table: Record<string, Column | number | undefined> = { length };
  for (const [name, spec] of Object.entries(schema)) table[name] = columnOf(name, spec);
  return table as TableOf<S>;
}

/** All columns, optional ones too, filled with zeros. */
export function createTable<S extends TableSchema>(schema: S, length: number): FullTableOf<S> {
  const zeros = (_: string, spec: ColumnSpec) => new ARRAYS[spec.type](lengthOf(spec, length));
  return tableFrom(schema, length, zeros) as FullTableOf<S>;
}

/** One row's values by column. */
export type RowOf<S extends TableSchema> = { readonly [K in keyof S]: number };

/** A table of rows. Of edges, it leaves the last at 0. */
export function fromRows<S extends TableSchema>(
  schema: S,
  rows: readonly { readonly [K in keyof S]: number | boolean }[],
): FullTableOf<S> {
  const table = createTable(schema, rows.length);
  for (const name of Object.keys(schema)) {
    const column = present(table, name);
    for (let row = 0; row < rows.length; row++) column[row] = Number(rows[row][name]);
  }
  return table;
}

/** The same rows with room for `length`. */
export function grow<S extends TableSchema>(
  schema: S,
  table: FullTableOf<S>,
  length: number,
): FullTableOf<S> {
  const larger = createTable(schema, length);
  for (const name of Object.keys(schema)) columnOf(larger, name)?.set(present(table, name));
  return larger;
}

export function pick<S extends TableSchema, K extends keyof S & string>(
  schema: S,
  names: readonly K[],
): Pick<S, K> {
  return Object.fromEntries(names.map((name) => [name, schema[name]])) as Pick<S, K>;
}

/** Rows `from` to before `to`, as views. Edge columns keep their values. */
export function slice<S extends TableSchema>(
  schema: S,
  table: Omit<TableOf<S>, 'length'>,
  from: number,
  to: number,
): TableOf<S> {
  return tableFrom(schema, to - from, (name, spec) =>
    columnOf(table, name)?.subarray(from, from + lengthOf(spec, to - from)),
  );
}

/** Copies the given rows, in that order. Rows 2, 0 of a, b, c give c, a. Not for tables with edges. */
export function gather<S extends TableSchema>(
  schema: S,
  table: TableOf<S>,
  rows: ArrayLike<number>,
): TableOf<S> {
  return tableFrom(schema, rows.length, (name, spec) => {
    const from = columnOf(table, name);
    if (from === undefined) return undefined;
    const to = new ARRAYS[spec.type](rows.length);
    for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
    return to;
  });
}

/** Values copied between calls of `pause`: less than a millisecond. */
const PIECE = 2 ** 16;

/** @param pause awaited after each piece, so that a long copy lets other work run */
export async function cloneColumn<T extends Column>(
  column: T,
  pause: () => Promise<void>,
): Promise<T> {
  const copy: T = Reflect.construct(column.constructor, [column.length]);
  for (let from = 0; from < column.length; from += PIECE) {
    copy.set(column.subarray(from, from + PIECE), from);
    await pause();
  }
  return copy;
}

/**
 * The first `length` values of a column. If the schema allows narrowing and all values are whole and below 2^32, this
 * is a copy in half the memory; otherwise it is a view.
 */
export function finished(
  column: Column,
  { mayNarrow }: ColumnSpec,
  length = column.length,
): Column {
  if (!mayNarrow || !fitIn32Bits(column, length)) return column.subarray(0, length);
  const narrow = new Uint32Array(length);
  for (let i = 0; i < length; i++) narrow[i] = column[i];
  return narrow;
}

function fitIn32Bits(column: Column, length: number): boolean {
  for (let i = 0; i < length; i++) if (column[i] >>> 0 !== column[i]) return false;
  return true;
}

/** Rows by a key from 0 to `keys` - 1: those of key k are rows[first[k]] to before rows[first[k + 1]], ascending. */
export function rowsByKey(keyOf: ArrayLike<number>, keys: number) {
  const first = new Int32Array(keys + 1);
  for (let row = 0; row < keyOf.length; row++) first[keyOf[row] + 1]++;
  for (let key = 0; key < keys; key++) first[key + 1] += first[key];
  const next = first.slice();
  const rows = new Int32Array(keyOf.length);
  for (let row = 0; row < keyOf.length; row++) rows[next[keyOf[row]]++] = row;
  return { first, rows };
}

/** ArrayBuffer.transfer is newer than our TypeScript lib. */
interface Transferable {
  readonly transfer?: (bytes: number) => ArrayBuffer;
}

/** Frees an unused column at once instead of at the next garbage collection. */
export function release({ buffer }: ArrayBufferView): void {
  const own = buffer as ArrayBuffer & Transferable;
  if (own.transfer !== undefined) {
    own.transfer(0);
    return;
  }
  // Node 20 lacks transfer(): send the buffer to a closed port instead.
  const { port1 } = new MessageChannel();
  port1.close();
  port1.postMessage(undefined, [own]);
}

/** The columns that refer to rows of `ref`, cut to the table's length. */
export function refColumns<S extends TableSchema>(
  schema: S,
  table: TableOf<S>,
  ref: string,
): Column[] {
  const columns = Object.keys(schema).filter((name) => schema[name]?.ref === ref);
  return columns.flatMap((name) => columnOf(table, name)?.subarray(0, table.length) ?? []);
}

/** The new row of an old one. Never called with -1, which stays -1. */
export type RowMap = (row: number) => number;

/** Renumbers references to other tables: `{ string: … }` changes the columns with that `ref`. */
export function mapRefs<S extends TableSchema, T extends TableOf<S>>(
  schema: S,
  table: T,
  maps: Readonly<Record<string, RowMap>>,
): T {
  const mapped = tableFrom(schema, table.length, (name, { ref = '' }) => {
    const rowOf = maps[ref];
    const column = columnOf(table, name);
    if (rowOf === undefined || column === undefined) return column;
    const own = column.subarray(0, table.length);
    return own.map((row) => (row < 0 ? row : rowOf(row)));
  });
  return { ...table, ...mapped };
}

/**
 * Builds a table from untrusted columns. Returns undefined if a column is missing, has the wrong type or length, refers
 * to a missing row, or holds a value that its schema forbids.
 * @param counts rows of each table that a `ref` names
 */
export function validate<S extends TableSchema>(
  schema: S,
  columnOf: (name: string) => Column | undefined,
  counts: Readonly<Record<string, number>>,
): TableOf<S> | undefined {
  const specs = Object.entries(schema);
  const [first] = specs.filter(([, spec]) => !spec.optional && !spec.isEdges);
  const length = first === undefined ? 0 : columnOf(first[0])?.length;
  if (length === undefined) return undefined;
  for (const [name, spec] of specs) {
    const column = columnOf(name);
    if (column === undefined ? !spec.optional : !isValid(column, spec, length, counts))
      return undefined;
  }
  return tableFrom(schema, length, (name, spec) => {
    const column = columnOf(name);
    return column && finished(column, spec);
  });
}

function isValid(
  column: Column,
  spec: ColumnSpec,
  length: number,
  counts: Readonly<Record<string, number>>,
): boolean {
  if (!(column instanceof ARRAYS[spec.type])) return false;
  if (column.length !== lengthOf(spec, length)) return false;
  if (spec.isCount)
    return column.every((value: number) => value >= 0 && Number.isSafeInteger(value));
  const rows = spec.ref === undefined ? spec.below : (counts[spec.ref] ?? 0);
  if (rows === undefined) return column.every((value: number) => Math.abs(value) !== Infinity);
  if (spec.isEdges && column.some((edge: number, i: number) => i > 0 && edge < column[i - 1])) {
    return false;
  }
  const least = spec.orNone ? -1 : 0;
  const below = spec.isEdges ? rows + 1 : rows;
  return column.every((value: number) => value >= least && value < below);
}

const lengthOf = (spec: ColumnSpec, rows: number) => (spec.isEdges ? rows + 1 : rows);

const columnOf = (table: object, name: string): Column | undefined =>
  (table as Readonly<Record<string, Column | undefined>>)[name];

function present(table: object, name: string): Column {
  const column = columnOf(table, name);
  if (column === undefined) throw new Error(`The table has no column '${name}'.`);
  return column;
}
