/**
 * Stores columns of numbers in few bytes. Whole numbers become differences, or indexes into a list when few values
 * repeat often (addresses, sizes). Other numbers stay doubles.
 *
 *   [512, 512, 1024, 512] as differences   512 0 512 -512   zigzag varints: 6 bytes
 *                         as rows          list 512, +512; rows 0 0 +1 -1
 *
 * gzip comes afterwards and finds what repeats from step to step.
 */
import { enlarged } from '../../base/growable.ts';
import { LoadError } from '../../base/load-error.ts';
import { ARRAYS, type Column, type ColumnType, type NarrowColumn } from '../../base/table.ts';

const Form = { Differences: 0, Rows: 1, Doubles: 2 } as const;

/** A list is worth it when each of its values occurs at least this often. */
const REPEATS = 3;
/** Differences of whole numbers up to this limit stay exact, even doubled by zigzag. */
const LARGEST_WHOLE = 2 ** 51;

export function encodeColumn(column: Column): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter();
  if (!isWhole(column)) {
    out.varint(Form.Doubles);
    out.bytes(new Uint8Array(Float64Array.from(column).buffer));
    return out.finish();
  }
  const list = valueList(column);
  if (list === undefined) {
    out.varint(Form.Differences);
    writeDifferences(out, column);
    return out.finish();
  }
  const rowOf = new Map([...list].map((value, row) => [value, row]));
  out.varint(Form.Rows);
  out.varint(list.length);
  writeDifferences(out, list);
  writeDifferences(
    out,
    Int32Array.from(column, (value) => rowOf.get(value) ?? 0),
  );
  return out.finish();
}

/**
 * @param length rows, from the header
 * @throws LoadError 'compact-damaged'
 */
export function decodeColumn(bytes: Uint8Array, type: ColumnType, length: number): Column {
  // Each row takes at least one byte, so reject a header that promises more.
  if (length > bytes.length) throw damagedAt(bytes.length);
  const from = new ByteReader(bytes);
  const out = new ARRAYS[type](length);
  const form = from.varint();
  if (form === Form.Differences) {
    readDifferences(from, out);
  } else if (form === Form.Rows) {
    const count = from.varint();
    if (count > bytes.length) throw damagedAt(from.offset);
    const list = new Float64Array(count);
    readDifferences(from, list);
    const rows = new Float64Array(length);
    readDifferences(from, rows);
    for (let i = 0; i < length; i++) {
      if (!(rows[i] >= 0 && rows[i] < count)) throw damagedAt(from.offset);
      out[i] = list[rows[i]];
    }
  } else if (form === Form.Doubles) {
    out.set(new Float64Array(from.bytes(length * 8).slice().buffer));
  } else {
    throw damagedAt(0);
  }
  return out;
}

export function columnType(column: Column): ColumnType {
  if (isWide(column)) return 'f64';
  if (column instanceof Int32Array) return 'i32';
  return column instanceof Uint16Array ? 'u16' : 'u8';
}

/** Columns whose numbers may be larger than row indexes and codes, whatever their width in memory. */
const isWide = (column: Column): column is NarrowColumn =>
  column instanceof Float64Array || column instanceof Uint32Array;

function isWhole(column: Column): boolean {
  if (!(column instanceof Float64Array)) return true;
  return column.every((value) => Number.isInteger(value) && Math.abs(value) <= LARGEST_WHOLE);
}

/** The different values, sorted; undefined if there are too many for a list. */
function valueList(column: Column): Float64Array | undefined {
  if (!isWide(column)) return undefined;
  const most = column.length / REPEATS;
  const values = new Set<number>();
  for (const value of column) {
    values.add(value);
    if (values.size > most) return undefined;
  }
  return Float64Array.from(values).sort();
}

/** Zigzag: 0, -1, 1, -2 become 0, 1, 2, 3, so that small differences of either sign are short. */
function writeDifferences(out: ByteWriter, values: Column): void {
  let before = 0;
  for (const value of values) {
    const difference = value - before;
    out.varint(difference < 0 ? -2 * difference - 1 : 2 * difference);
    before = value;
  }
}

function readDifferences(from: ByteReader, out: Column): void {
  let value = 0;
  for (let i = 0; i < out.length; i++) {
    const zigzag = from.varint();
    value += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    out[i] = value;
  }
}

export class ByteWriter {
  #bytes = new Uint8Array(1 << 10);
  length = 0;

  /** LEB128: seven bits per byte, lowest first, the top bit set on all but the last. 300 is ac 02. Up to 2^53. */
  varint(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#bytes = enlarged(this.#bytes);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  bytes(bytes: Uint8Array): void {
    while (this.length + bytes.length > this.#bytes.length) {
      this.#bytes = enlarged(this.#bytes);
    }
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }
}

/** Reads what a ByteWriter wrote. Throws LoadError 'compact-damaged' if the bytes end early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  offset: number;

  constructor(bytes: Uint8Array, from = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#end = end;
    this.offset = from;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      // Eight bytes hold 56 bits: enough for 2^53, our largest number.
      if (this.offset >= this.#end || scale > 2 ** 49) throw damagedAt(this.offset);
      const byte = this.#bytes[this.offset++];
      if (byte < 0x80) return value + byte * scale;
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    }
  }

  bytes(count: number): Uint8Array {
    if (count > this.#end - this.offset) throw damagedAt(this.#end);
    this.offset += count;
    return this.#bytes.subarray(this.offset - count, this.offset);
  }
}

/** `byte` counts from the start of the unpacked compact snapshot. */
export function damagedAt(byte: number): LoadError {
  return new LoadError({
    code: 'compact-damaged',
    message: 'This compact snapshot is damaged or truncated.',
    advice: 'Export it again, or open the snapshot that it was made from.',
    byte,
  });
}
