/**
 * The key `holders` of a snapshot: what vramscope.record found out about who holds each storage. See docs/python.md.
 */
import { fromRows, type RowOf } from '../../base/table.ts';
import type { DictEntry } from '../pickle/retained-values.ts';
import { addedEntries, entriesOf } from './added-value.ts';
import type { SnapshotSchema } from './schema.ts';
import { HOLDER_COLUMNS, HOLDER_KINDS, type HolderOwner, type HolderTable } from './tables.ts';

const FORMAT = { version: 1, maxValues: 2 ** 21 };
const KINDS: readonly string[] = HOLDER_KINDS;

/** Undefined if the file has none, or has them in a newer format. Rows with unreadable cells are counted. */
export function readHolders(
  schema: SnapshotSchema,
  entry: DictEntry | undefined,
): HolderTable | undefined {
  if (entry === undefined) return undefined;
  const { fields, machine } = schema;
  const top = addedEntries(schema, entry, FORMAT);
  const storages = top.get('storages');
  if (!(storages instanceof Map)) {
    fields.bad('holders', 0);
    return undefined;
  }
  const owners = listOf(top.get('owners')).map(ownerIn);
  const columns = entriesOf(storages);
  const [bytes, name, kind, owner] = ['bytes', 'name', 'kind', 'owner'].map((key) =>
    listOf(columns.get(key)),
  );
  const rows: RowOf<typeof HOLDER_COLUMNS>[] = [];
  for (const [i, address] of listOf(columns.get('address')).entries()) {
    const [text, own, size = 0] = [name[i], owner[i], bytes[i]];
    const isAddress = typeof address === 'bigint' || isInteger(address);
    if (!isAddress || typeof text !== 'string' || !isCount(own) || own >= owners.length) {
      fields.bad('holders', 0);
      continue;
    }
    rows.push({
      address: fields.addresses.fromBigInt(BigInt(address)),
      bytes: isCount(size) ? size : fields.bad('holders', 0),
      name: machine.strings.internText(text),
      // Treats kinds from newer versions as tensors, which all of them are.
      kind: Math.max(KINDS.indexOf(String(kind[i])), 0),
      owner: own,
    });
  }
  const [left, graphs] = [top.get('left'), top.get('graphs')];
  return {
    ...fromRows(HOLDER_COLUMNS, rows),
    owners,
    left: isCount(left) ? left : 0,
    graphs: typeof graphs === 'string' ? graphs : '',
  };
}

function ownerIn(value: unknown): HolderOwner {
  const known = [...entriesOf(value)].filter(([key, field]) =>
    COUNTS.includes(key) ? isCount(field) : TEXTS.includes(key) && isText(field),
  );
  return { name: '?', type: '?', ...Object.fromEntries(known) };
}

const TEXTS: readonly string[] = ['name', 'type', 'via', 'through', 'file'];
const COUNTS: readonly string[] = ['length', 'line'];

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
const isCount = (value: unknown): value is number => isInteger(value) && value >= 0;
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
