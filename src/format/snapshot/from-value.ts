import { walkValue } from '../pickle/walk-value.ts';
import { assembleSnapshot } from './assemble.ts';
import { SnapshotSchema } from './schema.ts';
import type { HolderTable, Snapshot } from './tables.ts';

/**
 * The tables from the result of JSON.parse or pickleparser; dictionaries may be Maps or plain objects. @throws
 * LoadError 'not-a-snapshot'
 */
export function snapshotFromValue(value: unknown): Snapshot {
  const schema = new SnapshotSchema();
  walkValue(schema.machine, value);
  schema.machine.finish();
  return assembleSnapshot(schema);
}

/**
 * Adds the names in NAME.holders.json, which vramscope.holders writes next to the snapshot. If they cannot be read, the
 * snapshot gets a warning instead.
 * @param value the result of JSON.parse
 */
export function withHolders(snapshot: Snapshot, value: unknown): Snapshot {
  const { holders, strings, addresses } = snapshotFromValue({ segments: [], holders: value });
  if (holders === undefined) {
    const message = 'The .holders.json file beside the snapshot cannot be read.';
    return { ...snapshot, warnings: [...snapshot.warnings, { code: 'bad-value', message }] };
  }
  const own = snapshot.strings;
  const renumbered: HolderTable = {
    ...holders,
    address: holders.address.map((key) => snapshot.addresses.fromBigInt(addresses.toBigInt(key))),
    name: holders.name.map((row) => own.length + row),
  };
  const length = own.length + strings.length;
  const get = (row: number) => (row < own.length ? own.get(row) : strings.get(row - own.length));
  return { ...snapshot, strings: { length, get }, holders: renumbered };
}
