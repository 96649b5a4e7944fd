/**
 * The key `holders` of a snapshot: what vramscope.record found out about who holds each storage. See docs/python.md.
 */
import { createTable, slice } from '../../base/table.ts';
import type { DictEntry } from '../pickle/retained-values.ts';
import { type ListRun, Tag } from '../pickle/types.ts';
import type { SnapshotSchema } from './schema.ts';
import {
  HOLDER_COLUMNS,
  HOLDER_KINDS,
  type HolderKind,
  type HolderOwner,
  type HolderTable,
} from './tables.ts';

/** The newest format version that this code reads. */
const VERSION = 1;
const KINDS: readonly string[] = HOLDER_KINDS;
const OTHER = HOLDER_KINDS.indexOf('tensor' satisfies HolderKind);

type Entries = ReadonlyMap<string, DictEntry>;

/** Undefined if the file has none, or has them in a newer format. */
export function readHolders(
  schema: SnapshotSchema,
  entry: DictEntry | undefined,
): HolderTable | undefined {
  const top = entriesOf(schema, entry);
  const version = plainValue(schema, top?.get('version'));
  const columns = entriesOf(schema, top?.get('storages'));
  if (top === undefined || columns === undefined || version !== VERSION) {
    if (entry !== undefined) schema.fields.bad('holders', 0);
    return undefined;
  }
  const owners = (itemsOf(schema, top.get('owners')) ?? []).map(({ tag, first }) =>
    ownerIn(schema.machine.kept.toValue(tag, first)),
  );
  const left = plainValue(schema, top.get('left'));
  const graphs = plainValue(schema, top.get('graphs'));
  return {
    ...storagesIn(schema, columns, owners.length),
    owners,
    left: typeof left === 'number' && left > 0 ? left : 0,
    graphs: typeof graphs === 'string' ? graphs : '',
  };
}

/** Rows with only readable cells; the others are counted. */
function storagesIn({ fields, machine }: SnapshotSchema, columns: Entries, owners: number) {
  const of = (key: string) => itemsOf({ machine }, columns.get(key)) ?? [];
  const [address, bytes, name, kind, owner] = ['address', 'bytes', 'name', 'kind', 'owner'].map(of);
  const table = createTable(HOLDER_COLUMNS, address.length);
  let rows = 0;
  for (const [i, { tag, first }] of address.entries()) {
    const owned = owner[i];
    const isWhole =
      name[i]?.tag === Tag.String &&
      owned?.tag === Tag.Int &&
      owned.first >= 0 &&
      owned.first < owners;
    if (!isWhole || (tag !== Tag.Int && tag !== Tag.BigInt)) {
      fields.bad('holders', 0);
      continue;
    }
    table.address[rows] = fields.address(tag, first);
    table.bytes[rows] =
      bytes[i] === undefined ? 0 : fields.number(bytes[i].tag, bytes[i].first, 'holders');
    table.name[rows] = name[i].first;
    table.kind[rows] = kindOf(machine.kept.toValue(kind[i]?.tag ?? Tag.None, kind[i]?.first ?? 0));
    table.owner[rows] = owned.first;
    rows++;
  }
  return slice(HOLDER_COLUMNS, table, 0, rows);
}

/** Treats kinds from newer versions as tensors, which all of them are. */
function kindOf(word: unknown): number {
  const kind = KINDS.indexOf(String(word));
  return kind < 0 ? OTHER : kind;
}

function ownerIn(value: unknown): HolderOwner {
  const fields = value instanceof Map ? value : new Map<string, unknown>();
  const text = (key: string) => {
    const found: unknown = fields.get(key);
    return typeof found === 'string' && found !== '' ? { [key]: found } : {};
  };
  const count = (key: string) => {
    const found: unknown = fields.get(key);
    return Number.isSafeInteger(found) && Number(found) >= 0 ? { [key]: Number(found) } : {};
  };
  return {
    name: '?',
    type: '?',
    ...text('name'),
    ...text('type'),
    ...text('via'),
    ...text('through'),
    ...text('file'),
    ...count('length'),
    ...count('line'),
  };
}

function entriesOf(
  { machine: { kept } }: Pick<SnapshotSchema, 'machine'>,
  entry: DictEntry | undefined,
): Entries | undefined {
  if (entry?.tag !== Tag.Dict) return undefined;
  return new Map(kept.dictEntries(entry.val).map((each) => [each.key, each]));
}

function itemsOf(
  { machine: { kept } }: Pick<SnapshotSchema, 'machine'>,
  entry: DictEntry | undefined,
): readonly ListRun[] | undefined {
  return entry && kept.items(entry.tag, entry.val);
}

function plainValue({ machine: { kept } }: SnapshotSchema, entry: DictEntry | undefined): unknown {
  return entry && kept.toValue(entry.tag, entry.val);
}
