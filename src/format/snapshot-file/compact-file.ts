/**
 * The frame of a compact snapshot: magic, version, a header in JSON, columns. Independent of PyTorch.
 *
 *   "vramscope" 00   version   header length   header, JSON in UTF-8   columns, one after the other
 *   10 bytes         varint    varint
 */
import { LoadError } from '../../base/load-error.ts';
import { ARRAYS, type Column, type ColumnType } from '../../base/table.ts';
import { COMPACT_MAGIC } from '../input/sniff.ts';
import {
  ByteReader,
  ByteWriter,
  columnType,
  damagedAt,
  decodeColumn,
  encodeColumn,
} from './column-codec.ts';
import { type Checked, check, fields, isCount, isString, listOf } from './compact-rest.ts';

/** Increase when older code cannot read the file. */
const VERSION = 1;

const isHead = fields({
  columns: listOf(
    fields({
      name: isString,
      type: check<ColumnType>((value) => Object.hasOwn(ARRAYS, String(value))),
      length: isCount,
      bytes: isCount,
    }),
  ),
  rest: check<unknown>(() => true),
});
type Head = Checked<typeof isHead>;

export interface CompactFile {
  readonly columns: ReadonlyMap<string, Column>;
  /** Anything that the writer passed besides the columns, as JSON. */
  readonly rest: unknown;
}

export function writeCompactFile({ columns, rest }: CompactFile): Uint8Array<ArrayBuffer> {
  const encoded = [...columns].map(([name, column]) => {
    const bytes = encodeColumn(column);
    const head = { name, type: columnType(column), length: column.length, bytes: bytes.length };
    return { head, bytes };
  });
  const head: Head = { columns: encoded.map((column) => column.head), rest };
  const json = new TextEncoder().encode(JSON.stringify(head));
  const out = new ByteWriter();
  out.bytes(Uint8Array.from(COMPACT_MAGIC));
  out.varint(VERSION);
  out.varint(json.length);
  out.bytes(json);
  for (const { bytes } of encoded) out.bytes(bytes);
  return out.finish();
}

/** @throws LoadError 'compact-newer' or 'compact-damaged' */
export function readCompactFile(bytes: Uint8Array): CompactFile {
  const from = new ByteReader(bytes, COMPACT_MAGIC.length);
  const version = from.varint();
  if (version > VERSION) throw newerVersion(version);
  const head = parseHead(from.bytes(from.varint()), from.offset);
  const columns = new Map<string, Column>();
  for (const { name, type, length, bytes: count } of head.columns) {
    columns.set(name, decodeColumn(from.bytes(count), type, length));
  }
  return { columns, rest: head.rest };
}

function parseHead(json: Uint8Array, at: number): Head {
  let head: unknown;
  try {
    head = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch {
    throw damagedAt(at);
  }
  if (!isHead(head)) throw damagedAt(at);
  return head;
}

function newerVersion(version: number): LoadError {
  return new LoadError({
    code: 'compact-newer',
    message: `A newer version of vramscope made this file (format ${version}); this version cannot read it.`,
    advice: 'Open it with the newer version; a report opens by itself in any browser.',
  });
}
